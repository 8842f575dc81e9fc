import { fileURLToPath } from 'node:url'
import test from 'ava'
import {
  AuthProviders,
  BlobStore,
  type Collection,
  Commands,
  collection,
  configPort,
  definePlugin,
  defineResource,
  Extractors,
  type MiddlewareClass,
  type MiddlewareContext,
  on,
  onBatch,
  type Plugin,
  type Port,
  provide,
  routesFor,
  s,
  Transports,
  wire,
} from 'pounce/sdk'
import { silent } from 'pounce/sdk/testing'
import { memoryStore } from '../test/support/memory-documents.ts'
import { recordingLog } from '../test/support/recording-log.ts'
import { pluginMiddleware } from './boot.ts'
import { Container } from './kernel/container.ts'
import { makeKernel } from './kernel/fixtures/boot.ts'
import { buildPluginGraph } from './kernel/plugin-graph.ts'

const config = s.Object({ name: s.String() })

class Stamp implements MiddlewareClass {
  readonly #name: string

  constructor({ name }: s.Static<typeof config>) {
    this.#name = name
  }

  handle(context: MiddlewareContext, next: () => Promise<unknown>): unknown {
    context.set('x-stamp', this.#name)
    return next()
  }
}
wire(Stamp, configPort(config))

const plain = () => 'plain'

test('plugin middleware runs in plugin order, and a middleware class gets its wired dependencies', async t => {
  const stamping = definePlugin({
    id: 'test.stamp',
    summary: 's',
    config,
    middleware: [
      { phase: 'beforeHandler', by: Stamp },
      { phase: 'beforeRouting', use: plain },
    ],
  })
  const plugins = [
    { name: 'test.stamp', plugin: stamping },
    { name: 'test.copy', plugin: stamping },
  ]
  const container = new Container(new Map(), ['test.stamp', 'test.copy'])
  const built = buildPluginGraph(plugins, new Set()).order.map(one =>
    container.build(one, { config: { name: one.name }, log: silent }, new Set()),
  )
  const middleware = pluginMiddleware(built)
  t.deepEqual(
    middleware.map(({ phase }) => phase),
    ['beforeHandler', 'beforeRouting', 'beforeHandler', 'beforeRouting'],
  )
  t.is(middleware[1]?.use, plain)
  const stamps: string[] = []
  const context = { set: (_name: string, value: string) => stamps.push(value) }
  for (const { use } of middleware) if (use !== plain) await use(context as never, (async () => undefined) as never)
  t.deepEqual(stamps, ['test.stamp', 'test.copy'])
})

class Nameless {}

class Words {
  readonly info = { name: 'acme.words' }
}

const extracting = (id: string, by: new () => object) => definePlugin({ id, summary: 's', provides: [provide(Extractors, by as never)] })

test('an extractor without a name is refused with its plugin, and a duplicate name gives a warning with both plugins', async t => {
  await t.throwsAsync(makeKernel(t, [extracting('acme.nameless', Nameless)]), {
    name: 'StartRefused',
    message: 'acme.nameless: Nameless contributes to extractors and has no info.name: give it a unique, non-empty string',
  })
  const { log, lines } = recordingLog()
  await makeKernel(t, [extracting('acme.one', Words), extracting('acme.other', class extends Words {})], { log })
  t.deepEqual(
    lines.map(({ level, message }) => ({ level, message })),
    [{ level: 'warn', message: 'acme.one and acme.other both contribute "acme.words" to extractors: the one of acme.one is used' }],
  )
})

test('a command without a name or a method is refused with its plugin', async t => {
  const commands = (by: new () => object) => definePlugin({ id: 'acme.some', summary: 's', provides: [provide(Commands, by as never)] })
  await t.throwsAsync(makeKernel(t, [commands(Nameless)]), {
    message: 'acme.some: Nameless contributes to commands and has no name: give it a unique, non-empty string',
  })
  class Idle {
    readonly name = 'idle'
  }
  await t.throwsAsync(makeKernel(t, [commands(Idle)]), { message: 'acme.some: Idle has no method run' })
})

test('an incomplete provider of a port is refused with its plugin', async t => {
  const providing = (port: Port<unknown>, by: new () => object) =>
    definePlugin({ id: 'acme.some', summary: 's', provides: [provide(port, by as never)] })
  class Partial {
    readonly kind = 'some'
    put = () => undefined
    runs = () => new Set()
  }
  await t.throwsAsync(makeKernel(t, [providing(BlobStore, Partial)]), { message: 'acme.some: Partial has no method get' })
  await t.throwsAsync(makeKernel(t, [providing(Transports, Partial)]), { message: 'acme.some: Partial has no method publish' })
  for (const [port, many, member] of [
    [AuthProviders, 'authProviders', 'id'],
    [Transports, 'transports', 'kind'],
  ] as const)
    await t.throwsAsync(makeKernel(t, [providing(port, Nameless)]), {
      message: `acme.some: Nameless contributes to ${many} and has no ${member}: give it a unique, non-empty string`,
    })
})

test('sign-in providers of two plugins cannot have one id', async t => {
  class Accounts {
    readonly id = 'some'
  }
  const one = (id: string) => definePlugin({ id, summary: 's', provides: [provide(AuthProviders, Accounts)] })
  await t.throwsAsync(makeKernel(t, [one('acme.one'), one('acme.two')]), {
    message: /^acme\.one and acme\.two both have a sign-in provider with the id "some".*change the id in acme\.two$/,
  })
})

test('two collections of one plugin with one name are refused', async t => {
  const notes = collection<{ readonly name: string }>()('acme.notes', { byName: { on: ['name'] } })
  const keeping = (...collections: readonly Collection<object>[]) => definePlugin({ id: 'acme.some', summary: 's', collections })
  await t.throwsAsync(makeKernel(t, [memoryStore, keeping(notes as Collection<object>, collection('acme.notes'))]), {
    message: 'acme.some has two collections named acme.notes: rename one of them',
  })
  await t.notThrowsAsync(makeKernel(t, [memoryStore, keeping(notes as Collection<object>, notes as Collection<object>)]))
})

test('a route that routesFor did not return, or whose schema is invalid, is refused', async t => {
  const declaration = {
    method: 'GET',
    path: '/api/some',
    summary: 's',
    permission: 'anyone',
    responses: { 200: s.String() },
    handle: async () => ({ status: 200, body: '' }) as const,
  } as const
  const serving = (routes: object) => definePlugin({ id: 'acme.some', summary: 's', routes: { ...routes } })
  await t.throwsAsync(makeKernel(t, [serving({ getSome: declaration })]), {
    message: "acme.some: getSome is not a route: pass it to the function that routesFor('…', { … }) returns",
  })
  const getSome = routesFor('some', {})({ ...declaration, query: s.Object({ a: s.String({ pattern: '(' }) }) })
  await t.throwsAsync(makeKernel(t, [serving({ getSome })]), {
    message: /^acme\.some: the schema "query" of the route getSome is invalid: .*regular expression/,
  })
})

test('a plugin without its folder of migrations is refused', async t => {
  const migrations = new URL('./fixtures/absent/', import.meta.url)
  await t.throwsAsync(makeKernel(t, [memoryStore, definePlugin({ id: 'acme.some', summary: 's', migrations })]), {
    message: `acme.some: the folder of its migrations does not exist: ${fileURLToPath(migrations)}`,
  })
})

test('a handler, a periodic task and a middleware class without the required method are refused', async t => {
  const wrong = [
    [{ handlers: [on('dataset.created', Nameless as never, 'some')] }, 'handle'],
    [{ handlers: [onBatch('*', Nameless as never, 'some')] }, 'handleAll'],
    [{ periodic: [{ name: 'some', everyMs: 1000, task: Nameless as never }] }, 'run'],
    [{ middleware: [{ phase: 'beforeHandler', by: Nameless as never }] }, 'handle'],
  ] as const
  for (const [members, method] of wrong) {
    const plugin = definePlugin({ id: 'acme.some', summary: 's', ...members })
    await t.throwsAsync(makeKernel(t, [memoryStore, plugin]), { message: `acme.some: Nameless has no method ${method}` })
  }
})

test('a kind of resource with an unknown permission to view it is refused', async t => {
  const kind = defineResource({ kind: 'thing' as never, view: 'ViewThings' as never, rightsSource: Nameless as never })
  await t.throwsAsync(makeKernel(t, [definePlugin({ id: 'acme.some', summary: 's', resources: [kind] })]), {
    message:
      /^acme\.some: the kind thing has the unknown permission ViewThings as "view" \(did you mean View\w+\?\); a plugin lists its own/,
  })
})

const route = routesFor('things', {})
const listing = (id: string, model: s.TSchema) => {
  const listThings = route({
    method: 'GET',
    path: `/api/${id}`,
    summary: 'List things',
    permission: 'anyone',
    responses: { 200: s.Array(model) },
    handle: async () => ({ status: 200, body: [] }),
  })
  return definePlugin({ id, summary: 's', routes: { [`list-${id}`]: listThings } })
}

test('two different schemas with one model name are refused with the plugins and the name', async t => {
  const thing = (member: string) => s.model('Thing', s.Object({ [member]: s.String() }))
  const refused = async (...plugins: readonly Plugin[]): Promise<string> => (await t.throwsAsync(makeKernel(t, plugins))).message
  t.is(
    await refused(listing('acme.one', thing('name')), listing('acme.two', thing('title'))),
    'acme.one and acme.two name different schemas Thing with s.model: give one of them another name',
  )
  t.regex(await refused(listing('acme.one', s.Tuple([thing('name'), thing('title')]))), /^acme\.one: it names two different schemas Thing/)
  t.regex(await refused(listing('acme.one', s.model('Problem', s.Object({})))), /^Pounce and acme\.one name different schemas Problem/)
  await t.notThrowsAsync(makeKernel(t, [listing('acme.one', thing('name')), listing('acme.two', thing('name'))]))
})

test('an invalid default of a setting is refused', async t => {
  const settings = s.Object({
    n: s.Integer({ default: 'many' as never }),
  })
  const refused = async (config: s.TSchema): Promise<string> =>
    (await t.throwsAsync(makeKernel(t, [definePlugin({ id: 'acme.some', summary: 's', config })]))).message
  t.is(await refused(settings), 'acme.some: the default of its setting n must be a whole number (is "many")')
  t.regex(await refused(s.Object({ a: s.Object({ b: s.Integer({ default: 0, minimum: 1 }) }, { default: {} }) })), /setting a\.b must be/)
  const choice = s.Union([s.Literal('one'), s.Null()], { default: 'two' as never })
  t.regex(await refused(s.Object({ choice })), /setting choice must be .* \(is "two"\)$/)
  const right = {
    list: s.Array(s.String(), { default: ['x'] }),
    choice: { ...choice, default: null },
    more: s.Record(s.String(), s.String(), { default: {} }),
  }
  await t.notThrowsAsync(makeKernel(t, [definePlugin({ id: 'acme.some', summary: 's', config: s.Object(right) })]))
})
