import type { ValidateFunction } from 'ajv'
import type { s } from 'pounce/sdk'
import { coercion } from './coercion.ts'
import { faultMessage } from './fault-message.ts'
import type { Declaration } from './mount.ts'
import { idPattern, type SchemaShape } from './schema-shape.ts'
import { compileSchema } from './schemas.ts'
import { type Strip, stripping } from './stripping.ts'

/** What was wrong with an input. */
export interface Fault {
  readonly message: string
  /** The name of the member, when it was an id without the form of one. */
  readonly idName?: string
}

type Values = Readonly<Record<string, unknown>>
type Texts = Readonly<Record<string, string | readonly string[] | undefined>>

/** The result of a check: the value as a handler gets it, or what is wrong. */
export interface Checked<T> {
  readonly value: T
  readonly fault?: Fault
}

/** The compiled schemas of one route. */
export interface RouteChecks {
  params(texts: Texts): Checked<Values>
  query(texts: Texts): Checked<Values>
  /** Checks and takes away what the schema does not know, in place. */
  body(value: unknown): Checked<unknown>
  /** What is wrong with an answer, when something is. */
  reply(status: number, body: unknown): string | undefined
}

const nothing: Values = Object.freeze({})

/** Compiles the schemas of a route, each when it is first used. */
export const routeChecks = (declaration: Declaration): RouteChecks => {
  const replies = new Map<number, ValidateFunction>()
  return {
    params: texts(declaration.params),
    query: texts(declaration.query),
    body: bodyCheck(declaration.body),
    reply(status, body) {
      const schema: s.TSchema | undefined = declaration.responses[status]
      if (!schema) return `status ${status} is not declared`
      let validate = replies.get(status)
      if (!validate) {
        validate = compileSchema(schema)
        replies.set(status, validate)
      }
      return validate(body) ? undefined : faultMessage(validate.errors ?? [], 'the body')
    },
  }
}

const texts = (schema: s.TSchema | undefined): ((given: Texts) => Checked<Values>) => {
  if (!schema) return () => ({ value: nothing })
  const coerce = coercion(schema)
  const validate = compileSchema(schema)
  return given => {
    const value = coerce(given)
    return validate(value) ? { value } : { value, fault: faultOf(validate) }
  }
}

const faultOf = (validate: ValidateFunction): Fault => {
  const errors = validate.errors ?? []
  const error = errors.at(-1)
  const message = faultMessage(errors, 'The request')
  const isId = error?.keyword === 'pattern' && error.params['pattern'] === idPattern
  return isId ? { message, idName: error.instancePath.split('/')[1] ?? 'id' } : { message }
}

const bodyCheck = (body: unknown): ((value: unknown) => Checked<unknown>) => {
  if (!isSchema(body)) return value => ({ value })
  let validate: ValidateFunction | undefined
  let strip: Strip | undefined
  return value => {
    if (!validate) {
      validate = compileSchema(body)
      strip = stripping(body as SchemaShape)
    }
    if (!validate(value)) return { value, fault: { message: faultMessage(validate.errors ?? [], 'The body') } }
    strip?.(value)
    return { value }
  }
}

/** True of a body that is JSON, not parts or bytes. */
export const isSchema = (body: unknown): body is s.TSchema =>
  typeof body === 'object' && body !== null && !('multipart' in body) && !('byteBody' in body)
