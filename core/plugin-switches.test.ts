import { setImmediate as turn } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import {
  AuthProviders,
  BlobOwners,
  type Class,
  collection,
  contributions,
  DocumentStore,
  definePlugin,
  event,
  on,
  type Plugin,
  port,
  provide,
  routesFor,
  s,
  wire,
} from 'pounce/sdk'
import { PluginSwitch } from 'pounce/sdk/kit'
import { MemoryDocuments, memoryStore } from '../test/support/memory-documents.ts'
import { recordingLog } from '../test/support/recording-log.ts'
import { tempFolder } from '../test/support/temp-folder.ts'
import { until } from '../test/support/until.ts'
import { bootKernel, type Kernel } from './boot.ts'
import { loadConfig } from './kernel/config.ts'
import { ObjectIds, systemClock } from './services/services.ts'

const things = collection('things')
const owner = definePlugin({ id: 'test.things', summary: 's', collections: [things] })
const Words = contributions<{ readonly word: string }>('words')
const route = routesFor('echo', {})

/** Records the calls of a plugin, and blocks or fails them. */
class Seen {
  readonly handled: string[] = []
  readonly life: string[] = []
  readonly entered = Promise.withResolvers<void>()
  readonly released = Promise.withResolvers<void>()
  periodicRuns = 0
  fault: string | undefined
}

/** A plugin with one of each kind of contribution. */
const echoing = (seen: Seen): Plugin => {
  let made = 0
  class Word {
    readonly word = 'echo'
    readonly #number = ++made
    start(): void {
      if (seen.fault !== undefined) throw new Error(seen.fault)
      seen.life.push(`start ${this.#number}`)
    }
    dispose(): void {
      seen.life.push(`dispose ${this.#number}`)
    }
  }
  class Recorder {
    async handle({ subject }: { readonly subject: { readonly id: string } }): Promise<void> {
      seen.handled.push(subject.id)
    }
  }
  class Tick {
    async run(): Promise<void> {
      seen.periodicRuns += 1
    }
  }
  const echo = route({
    method: 'GET',
    path: '/api/echo',
    summary: 'Show the echo',
    permission: 'anyone',
    responses: { 200: s.Object({ echo: s.String() }) },
    handle: async () => ({ status: 200, body: { echo: 'echo' } }),
  })
  const slow = route({
    method: 'GET',
    path: '/api/echo/slow',
    summary: 'Show the echo later',
    permission: 'anyone',
    responses: { 200: s.Object({ echo: s.String() }) },
    async handle() {
      seen.entered.resolve()
      await seen.released.promise
      return { status: 200, body: { echo: 'late' } }
    },
  })
  return definePlugin({
    id: 'test.echo',
    summary: 'Echoes.',
    isSwitchable: true,
    provides: [provide(Words, Word)],
    routes: { echo, slow },
    handlers: [on('file.updated', Recorder, 'hear')],
    periodic: [{ name: 'tick', everyMs: 3_600_000, task: Tick }],
  })
}

class Reader {
  readonly words: { all(): readonly { readonly word: string }[] }
  constructor(words: Reader['words']) {
    this.words = words
  }
}
wire(Reader as Class<Reader>, Words as never)
const reader = definePlugin({ id: 'test.reader', summary: 's', services: [Reader as Class] })

const started = async (
  t: ExecutionContext,
  plugins: readonly (Plugin | string)[],
  folder?: string,
  overrides: Readonly<Record<string, unknown>> = {},
): Promise<Kernel> => {
  const settings = { data: folder ?? (await tempFolder(t)), http: { port: 0 }, log: { level: 'silent' } }
  const kernel = await bootKernel(await loadConfig({ defaults: {}, plugins, settings }), { log: recordingLog().log, overrides })
  t.teardown(() => kernel.stop())
  await kernel.start()
  return kernel
}

const get = async (kernel: Kernel, path: string): Promise<readonly [number, unknown]> => {
  const answer = await fetch(`${kernel.address?.url}${path}`)
  return [answer.status, await answer.json()]
}
const set = (kernel: Kernel, id: string, isOn: boolean) => kernel.get(PluginSwitch).set(id, isOn)
const stateOf = async (kernel: Kernel, id: string) => (await kernel.get(PluginSwitch).list()).find(one => one.id === id)
const update = (kernel: Kernel, id: string) =>
  kernel.get(DocumentStore).commit({ insert: { id }, into: things }, [event('file.updated', { kind: 'file', id }, { fields: [] })])
