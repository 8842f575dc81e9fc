import { Validator } from '@seriousme/openapi-schema-validator'
import test from 'ava'
import { type Bytes, byteBody, Conflict, multipart, NotFound, type Route, ref, routesFor, s } from 'pounce/sdk'
import { Type } from 'typebox'
import { resolved } from '../../test/support/resolved-document.ts'
import { createHttp } from '../http/server.ts'
import { httpOptions } from '../http/testing/serve.ts'
import { OpenapiSchemas } from './openapi-schema.ts'

const route = routesFor('things', {})
const policy = { isPrivate: false } as never

const nested = Type.Cyclic({ Node: Type.Object({ name: Type.String(), children: Type.Array(Type.Ref('Node')) }) }, 'Node')

const What = s.model('What', s.Object({ title: s.String() }), { title: 'Soil' })
const Done = s.model('Done', s.Object({ what: What }), { what: { title: 'Soil' } })

const routes: Record<string, Route> = {
  getThing: route({
    method: 'GET',
    path: '/api/things/:id',
    aliases: [{ path: '/api/thing/:id' }],
    summary: 'One thing',
    permission: { right: 'ViewDataset', on: ref('dataset', 'id') },
    params: s.Object({ id: s.id() }),
    query: s.Object({
      limit: s.Integer({ default: 12, minimum: 1 }),
      since: s.Optional(s.String({ description: 'A date' })),
      tag: s.repeated(s.String()),
      order: s.Optional(s.Union([s.Literal('asc'), s.Literal('desc')])),
    }),
    responses: {
      200: s.Object({ id: s.id(), when: s.Union([s.String(), s.Null()]), extra: s.Record(s.String(), s.Number()), tree: nested }),
    },
    throws: [NotFound, Conflict],
    handle: async () => {
      throw new NotFound('dataset')
    },
  }),
  removeThing: route({
    method: 'DELETE',
    path: '/api/things/:thing',
    summary: 'Removes a thing',
    permission: { right: 'DeleteDataset', on: ref('dataset', 'thing') },
    params: s.Object({ thing: s.id() }),
    responses: { 204: s.empty() },
    handle: async () => ({ status: 204, body: undefined }),
  }),
  sendThings: route({
    method: 'POST',
    path: '/api/things',
    summary: 'Sends files',
    permission: 'signedIn',
    body: multipart('One or more files in parts named File', 10, { File: 'file', title: 'text' }),
    responses: { 200: s.text() },
    handle: async () => ({ status: 200, body: 'done' }),
  }),
  sendMany: route({
    method: 'POST',
    path: '/api/things/many',
    summary: 'Sends many',
    permission: 'signedIn',
    body: byteBody('Lines of JSON, or JSON', { takes: ['application/x-ndjson', 'application/json'] }),
    responses: { 200: s.text() },
    handle: async () => ({ status: 200, body: 'done' }),
  }),
  changeThing: route({
    method: 'PUT',
    path: '/api/things/:id',
    summary: 'Changes a thing',
    permission: { right: 'EditDataset', on: ref('dataset', 'id') },
    params: s.Object({ id: s.id() }),
    body: s.Object({ name: s.line(), mode: s.String({ default: 'soft' }), pair: s.Tuple([s.Number(), s.Number()]), any: s.json() }),
    responses: { 200: s.success() },
    handle: async () => ({ status: 200, body: { status: 'success' } }),
  }),
  ...Object.fromEntries(
    (['First', 'Second'] as const).map(name => [
      `do${name}`,
      route({
        method: 'POST',
        path: `/api/done/${name.toLowerCase()}`,
        aliases: name === 'First' ? [{ path: '/api/done/first/' }, { path: '/api/done/other' }] : [],
        summary: 'Do it',
        description: 'At length, and in many words.',
        permission: 'signedIn',
        body: s.Object({ name: s.line(), description: s.String({ description: 'What it is about, at length' }) }),
        responses: { 200: Done },
        handle: async () => ({ status: 200, body: { what: { title: 'x' } } }),
      }),
    ]),
  ),
  getSecret: route({
    method: 'GET',
    path: '/api/secret',
    summary: 'Secret',
    permission: 'signedIn',
    headers: { 'cache-control': 'no-store' },
    responses: { 200: s.Object({ id: s.id() }) },
    handle: async () => ({ status: 200, body: { id: 'f'.repeat(24) } }),
  }),
  getWord: route({
    method: 'GET',
    path: '/api/word',
    summary: 'Word',
    permission: 'signedIn',
    responses: { 200: s.text() },
    handle: async () => ({ status: 200, body: 'word' }),
  }),
  relayed: route({
    method: 'GET',
    path: '/api/relay',
    summary: 'Relay',
    permission: 'signedIn',
    responses: Object.fromEntries([201, 405, 406, 409, 410, 422].map(status => [status, s.bytes<Bytes>()])),
    throws: [Conflict],
    handle: async () => {
      throw new NotFound('file')
    },
  }),
  getBytes: route({
    method: 'GET',
    path: '/api/bytes/:rest*',
    summary: 'Bytes',
    permission: 'anyone',
    params: s.Object({ rest: s.String() }),
    responses: { 200: s.bytes<Bytes>() },
    handle: async () => {
      throw new NotFound('file')
    },
  }),
}

