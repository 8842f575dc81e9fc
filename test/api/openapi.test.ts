import { readFile } from 'node:fs/promises'
import { Validator } from '@seriousme/openapi-schema-validator'
import test from 'ava'
import { isRoute, type Route } from 'pounce/sdk'
import { allPermissions } from 'pounce/sdk/kit'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { loadPlugins } from '../../core/kernel/plugins.ts'
import { ownPluginIds } from '../../core/own-plugins.ts'
import { resolved } from '../support/resolved-document.ts'

interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
  readonly 'x-permission': string
  readonly 'x-internal'?: boolean
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean; readonly schema: object }[]
  readonly requestBody?: object
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: object }>>
}
interface Document {
  readonly openapi: string
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly servers: readonly { readonly url: string }[]
  readonly tags: readonly { readonly name: string; readonly description?: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: object; readonly securitySchemes: Readonly<Record<string, object>> }
}

let server: TestServer
let whole: Document
/** The document with shared references resolved. */
let document: Document

test.before(async () => {
  server = await bootForTest()
  whole = (await (await server.as()('/openapi.json')).json()) as Document
  document = resolved(whole)
})
test.after.always(() => server?.stop())

const operations = (): readonly (readonly [string, Operation])[] =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, each]) => [`${method.toUpperCase()} ${path}`, each] as const),
  )

/** Method and path with parameters by position: their names differ between routes with the same path. */
const addressOf = (method: string, path: string): string => `${method.toUpperCase()} ${path.replace(/:\w+\*?|\{\w+\}/g, '{}')}`

/** All problems at once. */
const faults = (isRight: (operation: Operation, address: string) => boolean): readonly string[] =>
  operations()
    .filter(([address, operation]) => !isRight(operation, address))
    .map(([address]) => address)

test('all callers can read the document, as JSON', async t => {
  const answer = await server.as()('/openapi.json')
  t.is(answer.status, 200)
  t.regex(answer.headers.get('content-type') ?? '', /^application\/json/)
})

test('the document is valid OpenAPI 3.0.1, and every reference in it resolves', async t => {
  t.is(whole.openapi, '3.0.1')
  const { valid, errors } = await new Validator().validate(structuredClone(whole) as never)
  t.true(valid, JSON.stringify(errors))
  const references = [...JSON.stringify(whole).matchAll(/"\$ref":"([^"]+)"/g)].map(([, to = '']) => to)
  t.true(references.length > 0)
  const target = (to: string): unknown =>
    to
      .slice(2)
      .split('/')
      .reduce<unknown>((at, name) => (at as Readonly<Record<string, unknown>> | undefined)?.[name], whole)
  t.deepEqual(
    references.filter(to => target(to) === undefined),
    [],
  )
})

test('the document has exactly the server itself and all routes by name, with aliases except page and trailing-slash ones', async t => {
  const plugins = await loadPlugins(ownPluginIds().map(plugin => ({ plugin })))
  const routes = plugins.flatMap(({ plugin }) =>
    Object.entries(plugin.routes ?? {}).filter((entry): entry is [string, Route] => isRoute(entry[1])),
  )
  const expected = routes.flatMap(([name, { declaration, group }]) => {
    const { method, path } = declaration
    const aliases = group === 'web' ? [] : (declaration.aliases ?? []).filter(alias => alias.path !== `${path}/`)
    const others = aliases.map((alias, at) => [addressOf(alias.method ?? method, alias.path), `${name}Alias${at + 1}`, group])
    return [[addressOf(method, path), name, group], ...others]
  })
  t.true(expected.length > 100)
  const described = operations().map(([address, { operationId, tags }]) => {
    const [method = '', path = ''] = address.split(' ')
    return [addressOf(method, path), operationId, tags[0]]
  })
  const text = (rows: readonly (readonly (string | undefined)[])[]): readonly string[] => rows.map(row => row.join(' ')).sort()
  t.deepEqual(text(described.filter(([, , tag]) => tag !== 'server')), text(expected))
})

test('every operation has a unique id, one declared tag and a summary', t => {
  const ids = operations().map(([, { operationId }]) => operationId)
  t.deepEqual(
    ids.filter((id, at) => ids.indexOf(id) !== at),
    [],
  )
  const tags = new Set(document.tags.map(({ name }) => name))
  t.deepEqual(
    document.tags.filter(({ description = '' }) => description === ''),
    [],
  )
  t.deepEqual(
    faults(
      ({ operationId, tags: own, summary }) =>
        /^[a-z]\w+$/.test(operationId) && own.length === 1 && tags.has(own[0] ?? '') && summary.length > 5,
    ),
    [],
  )
})

test('operation ids are stable, because clients are generated from them', async t => {
  const kept = JSON.parse(await readFile(new URL('operation-ids.json', import.meta.url), 'utf8')) as readonly string[]
  const ids = operations()
    .map(([, { operationId }]) => operationId)
    .sort()
  // A new route adds a line. Renaming one breaks generated clients and must be noted in CHANGELOG.md.
  t.deepEqual(ids, [...kept])
})

test('every operation specifies its security by declared schemes', t => {
  const known = new Set<string>([...allPermissions, 'anyone', 'reader', 'signedIn', 'serverAdmin'])
  const schemes = new Set(Object.keys(document.components.securitySchemes))
  t.deepEqual(
    faults(
      ({ security = document.security }) =>
        Array.isArray(security) && security.every(each => Object.keys(each).every(name => schemes.has(name))),
    ),
    [],
  )
  t.deepEqual(
    faults(operation => known.has(operation['x-permission'])),
    [],
  )
  const takesNobody = ({ security = document.security }: Operation): boolean =>
    security.length > 0 && security.every(each => Object.keys(each).length > 0)
  t.deepEqual(
    faults(operation => !['signedIn', 'serverAdmin'].includes(operation['x-permission']) || takesNobody(operation)),
    [],
  )
})

test('every operation declares success and error responses', t => {
  t.deepEqual(
    faults(({ responses }) => Object.keys(responses).some(status => /^[23](?:\d\d|XX)$/.test(status)) && 'default' in responses),
    [],
  )
  t.deepEqual(
    faults(({ responses }) => Object.values(responses).every(({ description }) => description.length > 0)),
    [],
  )
  const isGuarded = (operation: Operation): boolean => operation['x-permission'] !== 'anyone'
  t.deepEqual(
    faults(
      operation =>
        !isGuarded(operation) || operation['x-internal'] === true || ('401' in operation.responses && '403' in operation.responses),
    ),
    [],
  )
})

test('every parameter of a path is declared and required, and GET has no body', t => {
  const inPath = (address: string): readonly string[] => [...address.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name).sort()
  const declared = ({ parameters = [] }: Operation): readonly string[] =>
    parameters
      .filter(each => each.in === 'path' && each.required)
      .map(({ name }) => name)
      .sort()
  t.deepEqual(
    faults((operation, address) => declared(operation).join() === inPath(address).join()),
    [],
  )
  t.deepEqual(
    faults(({ requestBody }, address) => !address.startsWith('GET ') || requestBody === undefined),
    [],
  )
})

test('every described GET operation without required parameters is served, and other addresses are 404', async t => {
  const call = server.as()
  for (const [address, { parameters = [] }] of operations().filter(([each]) => each.startsWith('GET /api/'))) {
    if (parameters.some(({ required }) => required)) continue
    const { status } = await call(address.slice(4))
    t.true(status < 500 && status !== 404 && status !== 405, `${address}: ${status}`)
  }
  t.is((await call('/api/no/such/address')).status, 404)
})