const words = (kernel: Kernel) => kernel.get(Reader as Class<Reader>).words.all().length

test('a plugin that is switched off behaves as if it were absent, and is completely restored', async t => {
  const seen = new Seen()
  const kernel = await started(t, [memoryStore, owner, reader, echoing(seen)])
  const before = await get(kernel, '/openapi.json')
  t.deepEqual(await get(kernel, '/api/echo'), [200, { echo: 'echo' }])
  t.is(words(kernel), 1)

  t.like(await set(kernel, 'test.echo', false), { isEnabled: false, isRunning: false })
  const [[status, body], [, absent]] = [await get(kernel, '/api/echo'), await get(kernel, '/api/nothing')]
  t.is(status, 404)
  t.is((body as { message: string }).message, (absent as { message: string }).message)
  t.false(JSON.stringify(await get(kernel, '/openapi.json')).includes('/api/echo'))
  t.is(words(kernel), 0)
  t.deepEqual(seen.life, ['start 1', 'dispose 1'])
  await t.throwsAsync(kernel.runPeriodic('test.echo/tick'), { message: /No plugin of this kernel has the periodic task test\.echo\/tick/ })

  t.like(await set(kernel, 'test.echo', true), { isEnabled: true, isRunning: true, isHealthy: true })
  t.deepEqual(await get(kernel, '/api/echo'), [200, { echo: 'echo' }])
  t.deepEqual(await get(kernel, '/openapi.json'), before)
  t.is(words(kernel), 1)
  t.deepEqual(seen.life, ['start 1', 'dispose 1', 'start 2'], 'its classes are instantiated again')
  const earlierRuns = seen.periodicRuns
  await kernel.runPeriodic('test.echo/tick')
  t.true(seen.periodicRuns > earlierRuns)
})

test('a running request is completed before the plugin stops, and new ones are refused', async t => {
  const seen = new Seen()
  const kernel = await started(t, [memoryStore, echoing(seen)])
  const slow = get(kernel, '/api/echo/slow')
  await seen.entered.promise
  const off = set(kernel, 'test.echo', false)
  await until('new requests to get 404', async () => (await get(kernel, '/api/echo'))[0] === 404)
  t.deepEqual(seen.life, ['start 1'])
  seen.released.resolve()
  t.deepEqual(await slow, [200, { echo: 'late' }])
  await off
  t.deepEqual(seen.life, ['start 1', 'dispose 1'])
})

test('events are kept for the consumers of a plugin that is switched off', async t => {
  const seen = new Seen()
  const kernel = await started(t, [memoryStore, owner, echoing(seen)])
  await update(kernel, 'a')
  await kernel.drained()
  await set(kernel, 'test.echo', false)
  await update(kernel, 'b')
  await update(kernel, 'c')
  await kernel.drained()
  await turn()
  t.deepEqual(seen.handled, ['a'])
  t.is((await stateOf(kernel, 'test.echo'))?.waitingEvents, 2)
  const [kept] = await kernel.absentConsumers()
  t.like(kept, { consumer: 'test.echo/hear', waiting: 2, kept: '2 events wait' })
  t.regex(kept?.remedy ?? '', /pounce plugin on test\.echo/)
  await set(kernel, 'test.echo', true)
  await kernel.drained()
  t.deepEqual(seen.handled.toSorted(), ['a', 'b', 'c'])
  t.deepEqual(await kernel.absentConsumers(), [])
})

test('choices persist after a restart, and events in between are kept', async t => {
  const folder = await tempFolder(t)
  const [first, second, third] = [new Seen(), new Seen(), new Seen()]
  const plugins = (seen: Seen) => ['documents.sqlite', owner, echoing(seen)]
  const one = await started(t, plugins(first), folder)
  await set(one, 'test.echo', false)
  await update(one, 'a')
  await one.stop()
  const two = await started(t, plugins(second), folder)
  t.is((await get(two, '/api/echo'))[0], 404)
  t.deepEqual(second.life, [])
  await update(two, 'b')
  await two.drained()
  await set(two, 'test.echo', true)
  await two.drained()
  t.deepEqual([...first.handled, ...second.handled].toSorted(), ['a', 'b'])
  await two.stop()
  t.is((await get(await started(t, plugins(third), folder), '/api/echo'))[0], 200)
})

