import type { Installation } from 'pounce/sdk'
import { cookieName, type MultipartBody, readingPermissions, sessionCookie } from 'pounce/sdk/kit'
import { rightOf } from '../http/authorize.ts'
import { isByteBody } from '../http/body.ts'
import type { Address, Declaration, RegisteredRoute } from '../http/router.ts'
import { parameterNames, shapeOf } from '../http/router.ts'
import type { SchemaShape } from '../json-schema.ts'
import { answersOf, contentOf, listedRefusals, problemDetailsSchema, problemSchema, refusalsOf } from './declared-answers.ts'
import { exampleOf } from './examples.ts'
import {
  type Members,
  modelsIn,
  type OpenapiSchema,
  OpenapiSchemas,
  type Shareable,
  SharedResponses,
  shareParameters,
  shareRepeated,
} from './openapi-schema.ts'
import { about } from './tags.ts'

const securitySchemes = (baseUrl: string) => ({
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'API key of an account' },
  apiKeyInQuery: {
    type: 'apiKey',
    in: 'query',
    name: 'key',
    description: 'API key in the query, as in Clowder 1.x. Prefer the header',
  },
  basic: { type: 'http', scheme: 'basic', description: 'Email address and password of a local account' },
  bearer: { type: 'http', scheme: 'bearer', description: 'Token of a configured OpenID Connect provider' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: cookieName(sessionCookie, baseUrl),
    description: 'Browser session. Changes must come from a page of this server',
  },
})

const signedIn = ['apiKey', 'apiKeyInQuery', 'basic', 'bearer', 'session'].map(name => ({ [name]: [] }))

/** Creates the OpenAPI 3.0.1 document. Aliases of a route are separate operations, named after it. */
export const openapiDocument = (
  routes: readonly RegisteredRoute[],
  { version, baseUrl }: Pick<Installation, 'version' | 'baseUrl'>,
): object => {
  const schemas = new OpenapiSchemas()
  for (const problem of [problemSchema, problemDetailsSchema]) schemas.of(problem)
  const parts = { schemas, responses: new SharedResponses() }
  const paths = new Paths()
  for (const route of routes) {
    shownAddresses(route).forEach((address, at) => {
      const { item, names } = paths.at(address)
      item[address.method.toLowerCase()] = operation(route, at, names, parts)
    })
  }
  schemas.complete()
  const operations = Object.values(paths.items).flatMap(item => Object.values(item) as Members[])
  keepExamples(operations, parts)
  const requestBodies = shareRepeated('requestBodies', operations.flatMap(bodyOf), new Set())
  const answers = shareRepeated('responses', operations.flatMap(answersIn), new Set(Object.keys(parts.responses.components)))
  return {
    openapi: '3.0.1',
    info: {
      title: 'Pounce',
      version,
      description:
        'Research data: spaces, collections, datasets, folders and files, with metadata, extractors and search. Speaks the Clowder 1.x API.',
      contact: { name: 'The administrators of this server' },
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: baseUrl || '/' }],
    tags: [...new Set(routes.map(route => route.group))].sort().map(name => ({ name, ...about(name) })),
    // The default for all operations.
    security: signedIn,
    paths: paths.items,
    components: {
      schemas: sorted(schemas.components),
      parameters: sorted(shareParameters(operations)),
      requestBodies: sorted(requestBodies),
      responses: sorted({ ...parts.responses.components, ...answers }),
      securitySchemes: securitySchemes(baseUrl),
    },
  }
}

/** Omits further addresses of a page, which programs do not need, and paths with a trailing slash, which OpenAPI treats as duplicates. */
const shownAddresses = ({ declaration, addresses }: RegisteredRoute): readonly Address[] =>
  isPage(declaration) ? addresses.slice(0, 1) : addresses.filter(({ path }, at) => at === 0 || path !== `${declaration.path}/`)

const isPage = (declaration: Declaration): boolean => Object.keys(contentOf(answersOf(declaration)['200'] ?? {})).join() === 'text/html'

const sorted = <T>(components: Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(components).sort(([one], [other]) => (one < other ? -1 : 1)))

interface Media {
  readonly content?: Readonly<Record<string, { readonly schema: OpenapiSchema }>>
}

