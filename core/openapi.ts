import { type Installation, type Problem, readingPermissions } from 'pounce/sdk'
import { sessionCookie } from './http/credentials.ts'
import { http } from './http/lean-modules.ts'
import type { Address, Declaration, Mount } from './http/mount.ts'
import { parameterNames, shapeOf } from './http/paths.ts'
import type { SchemaShape } from './http/schema-shape.ts'
import { isByteBody } from './http/sent-body.ts'
import { OpenapiSchemas } from './openapi-schema.ts'

type Members = Record<string, unknown>

const securitySchemes = {
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'A key of an account' },
  apiKeyInQuery: {
    type: 'apiKey',
    in: 'query',
    name: 'key',
    description: 'A key of an account, as Clowder 1.x takes it. Prefer the header',
  },
  basic: { type: 'http', scheme: 'basic', description: 'E-mail address and password of a local account' },
  bearer: { type: 'http', scheme: 'bearer', description: 'A token of a configured OpenID Connect provider' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: sessionCookie,
    description: 'The session of a browser. Changes must come from a page of this server',
  },
}

const signedIn = Object.keys(securitySchemes).map(name => ({ [name]: [] }))

const text = { type: 'string' }
const problem = {
  type: 'object',
  required: ['status', 'message', 'code', 'requestId'],
  properties: {
    status: { ...text, example: 'error' },
    message: { ...text, description: 'For people: what was wrong and what would be right' },
    code: { ...text, description: 'For programs: stable', example: 'not-found' },
    requestId: { ...text, description: 'Names the request in the log of the server' },
  },
}
const problemDetails = {
  type: 'object',
  description: 'RFC 9457; sent when asked for with Accept: application/problem+json',
  properties: { type: text, title: text, status: { type: 'integer' }, detail: text, code: text, requestId: text },
}

/** The OpenAPI 3.0.1 document of routes. Aliases of a route are operations of their own, named after it. */
export const openapiDocument = (mounts: readonly Mount[], { version, baseUrl }: Pick<Installation, 'version' | 'baseUrl'>): object => {
  const schemas = new OpenapiSchemas()
  const paths = new Paths()
  for (const mount of mounts) {
    mount.addresses.forEach((address, at) => {
      const { item, names } = paths.at(address)
      item[address.method.toLowerCase()] = operation(mount, at, names, schemas)
    })
  }
  return {
    openapi: '3.0.1',
    info: {
      title: 'Pounce',
      version,
      description:
        'Research data: spaces, collections, datasets, folders and files, with metadata, extractors and search. Speaks the Clowder 1.x API.',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: baseUrl || '/' }],
    tags: [...new Set(mounts.map(mount => mount.group))].sort().map(name => ({ name })),
    paths: paths.items,
    components: { schemas: { Problem: problem, ProblemDetails: problemDetails, ...schemas.components }, securitySchemes },
  }
}

/** Path items. There, paths that differ in the names of parameters only are the same: the first one's names count. */
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

const operation = (mount: Mount, alias: number, names: ReadonlyMap<string, string>, schemas: OpenapiSchemas): Members => {
  const { declaration, name, group } = mount
  const { summary, description, effects, permission, body } = declaration
  const main = `${declaration.method} ${declaration.path}`
  const about = [description, effects && `Has effects: ${effects}.`, alias > 0 && `Another address of \`${main}\`.`]
    .filter(Boolean)
    .join('\n\n')
  return {
    operationId: alias === 0 ? name : `${name}Alias${alias}`,
    tags: [group],
    summary,
    ...(about ? { description: about } : {}),
    'x-permission': permission,
    ...(declaration.beforeTerms ? { 'x-before-terms': true } : {}),
    security: security(declaration),
    parameters: [...parameters('path', declaration.params, schemas, names), ...parameters('query', declaration.query, schemas)],
    ...(body === undefined ? {} : { requestBody: requestBody(body, schemas) }),
    responses: responses(declaration, schemas),
  }
}

const security = ({ permission, ignoresCredentials }: Declaration): readonly object[] => {
  if (ignoresCredentials) return []
  const isOpen = permission === 'anyone' || permission === 'reader' || readingPermissions.has(permission as never)
  return isOpen ? [...signedIn, {}] : signedIn
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

const requestBody = (body: unknown, schemas: OpenapiSchemas): Members => {
  if (typeof body === 'object' && body !== null && 'multipart' in body) {
    const schema = { type: 'object', additionalProperties: { type: 'string', format: 'binary' } }
    return { required: true, description: String((body as { summary?: unknown }).summary), content: { 'multipart/form-data': { schema } } }
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
  return { ...('required' in schema ? { required: true } : {}), content: { 'application/json': { schema } } }
}

const responses = (declaration: Declaration, schemas: OpenapiSchemas): Members => {
  const found: Record<string, unknown> = {}
  for (const [status, schema] of Object.entries(declaration.responses)) {
    const content = contentOf(schema as SchemaShape, schemas)
    found[status] = { description: http.STATUS_CODES[status] ?? 'Answer', ...(content ? { content } : {}) }
  }
  for (const status of refusals(declaration)) found[status] ??= refusal(http.STATUS_CODES[status] ?? 'Refused')
  found['default'] = refusal('Any other refusal, such as a store that is away (503) or full (507)')
  return found
}

const contentOf = (schema: SchemaShape, schemas: OpenapiSchemas): Members | undefined => {
  switch (schema['x-body']) {
    case 'empty':
      return undefined
    case 'text':
      return { 'text/plain': { schema: schemas.of(schema) } }
    case 'bytes':
      return { '*/*': { schema: schemas.of(schema) } }
    default:
      return { 'application/json': { schema: schemas.of(schema) } }
  }
}

const refusals = ({ permission, params, query, body, ignoresCredentials, beforeTerms, throws = [] }: Declaration): readonly number[] => {
  const found = new Set<number>(throws.map(statusOf))
  if (permission !== 'anyone') found.add(401).add(403)
  // The terms of service hold for everybody who says who they are.
  if (!ignoresCredentials && !beforeTerms) found.add(403)
  if (params) found.add(404)
  if (query || body) found.add(400)
  if (body) found.add(413).add(415)
  return [...found].sort()
}

/** A problem's status is set by its constructor. */
const statusOf = (problemClass: new (...args: never[]) => Problem): number => Reflect.construct(problemClass, ['']).status

const refusal = (description: string): Members => ({
  description,
  content: {
    'application/json': { schema: { $ref: '#/components/schemas/Problem' } },
    'application/problem+json': { schema: { $ref: '#/components/schemas/ProblemDetails' } },
  },
})
