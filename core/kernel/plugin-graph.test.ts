import test from 'ava'
import { definePlugin, port, provide, wire, wrapped } from 'pounce/sdk'
import { silent } from 'pounce/sdk/testing'
import { Container } from './container.ts'
import { buildPluginGraph } from './plugin-graph.ts'

interface Store {
  get(): string
}
const Store = port<Store>('store')

class Plain implements Store {
  get(): string {
    return 'the store'
  }
}

class Front implements Store {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  get(): string {
    return `front of ${this.#store.get()}`
  }
}
wire(Front, wrapped(Store))

class User {
  readonly store: Store

  constructor(store: Store) {
    this.store = store
  }
}
wire(User, Store)

const named = (name: string, parts: object) => ({ name, plugin: definePlugin({ id: name, summary: 'x', ...parts }) })
const plain = named('plain', { provides: [provide(Store, Plain)] })
const front = named('front', { provides: [provide(Store, Front)], wraps: [Store] })
const user = named('user', { provides: [provide(port<User>('user'), User)] })

test('a plugin that wraps a port comes after its provider and before its dependents', t => {
  const { order, providers } = buildPluginGraph([user, front, plain], new Set())
  t.deepEqual(
    order.map(({ name }) => name),
    ['plain', 'front', 'user'],
  )
  t.is(providers.get('store'), 'front')
  t.is(providers.get(wrapped(Store)), 'plain')
})

test('without a wrapper, all dependents get the provider', t => {
  t.is(buildPluginGraph([user, plain], new Set()).providers.get('store'), 'plain')
})

test('a port without a provider cannot be wrapped', t => {
  t.throws(() => buildPluginGraph([front], new Set()), { message: 'front needs store/wrapped, which no plugin provides' })
})

test('two providers of a wrapped port are both named, with the name of the port', t => {
  const other = named('other', { provides: [provide(Store, class extends Plain {})] })
  t.throws(() => buildPluginGraph([front, plain, other], new Set()), {
    message: 'plain and other both provide store: remove one of them from "plugins"',
  })
})

test('several wrappers of one port wrap each other, the last listed one outermost', t => {
  class Second implements Store {
    readonly #store: Store

    constructor(store: Store) {
      this.#store = store
    }

    get(): string {
      return `second front of ${this.#store.get()}`
    }
  }
  wire(Second, wrapped(Store))
  const second = named('second', { provides: [provide(Store, Second)], wraps: [Store] })
  for (const [listed, answer] of [
    [[user, second, front, plain], 'front of second front of the store'],
    [[front, second, user, plain], 'second front of front of the store'],
  ] as const) {
    const graph = buildPluginGraph(listed, new Set())
    const container = new Container(
      new Map(),
      listed.map(({ name }) => name),
    )
    for (const one of graph.order) container.build(one, { config: {}, log: silent }, new Set())
    t.is(container.get(port<User>('user')).store.get(), answer)
  }
})
