import { access } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import {
  type Class,
  Clock,
  type Contributions,
  contributions,
  DocumentStore,
  definePlugin,
  event,
  on,
  port,
  provide,
  routesFor,
  s,
  wire,
} from 'pounce/sdk'
import { memoryStore } from '../../test/support/memory-documents.ts'
import { makeKernel } from './fixtures/boot.ts'

interface Named {
  readonly name: string
}
const First = port<Named>('first')
const Second = port<Named>('second')
const Parts = contributions<Named>('parts')

/** A class that records its lifecycle. */
const recorded = (name: string, log: string[], fault?: 'start' | 'dispose' | 'health'): Class<Named> =>
  class {
    readonly name = name
    async start(): Promise<void> {
      if (fault === 'start') throw new Error('the disk is on fire')
      log.push(`start ${name}`)
    }
    async health(): Promise<void> {
      if (fault === 'health') throw new Error('it hurts')
    }
    async dispose(): Promise<void> {
      log.push(`dispose ${name}`)
      if (fault === 'dispose') throw new Error('it does not want to go')
    }
  } as Class<Named>

const needing = (cls: Class<Named>, ...ports: (typeof First)[]): Class<Named> => {
  const Needing = class extends (cls as new () => Named) {
    readonly given: readonly Named[]
    constructor(...given: Named[]) {
      super()
      this.given = given
    }
  }
  Object.defineProperty(Needing, 'length', { value: ports.length })
  wire(Needing as new (...given: Named[]) => Named, ...ports)
  return Needing as Class<Named>
}

test('plugins start in dependency order and stop in reverse', async t => {
  const log: string[] = []
  const kernel = await makeKernel(t, [
    definePlugin({ id: 'a.second', summary: 's', provides: [provide(Second, needing(recorded('second', log), First))] }),
    definePlugin({ id: 'a.first', summary: 's', provides: [provide(First, recorded('first', log))] }),
  ])
  t.deepEqual(log, [])
  await kernel.start()
  t.deepEqual(log, ['start first', 'start second'])
  await kernel.stop()
  t.deepEqual(log.slice(2), ['dispose second', 'dispose first'])
  t.is(kernel.get(Second).name, 'second')
})

test('a plugin that fails to start is named with its cause, and the started ones are stopped', async t => {
  const log: string[] = []
  const kernel = await makeKernel(t, [
    definePlugin({ id: 'a.first', summary: 's', provides: [provide(First, recorded('first', log))] }),
    definePlugin({ id: 'a.second', summary: 's', provides: [provide(Second, needing(recorded('second', log, 'start'), First))] }),
  ])
  const error = await t.throwsAsync(kernel.start(), { message: 'a.second did not start: the disk is on fire' })
  t.is((error.cause as Error).message, 'the disk is on fire')
  t.deepEqual(log, ['start first', 'dispose first'])
})

test('a plugin that fails to stop does not block the others', async t => {
  const log: string[] = []
  const kernel = await makeKernel(t, [
    definePlugin({ id: 'a.first', summary: 's', provides: [provide(First, recorded('first', log))] }),
    definePlugin({ id: 'a.second', summary: 's', provides: [provide(Second, recorded('second', log, 'dispose'))] }),
  ])
  await kernel.start()
  await kernel.stop()
  t.deepEqual(log.slice(2), ['dispose second', 'dispose first'])
})

test('a port without a provider is refused by name', async t => {
  const plugin = definePlugin({ id: 'a.second', summary: 's', provides: [provide(Second, needing(recorded('second', []), First))] })
  await t.throwsAsync(makeKernel(t, [plugin]), { message: 'a.second needs first, which no plugin provides' })
})

test('two providers of one port are both named', async t => {
  const one = definePlugin({ id: 'a.one', summary: 's', provides: [provide(First, recorded('one', []))] })
  const two = definePlugin({ id: 'a.two', summary: 's', provides: [provide(First, recorded('two', []))] })
  await t.throwsAsync(makeKernel(t, [one, two]), { message: /a\.one and a\.two both provide first/ })
})

