import { type Problem, s } from 'pounce/sdk'
import { namesResources } from '../http/authorize.ts'
import type { Declaration } from '../http/router.ts'
import { isSchema } from '../http/validate.ts'
import { idPattern, type SchemaShape } from '../json-schema.ts'

/** The error format of existing clients. */
export const problemSchema = s.model(
  'Problem',
  s.Object({
    status: s.Literal('error'),
    message: s.String({ description: 'Human-readable message: the problem and the remedy' }),
    code: s.String({ description: 'Stable, machine-readable code' }),
    requestId: s.String({ description: 'Request id, as in the server log' }),
  }),
  { status: 'error', message: 'Dataset not found or not accessible', code: 'not-found', requestId: '3f1c9ab27d' },
)

/** The error format `application/problem+json`. */
export const problemDetailsSchema = s.model(
  'ProblemDetails',
  s.Object(
    {
      type: s.String(),
      title: s.String(),
      status: s.Integer(),
      detail: s.String(),
      code: s.String(),
      requestId: s.String(),
    },
    { description: 'Problem details (RFC 9457), sent for Accept: application/problem+json' },
  ),
  {
    type: 'about:blank',
    title: 'Not Found',
    status: 404,
    detail: 'Dataset not found or not accessible',
    code: 'not-found',
    requestId: '3f1c9ab27d',
  },
)

/**
 * Statuses that any path may return: for malformed, slow, misdirected or excess requests, and for errors of the server itself.
 * They are covered by OpenAPI's `default` response.
 */
export const commonRefusals: ReadonlySet<number> = new Set([400, 408, 421, 429, 431, 500, 503, 507])

/** The error statuses of a route that follow from its declaration: rights, input, cost class and `throws`. */
export const refusalsOf = (declaration: Declaration): ReadonlySet<number> => {
  const { permission, params, query, body, cost, responses, ignoresCredentials, throws = [] } = declaration
  const found = new Set<number>(throws.map(statusOf))
  // Invalid credentials are refused on all routes, and so are signed-in callers who have not accepted the terms of service.
  if (permission !== 'anyone' || !ignoresCredentials) found.add(401).add(403)
  if (params || namesResources(declaration) || namesThings(query)) found.add(404)
  if (query || body) found.add(400)
  if (body) found.add(413).add(415)
  if (cost !== undefined) found.add(429)
  // Concurrent changes and resources in the trash cause a conflict.
  if (isChange(declaration)) found.add(403).add(409)
  if (isBytes(responses[200])) found.add(403).add(412).add(416)
  return found
}

/** The error statuses listed in the operation: 413 and 415 of JSON bodies are covered by OpenAPI's `default` response. */
export const listedRefusals = (declaration: Declaration): readonly number[] =>
  [...refusalsOf(declaration)].filter(status => !isSchema(declaration.body) || (status !== 413 && status !== 415))

/** The responses of a route without errors, by status. Byte responses add ranges, redirects and 304, JSON responses to GET 304. */
export const answersOf = ({ method, headers, responses }: Declaration): Readonly<Record<string, SchemaShape>> => {
  const whole: SchemaShape | undefined = responses[200]
  if (!whole) return responses
  if (isBytes(whole)) return { 206: whole, 302: s.empty(), 304: s.empty(), ...responses }
  const isJson = whole['x-body'] === undefined || whole['x-body'] === 'rows'
  const hasTag = method === 'GET' && isJson && headers?.['cache-control'] !== 'no-store'
  return hasTag ? { 304: s.empty(), ...responses } : responses
}

/** The media types of a response with their schemas; empty for a response without a body. */
export const contentOf = (schema: SchemaShape): Readonly<Record<string, SchemaShape>> => {
  switch (schema['x-body']) {
    case 'empty':
      return {}
    case 'text':
      return { 'text/plain': schema }
    case 'bytes':
    case 'events':
      return schema['x-content'] ?? { '*/*': schema }
    default:
      return schema['x-content'] ?? { 'application/json': schema }
  }
}

const isBytes = (schema: SchemaShape | undefined): boolean => schema?.['x-body'] === 'bytes'

/** Whether one of the parameters is an id. */
const namesThings = (query: SchemaShape | undefined): boolean => Object.values(query?.properties ?? {}).some(isOfIds)

const isOfIds = ({ pattern, anyOf = [], items }: SchemaShape): boolean =>
  pattern === idPattern || anyOf.some(isOfIds) || (items !== undefined && !Array.isArray(items) && isOfIds(items as SchemaShape))

const isChange = ({ method, effects }: Declaration): boolean => method !== 'GET' || effects !== undefined

/** A problem's status is set by its constructor. */
const statusOf = (problemClass: new (...args: never[]) => Problem): number => Reflect.construct(problemClass, ['']).status