/** Removes the examples of models that are only nested in others, because the outer example includes them. */
const keepExamples = (operations: readonly Members[], { schemas: { components }, responses }: Parts): void => {
  const media = [
    ...operations.flatMap(each => [each['requestBody'], ...Object.values(each['responses'] as Members)]),
    ...Object.values(responses.components),
  ] as readonly (Media | undefined)[]
  const schemas = media.flatMap(each => Object.values(each?.content ?? {})).map(({ schema }) => schema)
  const shown = new Set(schemas.flatMap(schema => [...modelsIn(schema, components)]))
  for (const [name, { example: _, ...model }] of Object.entries(components)) if (!shown.has(name)) components[name] = model
}

const bodyOf = (operation: Members): readonly Shareable[] =>
  operation['requestBody'] === undefined ? [] : [{ holder: operation, key: 'requestBody', name: String(operation['operationId']) }]

/** The responses of an operation that are not references yet. */
const answersIn = (operation: Members): readonly Shareable[] => {
  const holder = operation['responses'] as Members
  return Object.entries(holder).flatMap(([status, response]) =>
    '$ref' in (response as Members) ? [] : [{ holder, key: status, name: answerName(status, response as Media, operation) }],
  )
}

/** The name of the response's model, or of its list items; otherwise that of the operation. */
const answerName = (status: string, { content = {} }: Media, operation: Members): string => {
  const [media, ...others] = Object.entries(content)
  const [model] = media?.[0] === 'application/json' && others.length === 0 && status === '200' ? modelsIn(media[1].schema, {}) : []
  const isList = media?.[1].schema['type'] === 'array'
  const isModel = media !== undefined && (isList ? '$ref' in (media[1].schema['items'] as object) : '$ref' in media[1].schema)
  return model === undefined || !isModel ? `${operation['operationId']}.${status}` : `${model}${isList ? 'List' : ''}`
}

interface Parts {
  readonly schemas: OpenapiSchemas
  readonly responses: SharedResponses
}

/** Path items. OpenAPI treats paths that differ only in parameter names as identical, so the first path's names are used. */
class Paths {
  readonly items: Record<string, Members> = {}
  readonly #byShape = new Map<string, { readonly template: string; readonly names: readonly string[] }>()

  at({ path }: Address): { item: Members; names: ReadonlyMap<string, string> } {
    const shape = shapeOf(path)
    const own = parameterNames(path)
    const known = this.#byShape.get(shape) ?? { template: path.replaceAll(/:(\w+)\*?/g, '{$1}'), names: own }
    this.#byShape.set(shape, known)
    const item = this.items[known.template] ?? {}
    this.items[known.template] = item
    return { item, names: new Map(own.map((name, index) => [name, known.names[index] ?? name])) }
  }
}

const operation = (route: RegisteredRoute, alias: number, names: ReadonlyMap<string, string>, parts: Parts): Members => {
  const { schemas } = parts
  const { declaration, name, group } = route
  const { summary, description, effects, permission, body } = declaration
  const main = `${declaration.method} ${declaration.path}`
  const text = [description, effects && `Side effect: ${effects}.`].filter(Boolean).join('\n\n')
  const own = [...parameters('path', declaration.params, schemas, names), ...parameters('query', declaration.query, schemas)]
  return {
    operationId: alias === 0 ? name : `${name}Alias${alias}`,
    tags: [group],
    summary,
    description: alias > 0 ? `Alias of \`${main}\`.` : text || needOf(declaration),
    ...(alias > 0 ? { deprecated: true } : {}),
    // Client generators omit internal operations: relayed calls need no generated client.
    ...(isRelay(declaration) ? { 'x-internal': true } : {}),
    'x-permission': rightOf(declaration) ?? permission,
    ...(declaration.beforeTerms ? { 'x-before-terms': true } : {}),
    ...(declaration.beforeEnrolment ? { 'x-before-enrolment': true } : {}),
    ...(takesStepUp(declaration) ? { 'x-step-up': true } : {}),
    ...security(declaration),
    ...(own.length > 0 ? { parameters: own } : {}),
    ...(body === undefined ? {} : { requestBody: requestBody(body, schemas) }),
    responses: responses(declaration, parts),
  }
}

/** The required permission, for routes without a description. */
const needOf = (declaration: Declaration): string => {
  const { permission } = declaration
  if (permission === 'anyone') return 'Open to everyone.'
  if (permission === 'reader') return 'Requires an account on a private server.'
  if (permission === 'signedIn') return 'Requires an account.'
  return permission === 'serverAdmin' ? 'Requires a server admin.' : `Requires ${rightOf(declaration)}.`
}

/** Whether the route requires step-up, for a caller who is not in superadmin mode. */
const takesStepUp = ({ stepUp, permission, method, effects }: Declaration): boolean =>
  stepUp ?? (permission === 'serverAdmin' && (method !== 'GET' || effects !== undefined))