test('a dependency cycle is refused, naming its plugins', async t => {
  const one = definePlugin({ id: 'a.one', summary: 's', provides: [provide(First, needing(recorded('one', []), Second))] })
  const two = definePlugin({ id: 'a.two', summary: 's', provides: [provide(Second, needing(recorded('two', []), First))] })
  await t.throwsAsync(makeKernel(t, [one, two]), {
    message: 'circular dependency between plugins: a.one (needs second) → a.two (needs first) → a.one',
  })
})

test('a dependency cycle inside a plugin is refused, naming its classes', async t => {
  class One {
    readonly name = 'one'
    readonly other: Named
    constructor(other: Named) {
      this.other = other
    }
  }
  class Two extends One {}
  Object.defineProperty(Two, 'length', { value: 1 })
  wire(One, Second)
  wire(Two, First)
  const plugin = definePlugin({ id: 'a.both', summary: 's', provides: [provide(First, One), provide(Second, Two)] })
  await t.throwsAsync(makeKernel(t, [plugin]), { message: /a\.both: circular dependency between classes: One → Two → One/ })
})

test('a class with unwired arguments is refused', async t => {
  class Forgetful {
    readonly name: string
    constructor(name: string) {
      this.name = name
    }
  }
  const plugin = definePlugin({ id: 'a.one', summary: 's', provides: [provide(First, Forgetful)] })
  await t.throwsAsync(makeKernel(t, [plugin]), { message: /a\.one: Forgetful takes 1 arguments but wire\(\) names 0/ })
})

test('contributions are in configuration order, regardless of dependencies, and may be empty', async t => {
  class Taker {
    readonly parts: Contributions<Named>
    constructor(parts: Contributions<Named>) {
      this.parts = parts
    }
  }
  wire(Taker, Parts)
  const TakerPort = port<Taker>('taker')
  const taker = definePlugin({ id: 'a.taker', summary: 's', provides: [provide(TakerPort, Taker)] })
  const later = definePlugin({ id: 'a.later', summary: 's', provides: [provide(Parts, needing(recorded('later', []), First))] })
  const first = definePlugin({
    id: 'a.first',
    summary: 's',
    provides: [provide(First, recorded('f', [])), provide(Parts, recorded('first', []))],
  })
  const kernel = await makeKernel(t, [taker, later, first])
  t.deepEqual(
    kernel
      .get(TakerPort)
      .parts.all()
      .map(({ name }) => name),
    ['later', 'first'],
  )
  const alone = await makeKernel(t, [taker])
  t.deepEqual(alone.get(TakerPort).parts.all(), [])
})

test('an override replaces what a plugin provides, everywhere', async t => {
  const fake: Named = { name: 'fake' }
  const Dependent = needing(recorded('second', []), First) as Class<Named & { given: readonly Named[] }>
  const kernel = await makeKernel(
    t,
    [
      definePlugin({ id: 'a.first', summary: 's', provides: [provide(First, recorded('real', []))] }),
      definePlugin({ id: 'a.second', summary: 's', provides: [provide(Second, Dependent)] }),
    ],
    { overrides: { [First]: fake } },
  )
  t.is(kernel.get(First), fake)
  t.is((kernel.get(Second) as Named & { given: readonly Named[] }).given[0], fake)
})

test('the note of a healthy plugin is reported, and it stays healthy', async t => {
  class Limited {
    readonly name = 'first'
    async health(): Promise<string> {
      return 'the walls are thin'
    }
  }
  const kernel = await makeKernel(t, [memoryStore, definePlugin({ id: 'a.first', summary: 's', provides: [provide(First, Limited)] })])
  await kernel.start()
  const { ready, plugins } = await kernel.readiness()
  t.true(ready)
  t.deepEqual(plugins.at(-1), { id: 'a.first', ok: true, message: 'the walls are thin' })
})

