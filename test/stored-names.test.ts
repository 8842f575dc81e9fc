import { readFile } from 'node:fs/promises'
import test from 'ava'
import { consumerName } from '../core/kernel/event-dispatcher.ts'
import { loadPlugins } from '../core/kernel/plugins.ts'
import { ownPluginIds } from '../core/own-plugins.ts'

interface StoredNames {
  /** Names by which the outbox stores the pending events of each consumer. */
  readonly consumers: readonly string[]
  /** Names by which the leases of periodic tasks are stored. */
  readonly periodicTasks: readonly string[]
  readonly collections: readonly string[]
}

const kept = JSON.parse(await readFile(new URL('./stored-names.json', import.meta.url), 'utf8')) as StoredNames
const plugins = await loadPlugins(ownPluginIds().map(plugin => ({ plugin })))
const stored: StoredNames = {
  consumers: plugins.flatMap(({ name, plugin }) =>
    (plugin.handlers ?? []).map(subscription => consumerName({ plugin: name, subscription })),
  ),
  periodicTasks: plugins.flatMap(({ name, plugin }) => (plugin.periodic ?? []).map(task => `${name}/${task.name}`)),
  collections: plugins.flatMap(({ plugin }) => (plugin.collections ?? []).map(collection => collection.name)),
}
const former = plugins.flatMap(({ name, plugin }) => (plugin.formerHandlers ?? []).map(handler => `${name}/${handler}`))

for (const what of ['consumers', 'periodicTasks', 'collections'] as const) {
  test(`stored ${what} keep their names`, t => {
    const isGone = (name: string): boolean => !stored[what].includes(name) && !(what === 'consumers' && former.includes(name))
    t.deepEqual(kept[what].filter(isGone), [], 'stored names must not change')
  })
  test(`new ${what} are listed in stored-names.json`, t => {
    t.deepEqual(
      stored[what].filter(name => !kept[what].includes(name)),
      [],
    )
  })
}