test('a switch applies to all kernels on the same store', async t => {
  const overrides = { [DocumentStore]: new MemoryDocuments(systemClock, new ObjectIds(systemClock)) }
  const onStore = async () => started(t, [echoing(new Seen())], await tempFolder(t), overrides)
  const [one, two] = [await onStore(), await onStore()]
  await set(one, 'test.echo', false)
  await until('the other kernel to switch the plugin off', async () => (await get(two, '/api/echo'))[0] === 404)
  await set(two, 'test.echo', true)
  await until('the first kernel to switch the plugin on', async () => (await get(one, '/api/echo'))[0] === 200)
  t.like(await stateOf(one, 'test.echo'), { isEnabled: true, isRunning: true })
})

test('a plugin that fails to start stays off, with its reason, and can be retried', async t => {
  const seen = new Seen()
  const kernel = await started(t, [memoryStore, echoing(seen)])
  await set(kernel, 'test.echo', false)
  seen.fault = 'no licence'
  await t.throwsAsync(set(kernel, 'test.echo', true), { message: 'test.echo did not start: no licence. It remains off', code: 'conflict' })
  t.like(await stateOf(kernel, 'test.echo'), { isEnabled: false, isRunning: false })
  t.is((await get(kernel, '/api/echo'))[0], 404)
  seen.fault = undefined
  await set(kernel, 'test.echo', true)
  t.is((await get(kernel, '/api/echo'))[0], 200)
})

test('a plugin that is not switchable is switched at the next start, and one that others may need cannot be switched', async t => {
  const folder = await tempFolder(t)
  const calls: string[] = []
  const stamping = definePlugin({
    id: 'test.stamp',
    summary: 's',
    middleware: [
      {
        phase: 'beforeRouting',
        use: (_context, next) => {
          calls.push('stamp')
          return next()
        },
      },
    ],
  })
  const plugins = ['documents.sqlite', stamping]
  const one = await started(t, plugins, folder)
  t.like(await set(one, 'test.stamp', false), { isSwitchable: false, isEnabled: false, isRunning: true })
  await get(one, '/openapi.json')
  t.deepEqual(calls, ['stamp'])
  await one.stop()
  const two = await started(t, plugins, folder)
  await get(two, '/openapi.json')
  t.deepEqual(calls, ['stamp'])
  t.like(await stateOf(two, 'test.stamp'), { isEnabled: false, isRunning: false })
  await t.throwsAsync(set(two, 'documents.sqlite', false), {
    code: 'conflict',
    message:
      'documents.sqlite cannot be switched because it provides documentStore, which other plugins may need: change "plugins" in the configuration and restart the server',
  })
  t.like(await stateOf(two, 'documents.sqlite'), { isEnabled: true, refusal: 'It provides documentStore, which other plugins may need' })
})

test('a plugin that is not configured cannot be switched on', async t => {
  const kernel = await started(t, [memoryStore])
  await t.throwsAsync(set(kernel, 'resources.proxy', true), {
    code: 'conflict',
    message: 'resources.proxy is not in the configuration: add it to "plugins" and restart the server',
  })
  await t.throwsAsync(set(kernel, 'test.nothing', true), { code: 'not-found' })
})

test('a plugin that is declared as switchable but cannot be fails the start with a reason', async t => {
  const Odd = port<object>('odd')
  class One {}
  const refusal = async (parts: Partial<Plugin>): Promise<string> => {
    const plugin = definePlugin({ id: 'test.odd', summary: 's', isSwitchable: true, ...parts })
    const config = await loadConfig({ defaults: {}, plugins: [plugin], settings: { data: await tempFolder(t) } })
    return (await t.throwsAsync(bootKernel(config, { log: recordingLog().log })))?.message ?? ''
  }
  const rest = ': remove "isSwitchable" from its definition, or the cause'
  t.is(
    await refusal({ provides: [provide(Odd, One)] }),
    `test.odd is declared as switchable but provides odd, which other plugins may need${rest}`,
  )
  t.is(
    await refusal({ middleware: [{ phase: 'beforeRouting', use: () => undefined }] }),
    `test.odd is declared as switchable but adds middleware${rest}`,
  )
  class Provider {}
  t.is(
    await refusal({ provides: [provide(AuthProviders, Provider as never)] }),
    `test.odd is declared as switchable but contributes to authProviders, which protects the server${rest}`,
  )
  t.regex(
    await refusal({ provides: [provide(BlobOwners, Provider as never)] }),
    /contributes to blobOwners, which answers for records that stay/,
  )
  t.regex(await refusal({ environment: { ODD: {} } }), /defines environment variables/)
  t.regex(await refusal({ crossOriginHeaders: { request: ['Odd'], response: [] } }), /adds headers for pages of other origins/)
})