test('an unhealthy plugin is reported by name, and only the store affects readiness', async t => {
  const kernel = await makeKernel(t, [
    memoryStore,
    definePlugin({ id: 'a.first', summary: 's', provides: [provide(First, recorded('first', [], 'health'))] }),
  ])
  t.false((await kernel.readiness()).ready)
  await kernel.start()
  const report = await kernel.readiness()
  t.true(report.ready)
  t.deepEqual(report.plugins, [
    { id: 'documents.memory', ok: true },
    { id: 'a.first', ok: false, message: 'it hurts' },
  ])
  t.is(report.waiting, 0)
})

test('an event reaches its handler, and drained waits for it', async t => {
  const seen: string[] = []
  class Recorder {
    async handle(delivered: { readonly subject: { readonly id: string } }): Promise<void> {
      seen.push(delivered.subject.id)
    }
  }
  const kernel = await makeKernel(t, [
    memoryStore,
    definePlugin({ id: 'a.hear', summary: 's', handlers: [on('file.updated', Recorder, 'hear')] }),
  ])
  await kernel.start()
  const { commit } = kernel.get(DocumentStore)
  const things = { name: 'things', indexes: {} }
  const updated = event('file.updated', { kind: 'file', id: 'f1' }, { fields: [] })
  await commit.call(kernel.get(DocumentStore), { insert: { id: 'x' }, into: things }, [updated])
  await kernel.drained()
  t.deepEqual(seen, ['f1'])
  t.truthy(kernel.get(Clock).now())
})

test('handlers without a document store are refused', async t => {
  class Recorder {
    async handle(): Promise<void> {
      return
    }
  }
  const plugin = definePlugin({ id: 'a.hear', summary: 's', handlers: [on('file.updated', Recorder, 'hear')] })
  await t.throwsAsync(makeKernel(t, [plugin]), { message: 'a.hear needs documentStore, which no plugin provides' })
})

test('a stop during the start stops what was started, and starts nothing more', async t => {
  const log: string[] = []
  const requested = Promise.withResolvers<void>()
  class Slow implements Named {
    readonly name = 'slow'
    async start(): Promise<void> {
      requested.resolve()
      await new Promise(resolve => setImmediate(resolve))
      log.push('start slow')
    }
    dispose(): void {
      log.push('dispose slow')
    }
  }
  const kernel = await makeKernel(t, [
    definePlugin({ id: 'a.slow', summary: 's', provides: [provide(First, Slow)] }),
    definePlugin({ id: 'a.second', summary: 's', provides: [provide(Second, recorded('second', log))] }),
  ])
  const started = kernel.start()
  await requested.promise
  const stopped = kernel.stop()
  await t.throwsAsync(started, { message: 'Startup was interrupted' })
  await stopped
  t.deepEqual(log, ['start slow', 'dispose slow'])
})

const route = routesFor('things', {})
const declared = (path: string, permission: 'anyone') =>
  route({
    method: 'GET',
    path,
    summary: 's',
    permission,
    responses: { 200: s.success() },
    handle: async () => ({ status: 200, body: { status: 'success' } }),
  })

test('a route without a permission, with an unknown one, or with a duplicate path fails the start before any data is accessed', async t => {
  const forgetful = definePlugin({ id: 'a.one', summary: 's', routes: { getThing: declared('/api/things', undefined as never) } })
  const inventive = definePlugin({ id: 'a.two', summary: 's', routes: { getThing: declared('/api/things', 'MayDance' as never) } })
  const plain = definePlugin({ id: 'a.three', summary: 's', routes: { getThing: declared('/api/things', 'anyone') } })
  const shadow = definePlugin({ id: 'a.four', summary: 's', routes: { getIt: declared('/api/things', 'anyone') } })
  for (const [plugins, message] of [
    [[forgetful], /getThing.*permission/],
    [[inventive], /MayDance/],
    [[plain, shadow], /a\.three[\s\S]*a\.four|a\.four[\s\S]*a\.three/],
  ] as const) {
    const kernel = await makeKernel(t, plugins, { settings: { roles: ['http'], http: { port: 0 } } })
    await t.throwsAsync(kernel.start(), { message, name: 'StartRefused' })
    await t.throwsAsync(access(join(kernel.config.kernel.data, 'kernel.lock')), { code: 'ENOENT' })
  }
})
