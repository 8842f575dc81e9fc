import test from 'ava'
import { collection, definePlugin, defineResource, type EventType, type Kind, on, type PluginDefinition } from 'pounce/sdk'
import { memoryStore } from '../../test/support/memory-documents.ts'
import { makeKernel } from './fixtures/boot.ts'
import { buildPluginGraph } from './plugin-graph.ts'

class Recorder {
  async handle(): Promise<void> {
    return
  }
}

const plugin = (id: string, parts: Partial<PluginDefinition>) => definePlugin({ id, summary: 's', ...parts })
const plan = (...plugins: ReturnType<typeof plugin>[]) =>
  buildPluginGraph(
    plugins.map(one => ({ name: one.id, plugin: one })),
    new Set(['documentStore']),
  )
const hearing = (id: string, type: string, parts: Partial<PluginDefinition> = {}) =>
  plugin(id, { ...parts, handlers: [on(type as EventType, Recorder, 'hear')] })
const grant = 'grant.created' as EventType

test('a collection of another plugin is refused when the kernel is created, naming both', async t => {
  const owner = plugin('resources.things', { collections: [collection('things')] })
  const other = plugin('example.thief', { collections: [collection('things', { byName: { on: ['name'] } })] })
  await t.throwsAsync(makeKernel(t, [memoryStore, owner, other]), {
    name: 'StartRefused',
    message: /^resources\.things and example\.thief both declare the collection "things".* "example\.thief\.things"/,
  })
  t.throws(() => plan(plugin('example.thief', { collections: [collection('kernel.meta')] })), {
    message: /^the kernel and example\.thief both declare the collection "kernel\.meta"/,
  })
})

test('a collection name that could conflict with those of stores is refused', t => {
  for (const name of ['_consumers', 'Things', 'system..x', ''])
    t.throws(() => plan(plugin('example.odd', { collections: [collection(name)] })), { message: /^example\.odd declares the collection/ })
})

test('copies of one plugin share its collections; different plugins of one id are refused', t => {
  const one = plugin('example.one', { collections: [collection('things')] })
  const copies = [
    { name: 'example.one', plugin: one },
    { name: 'example.copy', plugin: one },
  ]
  t.notThrows(() => buildPluginGraph(copies, new Set(['documentStore'])))
  const other = { name: 'example.other', plugin: plugin('example.one', {}) }
  t.throws(() => buildPluginGraph([...copies, other], new Set(['documentStore'])), {
    message: /^example\.one and example\.other are different plugins that both have the id example\.one/,
  })
})

test('a permission of Pounce or of another plugin is refused, and so is an invalid name', t => {
  const withPermission = (id: string, name: string) =>
    plugin(id, { permissions: { [name]: { description: 'x', verb: 'write', roles: [] } } as object })
  t.throws(() => plan(withPermission('example.one', 'EditFile')), {
    message: /^pounce\/sdk and example\.one both declare the permission "EditFile"/,
  })
  t.throws(() => plan(withPermission('example.one', 'FlyKite'), withPermission('example.two', 'FlyKite')), {
    message: /^example\.one and example\.two both declare the permission "FlyKite"/,
  })
  t.throws(() => withPermission('example.one', 'fly kite'), { message: /^example\.one declares the permission "fly kite"/ })
})

test('a kind of resource of another plugin is refused', t => {
  const things = collection<{ readonly author: string }>()('example.one.things')
  const kite = defineResource({ kind: 'kite' as Kind, collection: things, view: 'ViewFile', rights: () => undefined })
  t.throws(() => plan(plugin('example.one', { resources: [kite] }), plugin('example.two', { resources: [{ ...kite, collections: [] }] })), {
    message: /^example\.one and example\.two both declare the kind "kite"/,
  })
})

test('an event type of Pounce, or of another plugin, is refused', t => {
  t.throws(() => plan(plugin('example.one', { events: ['file.created'] })), {
    message: /^pounce\/sdk and example\.one both declare the event type "file\.created"/,
  })
  t.throws(() => plan(plugin('example.one', { events: [grant] }), plugin('example.two', { events: [grant] })), {
    message: /^example\.one and example\.two both declare the event type "grant\.created"/,
  })
})

test('a handler of an undeclared event is refused with the nearest one', t => {
  t.throws(() => plan(hearing('example.one', 'file.create')), {
    message:
      /^example\.one: the handler hear consumes the event type "file\.create", which no plugin declares \(did you mean file\.created\?\)/,
  })
  t.notThrows(() => plan(hearing('example.one', 'file.created')))
  t.notThrows(() => plan(hearing('example.one', grant), plugin('example.two', { events: [grant] })))
  t.notThrows(() => plan(hearing('example.one', grant, { events: [grant] })))
})

test('two handlers with the same stored name are refused, and so is a name that cannot be stored', t => {
  class Other extends Recorder {}
  const handlers = [on('file.created', Recorder, 'hear'), on('file.updated', Other, 'hear')]
  t.throws(() => plan(plugin('example.one', { handlers })), {
    message: 'example.one has two handlers named example.one/hear: rename one of them',
  })
  t.throws(() => plan(plugin('example.one', { handlers: [on('file.created', Recorder, 'Hear/all')] })), {
    message: 'example.one: invalid handler name "Hear/all": use lower-case letters, digits and hyphens',
  })
})
