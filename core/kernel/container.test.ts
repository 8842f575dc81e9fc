import test from 'ava'
import { type Class, configPort, definePlugin, Log, port, provide, s, wire } from 'pounce/sdk'
import { silent } from 'pounce/sdk/testing'
import { Container } from './container.ts'
import { buildPluginGraph } from './plugin-graph.ts'

const config = s.Object({ bucket: s.String() })
const Config = configPort(config)

class Store {
  readonly bucket: string
  readonly log: Log
  constructor({ bucket }: s.Static<typeof config>, log: Log) {
    this.bucket = bucket
    this.log = log
  }
}
wire(Store, Config, Log)
const StorePort = port<Store>('store')
const CopyPort = port<Store>('store@test.archive')

class Reader {
  readonly store: Store
  constructor(store: Store) {
    this.store = store
  }
}
wire(Reader, StorePort)
const ReaderPort = port<Reader>('reader')

const plugin = definePlugin({ id: 'test.store', summary: 's', config, provides: [provide(StorePort, Store), provide(ReaderPort, Reader)] })

test('two copies of a plugin have separate classes, settings and logs', t => {
  const plan = buildPluginGraph(
    [
      { name: 'test.store', plugin },
      { name: 'test.archive', plugin },
    ],
    new Set(),
  )
  const container = new Container(new Map(), ['test.store', 'test.archive'])
  const [first, copy] = plan.order.map(one => container.build(one, { config: { bucket: one.name }, log: { ...silent } }, new Set()))
  t.is(container.get(StorePort).bucket, 'test.store')
  t.is(container.get(CopyPort).bucket, 'test.archive')
  t.not(container.get(StorePort).log, container.get(CopyPort).log)
  t.like(copy?.resolve(ReaderPort), { store: { bucket: 'test.archive' } }, 'inside a plugin, its own provider takes precedence')
  t.is(first?.instanceOf(Store as Class<Store>), container.get(StorePort))
})

test('classes are instantiated once, and listed after their dependencies', t => {
  const backwards = definePlugin({ id: 'test.store', summary: 's', provides: [provide(ReaderPort, Reader), provide(StorePort, Store)] })
  const plan = buildPluginGraph([{ name: 'test.store', plugin: backwards }], new Set())
  const container = new Container(new Map(), ['test.store'])
  const [built] = plan.order.map(one => container.build(one, { config: { bucket: 'b' }, log: silent }, new Set()))
  t.deepEqual(
    built?.instances.map(instance => instance.constructor),
    [Store, Reader],
  )
  t.is(container.get(ReaderPort).store, container.get(StorePort))
})

test('a request scope resolves kernel services and its own values, but not those of other requests', t => {
  const container = new Container(new Map<string, unknown>([['clock', 'the clock']]), [])
  const Caller = port<string>('caller')
  const one = container.requestScope({ caller: 'Ada' })
  const two = container.requestScope({ caller: 'Bob' })
  t.is(one.resolve(port<string>('clock')), 'the clock')
  t.deepEqual([one.resolve(Caller), two.resolve(Caller)], ['Ada', 'Bob'])
  t.false(container.has('caller'))
})

test('a port without a provider is an error that names it', t => {
  const container = new Container(new Map(), [])
  t.throws(() => container.get(StorePort), { message: /store/ })
})

class Ledger {
  readonly store: Store
  constructor(store: Store) {
    this.store = store
  }
}
wire(Ledger, Store)

class Books {
  readonly ledger: Ledger
  constructor(ledger: Ledger) {
    this.ledger = ledger
  }
}
wire(Books, Ledger)

test('a class is its own token, with one instance per copy of the plugin, even if it is not listed', t => {
  const books = definePlugin({ id: 'test.books', summary: 's', config, services: [Books] })
  const names = ['test.books', 'test.archive']
  const plan = buildPluginGraph(
    names.map(name => ({ name, plugin: books })),
    new Set(),
  )
  const container = new Container(new Map(), names)
  const [first, copy] = plan.order.map(one => container.build(one, { config: { bucket: one.name }, log: silent }, new Set()))
  t.deepEqual(
    first?.instances.map(instance => instance.constructor),
    [Store, Ledger, Books],
  )
  t.is(first?.instanceOf(Books).ledger, first?.instanceOf(Ledger))
  t.is(copy?.instanceOf(Books).ledger.store.bucket, 'test.archive')
  t.is(container.get(Books), first?.instanceOf(Books) as Books, 'others get the instance of the first copy')
  t.throws(() => container.get(Reader), { message: 'No loaded plugin has the class Reader' })
})

test('circular dependencies between classes are refused, naming the cycle', t => {
  class Hen {
    readonly egg: object
    constructor(egg: object) {
      this.egg = egg
    }
  }
  wire(Hen, Hen as never)
  const plan = buildPluginGraph([{ name: 'test.hen', plugin: definePlugin({ id: 'test.hen', summary: 's', services: [Hen] }) }], new Set())
  t.throws(() => new Container(new Map(), ['test.hen']).build(plan.order[0] as never, { config: {}, log: silent }, new Set()), {
    message: 'test.hen: circular dependency between classes: Hen → Hen',
  })
})
