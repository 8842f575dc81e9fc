import test from 'ava'
import { behind, definePlugin, port, provide, wire } from 'pounce/sdk'
import { buildPluginGraph } from './plugin-graph.ts'

interface Store {
  get(): string
}
const Store = port<Store>('store')

class Plain implements Store {
  get(): string {
    return 'plain'
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
wire(Front, behind(Store))

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

test('a plugin that stands in front of a port comes after its provider and before its users', t => {
  const { order, providers } = buildPluginGraph([user, front, plain], new Set())
  t.deepEqual(
    order.map(({ name }) => name),
    ['plain', 'front', 'user'],
  )
  t.is(providers.get('store'), 'front')
  t.is(providers.get(behind(Store)), 'plain')
})

test('without it the provider is everybody’s', t => {
  t.is(buildPluginGraph([user, plain], new Set()).providers.get('store'), 'plain')
})

test('in front of nothing nobody stands, nor two in front of one', t => {
  t.throws(() => buildPluginGraph([front], new Set()), { message: 'front needs store/behind, which no plugin provides' })
  const second = named('second', { provides: [provide(Store, Front)], wraps: [Store] })
  t.throws(() => buildPluginGraph([plain, front, second], new Set()), { message: /front and second both provide store/ })
})