interface Operation {
  readonly operationId: string
  readonly description?: string
  readonly parameters: readonly { readonly name: string; readonly required?: boolean; readonly schema: object }[]
  readonly requestBody?: {
    readonly required?: boolean
    readonly content: Readonly<Record<string, { readonly schema: Readonly<Record<string, unknown>> }>>
  }
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>
  readonly security?: readonly object[]
}
interface Document {
  readonly openapi: string
  readonly security: readonly object[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

const made = async (): Promise<Document> => (await createHttp(httpOptions(routes, { policy })).openapi()) as Document

/** The document with resolved references. */
const document = async (): Promise<Document> => resolved(await made())

test('the document is valid OpenAPI 3.0', async t => {
  const whole = await made()
  const result = await new Validator().validate(JSON.parse(JSON.stringify(whole)))
  t.true(result.valid, JSON.stringify(result.errors))
  t.is(whole.openapi, '3.0.1')
})

test('operations are named after their exports, aliases after theirs', async t => {
  const { paths } = await document()
  t.is(paths['/api/things/{id}']?.['get']?.operationId, 'getThing')
  t.is(paths['/api/thing/{id}']?.['get']?.operationId, 'getThingAlias1')
  const ids = Object.values(paths).flatMap(item => Object.values(item).map(each => each.operationId))
  t.is(new Set(ids).size, ids.length)
})

test('paths that differ only in parameter names are merged, with the names of the first', async t => {
  const { paths } = await document()
  const removal = paths['/api/things/{id}']?.['delete']
  t.is(removal?.operationId, 'removeThing')
  t.is(removal?.parameters[0]?.name, 'id')
  t.false('/api/things/{thing}' in paths)
})

test('a parameter with a default is optional, a path parameter never', async t => {
  const parameters = (await document()).paths['/api/things/{id}']?.['get']?.parameters
  t.deepEqual(
    parameters?.map(({ name, required = false }) => [name, required]),
    [
      ['id', true],
      ['limit', false],
      ['since', false],
      ['tag', true],
      ['order', false],
    ],
  )
})

test('bodies and responses have their media types', async t => {
  const { paths } = await document()
  t.deepEqual(Object.keys(paths['/api/things']?.['post']?.requestBody?.content ?? {}), ['multipart/form-data'])
  t.deepEqual(Object.keys(paths['/api/things/many']?.['post']?.requestBody?.content ?? {}), ['application/x-ndjson', 'application/json'])
  t.deepEqual(Object.keys(paths['/api/things']?.['post']?.responses['200']?.content ?? {}), ['text/plain'])
  t.is(paths['/api/things/{id}']?.['delete']?.responses['204']?.content, undefined)
  t.deepEqual(Object.keys(paths['/api/bytes/{rest}']?.['get']?.responses['200']?.content ?? {}), ['application/octet-stream', '*/*'])
  const body = paths['/api/things/{id}']?.['put']?.requestBody
  t.true(body?.required)
  t.deepEqual(body?.content['application/json']?.schema['required'], ['name', 'pair', 'any'])
})

test('JSON responses to GET may be 304, unless they must not be stored', async t => {
  const { paths } = await document()
  const isTagged = (path: string, method: string): boolean => '304' in (paths[path]?.[method]?.responses ?? {})
  t.true(isTagged('/api/things/{id}', 'get'))
  t.true(isTagged('/api/bytes/{rest}', 'get'))
  t.false(isTagged('/api/things/{id}', 'put'))
  t.false(isTagged('/api/secret', 'get'))
  t.false(isTagged('/api/word', 'get'))
})

test('errors are listed: those that a route declares and those that follow from its input', async t => {
  const get = (await document()).paths['/api/things/{id}']?.['get']
  t.deepEqual(Object.keys(get?.responses ?? {}), ['200', '304', '400', '401', '403', '404', '409', 'default'])
})

test('routes that require an account use the default security, public ones make it optional', async t => {
  const { paths, security } = await document()
  t.true(security.every(each => Object.keys(each).length === 1))
  t.is(paths['/api/things']?.['post']?.security, undefined)
  t.true(paths['/api/things/{id}']?.['get']?.security?.some(each => Object.keys(each).length === 0))
  t.deepEqual(paths['/healthz']?.['get']?.security, [])
})

test('shared parts are components: errors, and parameters in their most frequent form', async t => {
  const { paths, components } = await made()
  t.deepEqual(paths['/api/things/{id}']?.['get']?.responses['404'], { $ref: '#/components/responses/NotFound' } as object)
  t.deepEqual(paths['/api/things/{id}']?.['put']?.parameters, [{ $ref: '#/components/parameters/path.id' } as never])
  t.deepEqual(components.parameters?.['path.id'], {
    name: 'id',
    in: 'path',
    required: true,
    description: 'An id: 24 lower-case hex digits',
    schema: { type: 'string', pattern: '^[0-9a-f]{24}$' },
  })
  t.deepEqual(components.responses?.['NotFound'], {
    description: 'Not Found',
    content: {
      'application/json': { schema: { $ref: '#/components/schemas/Problem' } },
      'application/problem+json': { schema: { $ref: '#/components/schemas/ProblemDetails' } },
    },
  })
})

test('an alias refers to its route, and repeated parts are shared', async t => {
  const { paths, components } = await made()
  const [first, second] = ['/api/done/first', '/api/done/second'].map(path => paths[path]?.['post'])
  t.is(paths['/api/done/other']?.['post']?.description, 'Alias of `POST /api/done/first`.')
  t.deepEqual(first?.responses['200'], { $ref: '#/components/responses/Done' } as object)
  t.deepEqual(first?.responses['200'], second?.responses['200'])
  t.deepEqual(first?.requestBody, { $ref: '#/components/requestBodies/doFirst' } as object)
  const { Done: done = {}, What: part = {} } = components['schemas'] as Readonly<Record<string, object>>
  t.deepEqual(['example' in done, 'example' in part], [true, false])
})

test('relayed responses have any status and type, and no client is generated for them', async t => {
  const relay = (await document()).paths['/api/relay']?.['get']
  t.deepEqual(Object.keys(relay?.responses ?? {}), ['2XX', '4XX', 'default'])
  t.deepEqual(Object.keys(relay?.responses['default']?.content ?? {}), [
    ...['application/json', 'application/problem+json'],
    ...['application/octet-stream', '*/*'],
  ])
  t.like(relay, { 'x-internal': true })
})

test('declared parts of a form are typed, files as binary, and additional parts are allowed', async t => {
  const { paths } = await document()
  t.deepEqual(paths['/api/things']?.['post']?.requestBody?.content['multipart/form-data']?.schema, {
    type: 'object',
    properties: { File: { type: 'string', format: 'binary' }, title: { type: 'string' } },
    additionalProperties: { type: 'string', format: 'binary' },
  })
})

test('a union of models that differ by a member has a discriminator, including models of loaded plugins', t => {
  const schemas = new OpenapiSchemas()
  const models = { leaf: 'Leaf', root: 'Root', elsewhere: 'Elsewhere' }
  const Root = s.model('Root', s.Object({ part: s.Literal('root') }))
  const union = s.Union([s.otherModel('Leaf'), Root, s.otherModel('Elsewhere')], { [s.discriminator]: { member: 'part', models } })
  t.deepEqual(schemas.of(union), {
    anyOf: ['Leaf', 'Root', 'Elsewhere'].map(name => ({ $ref: `#/components/schemas/${name}` })),
    discriminator: {
      propertyName: 'part',
      mapping: Object.fromEntries(Object.entries(models).map(([value, name]) => [value, `#/components/schemas/${name}`])),
    },
  })
  schemas.of(s.model('Leaf', s.Object({ part: s.Literal('leaf') })))
  schemas.complete()
  t.truthy(schemas.components['Leaf']?.['properties'])
  t.deepEqual(schemas.components['Elsewhere'], { type: 'object' })
})

test('an operation without a description states its required permission', async t => {
  const { paths } = await document()
  t.is(paths['/api/things/{id}']?.['put']?.description, 'Requires EditDataset.')
  t.is(paths['/api/relay']?.['get']?.description, 'Requires an account.')
})

test('an alias is deprecated, and one with a trailing slash is omitted', async t => {
  const { paths } = await made()
  t.like(paths['/api/done/other']?.['post'], { deprecated: true })
  t.false('deprecated' in (paths['/api/done/first']?.['post'] ?? { deprecated: true }))
  t.false('/api/done/first/' in paths)
})

test('refusals of JSON bodies by size and type are in the default response, those of other bodies are listed', async t => {
  const { paths } = await document()
  t.deepEqual(Object.keys(paths['/api/done/second']?.['post']?.responses ?? {}), ['200', '400', '401', '403', '409', 'default'])
  t.true(['413', '415'].every(status => status in (paths['/api/things']?.['post']?.responses ?? {})))
})

test('a model is always a component', t => {
  const schemas = new OpenapiSchemas()
  const Leaf = s.model('Leaf', s.Object({ id: s.id(), name: s.String() }), { id: '5b2a1c8e4f0c2d3a6b7e9f10', name: 'Oak' })
  const reference = { $ref: '#/components/schemas/Leaf' }
  t.deepEqual(schemas.of(s.Array(Leaf)), { type: 'array', items: reference })
  t.deepEqual(schemas.of(s.Object({ leaf: s.Optional(Leaf) })), { type: 'object', properties: { leaf: reference } })
  t.deepEqual(schemas.of(s.Union([Leaf, s.Null()], { description: 'x' })), {
    description: 'x',
    anyOf: [reference, { type: 'string', nullable: true, enum: [null] }],
  })
  t.deepEqual(schemas.of(s.Union([Leaf, s.Null()])), { anyOf: [reference, { type: 'string', nullable: true, enum: [null] }] })
  t.deepEqual(schemas.components['Leaf'], {
    type: 'object',
    required: ['id', 'name'],
    properties: {
      id: { type: 'string', pattern: '^[0-9a-f]{24}$' },
      name: { type: 'string' },
    },
    example: { id: '5b2a1c8e4f0c2d3a6b7e9f10', name: 'Oak' },
  })
})

test('a name belongs to one model', t => {
  const schemas = new OpenapiSchemas()
  const named = (schema: s.TSchema) => schemas.of(s.model('Leaf', schema))
  named(s.Object({ id: s.id() }))
  t.deepEqual(named(s.Object({ id: s.id() })), { $ref: '#/components/schemas/Leaf' })
  t.throws(() => named(s.Object({ id: s.String() })), { message: 'Two different schemas are models named Leaf' })
})

test('schemas are converted to OpenAPI 3.0', t => {
  const schemas = new OpenapiSchemas()
  t.deepEqual(schemas.of({ const: 'a' }), { enum: ['a'], type: 'string' })
  t.deepEqual(schemas.of({ anyOf: [{ const: 'a' }, { const: 'b' }, { type: 'null' }] }), {
    enum: ['a', 'b', null],
    type: 'string',
    nullable: true,
  })
  t.deepEqual(schemas.of({ anyOf: [{ enum: ['a'] }, { type: 'null' }] }), { enum: ['a', null], type: 'string', nullable: true })
  t.deepEqual(schemas.of(s.Union([s.Union([s.String(), s.Integer()]), s.Null()])), {
    anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'string', nullable: true, enum: [null] }],
  })
  t.deepEqual(schemas.of({ type: ['string', 'null'], description: 'x' }), { type: 'string', nullable: true, description: 'x' })
  t.deepEqual(schemas.of({ type: 'object', patternProperties: { '^.*$': { type: 'number' } } }), {
    type: 'object',
    additionalProperties: { type: 'number' },
  })
  t.deepEqual(schemas.of({ type: 'integer', exclusiveMinimum: 0, 'x-repeated': true, secret: true }), {
    type: 'integer',
    minimum: 0,
    exclusiveMinimum: true,
  })
  t.deepEqual(schemas.of(nested), { $ref: '#/components/schemas/Node' })
  t.deepEqual(schemas.components['Node'], {
    type: 'object',
    required: ['name', 'children'],
    properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/components/schemas/Node' } } },
  })
})