const security = (declaration: Declaration): Members => {
  const { permission, ignoresCredentials } = declaration
  if (ignoresCredentials) return { security: [] }
  const isOpen = permission === 'anyone' || permission === 'reader' || readingPermissions.has(rightOf(declaration) as never)
  return isOpen ? { security: [...signedIn, {}] } : {}
}

const parameters = (
  place: 'path' | 'query',
  schema: SchemaShape | undefined,
  schemas: OpenapiSchemas,
  names?: ReadonlyMap<string, string>,
): Members[] => {
  const { properties = {}, required = [] } = schema ?? {}
  return Object.entries(properties).map(([name, member]) => {
    const { description, ...rest } = schemas.of(member)
    const isRequired = place === 'path' || (required.includes(name) && member.default === undefined)
    return {
      name: names?.get(name) ?? name,
      in: place,
      ...(isRequired ? { required: true } : {}),
      ...(description === undefined ? {} : { description }),
      schema: rest,
    }
  })
}

const formOf = (parts: NonNullable<MultipartBody['parts']>): Members => {
  const properties = Object.fromEntries(
    Object.entries(parts).map(([name, kind]) => [name, { type: 'string', ...(kind === 'file' ? { format: 'binary' } : {}) }]),
  )
  // Additional parts: files with any name, and their descriptions.
  return {
    type: 'object',
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    additionalProperties: { type: 'string', format: 'binary' },
  }
}

const requestBody = (body: unknown, schemas: OpenapiSchemas): Members => {
  if (typeof body === 'object' && body !== null && 'multipart' in body) {
    const { summary, parts = {} } = body as unknown as MultipartBody
    return { required: true, description: summary, content: { 'multipart/form-data': { schema: formOf(parts) } } }
  }
  if (isByteBody(body)) {
    const schema = { type: 'string', format: 'binary' }
    return {
      required: !body.isOptional,
      description: body.summary,
      content: Object.fromEntries((body.takes ?? [body.contentType ?? 'application/octet-stream']).map(type => [type, { schema }])),
    }
  }
  const schema = schemas.of(body)
  const example = '$ref' in schema ? undefined : exampleOf(body as SchemaShape)
  const needed = isNeeded(body as SchemaShape) ? { required: true } : {}
  return { ...needed, content: { 'application/json': { schema, ...(example === undefined ? {} : { example }) } } }
}

/** Whether the body is required: a missing body is read as `{}`. */
const isNeeded = ({ required, properties }: SchemaShape): boolean =>
  required?.some(name => properties?.[name]?.default === undefined) ?? false

/** A route with at least this many statuses of any media type relays another server's responses. */
const maxListed = 4

const isRelay = (declaration: Declaration): boolean =>
  Object.values(declaration.responses as Readonly<Record<string, SchemaShape>>).filter(schema => '*/*' in contentOf(schema)).length >=
  maxListed

/**
 * Each event of a stream. Its data is JSON of the given schema; OpenAPI 3.0 cannot describe text that contains JSON, so tools may treat it as text or as
 * parsed.
 */
const streamedEvent = (data: OpenapiSchema): OpenapiSchema => ({
  type: 'object',
  properties: {
    id: { type: 'string', description: 'Send the last one as `Last-Event-ID` to resume' },
    event: { type: 'string' },
    data: { description: 'JSON text', anyOf: [{ type: 'string' }, data] },
    retry: { type: 'integer', description: 'Milliseconds before a reconnection' },
  },
})

const responses = (declaration: Declaration, { schemas, responses: shared }: Parts): Members => {
  if (isRelay(declaration)) return shared.relayed()
  const found: Record<string, unknown> = {}
  const refusals = refusalsOf(declaration)
  for (const [status, schema] of Object.entries(answersOf(declaration))) {
    const shown = (each: SchemaShape): OpenapiSchema => (schema['x-body'] === 'events' ? streamedEvent(schemas.of(each)) : schemas.of(each))
    const own = Object.fromEntries(Object.entries(contentOf(schema)).map(([type, each]) => [type, { schema: shown(each) }]))
    if (refusals.has(Number(status))) found[status] = shared.refusal(status, own)
    else found[status] = shared.answer(status, own)
  }
  const refused = listedRefusals(declaration)
  // Any route may refuse a malformed request.
  for (const status of refused.length > 0 ? refused : [400]) found[status] ??= shared.refusal(`${status}`, {})
  found['default'] = shared.otherRefusal()
  return found
}
