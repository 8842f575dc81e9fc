import test from 'ava'
import { isRoute, s } from 'pounce/sdk'
import { resolved } from '../../test/support/resolved-document.ts'
import type { Declaration } from '../http/router.ts'
import { registerRoutes } from '../http/router.ts'
import { isSchema } from '../http/validate.ts'
import type { SchemaShape } from '../json-schema.ts'
import { compileSchema } from '../json-schema.ts'
import { loadPlugins } from '../kernel/plugins.ts'
import { ownPluginIds } from '../own-plugins.ts'
import { answersOf, contentOf } from './declared-answers.ts'
import { exampleOf } from './examples.ts'
import { openapiDocument } from './openapi.ts'

const loaded = loadPlugins(ownPluginIds().map(plugin => ({ plugin })))

const mounts = async () =>
  registerRoutes(
    (await loaded).flatMap(({ name: plugin, plugin: { routes = {} } }) =>
      Object.entries(routes).flatMap(([name, route]) => (isRoute(route) ? [{ plugin, name, route, needs: {} }] : [])),
    ),
    true,
  )

const document = async () => openapiDocument(await mounts(), { version: '1.0.0', baseUrl: 'https://data.example.org' })

const jsonOf = ({ body, ...declaration }: Declaration): readonly SchemaShape[] => [
  ...(isSchema(body) ? [body as SchemaShape] : []),
  ...Object.values(answersOf({ ...declaration, body })).flatMap(each => contentOf(each)['application/json'] ?? []),
]

const members = (value: unknown): readonly unknown[] =>
  typeof value === 'object' && value !== null ? Object.entries(value).flatMap(([key, each]) => (key === 'examples' ? [] : [each])) : []

const objectsIn = (value: unknown): readonly object[] =>
  typeof value === 'object' && value !== null ? [value, ...members(value).flatMap(objectsIn)] : []

const faultOf = (schema: SchemaShape): string | undefined => {
  const validate = compileSchema(schema as never)
  const example = exampleOf(schema)
  // Undefined members are not sent.
  return validate(structuredClone(JSON.parse(JSON.stringify(example))))
    ? undefined
    : `${JSON.stringify(example)} ${validate.errors?.map(each => `${each.instancePath} ${each.message}`).join()}`
}

test('the example of every model and of every JSON body fits its schema', async t => {
  const models = new Map<string, SchemaShape>()
  const bodies: SchemaShape[] = []
  for (const { declaration } of await mounts()) {
    if (isSchema(declaration.body)) bodies.push(declaration.body as SchemaShape)
    for (const each of jsonOf(declaration).flatMap(objectsIn)) {
      const name = (each as Readonly<Record<string, unknown>>)[s.modelName]
      if (typeof name === 'string') models.set(name, each as SchemaShape)
    }
  }
  t.true(models.size > 100)
  t.deepEqual(
    [...models].flatMap(([name, schema]) => faultOf(schema)?.replace(/^/, `${name}: `) ?? []),
    [],
  )
  t.deepEqual(
    bodies.flatMap(schema => faultOf(schema) ?? []),
    [],
  )
})

test('the document has at most 700,000 characters', async t => {
  t.true(JSON.stringify(await document()).length <= 700_000)
})

test('an object with three or more members that is used twice is a model', async t => {
  const { paths, components } = (await document()) as { readonly paths: object; readonly components: Readonly<Record<string, object>> }
  const count = new Map<string, number>()
  for (const each of [paths, components['schemas'], components['responses']].flatMap(objectsIn)) {
    const { type, properties = {} } = each as { readonly type?: unknown; readonly properties?: object }
    if (type !== 'object' || Object.keys(properties).length < 3) continue
    // Objects that differ only in their example are the same.
    const text = JSON.stringify({ ...each, example: undefined })
    count.set(text, (count.get(text) ?? 0) + 1)
  }
  t.deepEqual(
    [...count].flatMap(([text, times]) => (times > 1 ? [`${times} times ${text}`] : [])),
    [],
  )
})

interface Media {
  readonly schema: { readonly format?: string; readonly example?: unknown }
  readonly example?: unknown
}

test('every JSON body has an example, its own or that of its model', async t => {
  const { paths } = resolved(await document()) as {
    readonly paths: Readonly<
      Record<string, Readonly<Record<string, { readonly requestBody?: { readonly content: Record<string, Media> } }>>>
    >
  }
  const lacking = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { requestBody }]) => {
      const media = requestBody?.content['application/json']
      // Bytes that the route reads itself.
      if (!media || media.schema.format === 'binary') return []
      return (media.example ?? media.schema.example) === undefined ? [`${method} ${path}`] : []
    }),
  )
  t.deepEqual(lacking, [])
})

test('a model has an example unless it is only a part of others', async t => {
  const { paths, components } = (await document()) as {
    readonly paths: object
    readonly components: { readonly schemas: Readonly<Record<string, { readonly example?: unknown }>>; readonly responses: object }
  }
  const whole = new Set(
    [...JSON.stringify([paths, components.responses]).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name),
  )
  const lacking = Object.entries(components.schemas).flatMap(([name, { example }]) => (example === undefined ? [name] : []))
  t.true(lacking.includes('SearchHit') && lacking.length < 50)
  t.deepEqual(
    lacking.filter(name => whole.has(name)),
    [],
  )
})

test('no example is just a placeholder for its type', async t => {
  const texts = objectsIn(await document()).flatMap(each => {
    const { example } = each as { readonly example?: unknown }
    return example === undefined
      ? []
      : [example, ...objectsIn(example)].flatMap(one => (typeof one === 'object' ? Object.values(one ?? {}) : [one]))
  })
  t.true(texts.length > 500)
  t.deepEqual(
    texts.filter(text => text === 'string' || text === 'text'),
    [],
  )
})
