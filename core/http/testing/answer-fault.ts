import type { ValidateFunction } from 'ajv'
import { parse as parseContentType } from 'content-type'
import type { SchemaShape } from '../../json-schema.ts'
import { compileSchema, faultMessage } from '../../json-schema.ts'
import { answersOf, commonRefusals, contentOf, problemDetailsSchema, problemSchema, refusalsOf } from '../../openapi/declared-answers.ts'
import type { Declaration } from '../router.ts'

/** A response as received by the client. */
export interface SentAnswer {
  readonly method: string
  readonly status: number
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, unknown>>
  /** Decompressed; absent if it is too long to be checked. */
  readonly body: Buffer | undefined
  /** The declaration of the matched route; absent if none matched. */
  readonly declaration: Declaration | undefined
}

/** Statuses of refusals without a matching route. */
const unrouted: ReadonlySet<number> = new Set([...commonRefusals, 404, 405])

/** Redirects from paths with a trailing slash. */
const slashRedirects: ReadonlySet<number> = new Set([301, 308])

/** Describes how a response differs from its route's declaration; undefined if it matches. */
export const answerFault = (answer: SentAnswer): string | undefined => {
  const { method, status, declaration } = answer
  if (method === 'OPTIONS' && status === 200) return bodyFault(answer, {})
  if (!declaration && slashRedirects.has(status)) return bodyFault(answer, {})
  if (!declaration) return unrouted.has(status) ? problemFault(answer) : `the status ${status} is for routes only`
  const declared = answersOf(declaration)[status]
  // HEAD on a route with effects is refused like an unknown method.
  const isRefusal = knownRefusals(declaration).has(status) || commonRefusals.has(status) || (method === 'HEAD' && status === 405)
  if (!declared) return isRefusal ? problemFault(answer) : `the status ${status} is not declared`
  const fault = bodyFault(answer, contentOf(declared))
  return fault !== undefined && isRefusal && problemFault(answer) === undefined ? undefined : fault
}

const refusals = new WeakMap<Declaration, ReadonlySet<number>>()

/** Cached, because reading the statuses of problems means constructing each of them. */
const knownRefusals = (declaration: Declaration): ReadonlySet<number> => {
  const known = refusals.get(declaration) ?? refusalsOf(declaration)
  refusals.set(declaration, known)
  return known
}

const problems = { 'application/json': problemSchema, 'application/problem+json': problemDetailsSchema }

const problemFault = (answer: SentAnswer): string | undefined => {
  const fault = bodyFault(answer, problems as Readonly<Record<string, SchemaShape>>)
  if (fault !== undefined) return `as a problem, ${fault}`
  const value = jsonOf(answer) as { readonly requestId?: unknown } | undefined
  return value && value.requestId !== answer.headers['x-request-id'] ? 'the requestId is not the X-Request-Id' : undefined
}

const bodyFault = (answer: SentAnswer, content: Readonly<Record<string, SchemaShape>>): string | undefined => {
  const { method, headers, body } = answer
  const declared = Object.keys(content)
  const hasBody = method !== 'HEAD' && body?.length !== 0
  if (declared.length === 0) return hasBody ? 'it has a body and none is declared' : undefined
  const { type } = parseContentType(String(headers['content-type'] ?? ''))
  const schema = content[type] ?? content['*/*']
  if (!schema) return `its media type is ${type || 'missing'}, not ${declared.join(' or ')}`
  if (method === 'HEAD' || body === undefined) return undefined
  if (schema['x-body'] === 'bytes' || schema['x-body'] === 'text') return undefined
  if (!hasBody) return 'it has no body'
  if (type === 'text/event-stream') return eventFault(body.toString(), compiled(schema))
  const validate = compiled(schema)
  return validate(jsonOf(answer)) ? undefined : faultMessage(validate.errors ?? [], 'the body')
}

/** The first invalid data of server-sent events; the last event may be truncated. */
const eventFault = (text: string, validate: ValidateFunction): string | undefined => {
  const blocks = text.split('\n\n').slice(0, -1)
  for (const block of blocks) {
    const data = block.split('\n').flatMap(line => (line.startsWith('data: ') ? [line.slice('data: '.length)] : []))
    if (data.length > 0 && !validate(JSON.parse(data.join('\n')))) return faultMessage(validate.errors ?? [], 'the data of an event')
  }
  return undefined
}

const jsonOf = ({ method, body }: SentAnswer): unknown => (method === 'HEAD' || !body?.length ? undefined : JSON.parse(body.toString()))

const validators = new WeakMap<SchemaShape, ValidateFunction>()

const compiled = (schema: SchemaShape): ValidateFunction => {
  const known = validators.get(schema) ?? compileSchema(schema as never)
  validators.set(schema, known)
  return known
}

// Loads the compiler before a server starts, not during its first requests.
for (const schema of Object.values(problems)) compiled(schema as SchemaShape)
