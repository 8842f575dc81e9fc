import test from 'ava'
import { configPort, definePlugin, type MiddlewareClass, type MiddlewareContext, s, wire } from 'pounce/sdk'
import { silent } from 'pounce/sdk/testing'
import { pluginMiddleware } from './boot.ts'
import { Container } from './kernel/container.ts'
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

test('middleware of plugins comes in their order, and a class of it is made with what it was wired with', async t => {
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
