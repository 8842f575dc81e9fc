import type { ValidateFunction } from 'ajv'
import { Invalid, NotFound, type Ref, s } from 'pounce/sdk'
import { compileSchema, faultMessage, idPattern, type SchemaShape, typesOf } from '../json-schema.ts'
import type { RouteAccess } from './authorize.ts'
import { namesResources, refsOf } from './authorize.ts'
import type { Middleware, RawQuery, RequestContext, Values } from './request-context.ts'
import type { Declaration, RegisteredRoute } from './router.ts'

/** An input error. */
export interface InputFault {
  readonly message: string
  /** The name of the member, if it was a malformed id. */
  readonly idName?: string
  /** The kind of resource of that id, if its schema specifies it. */
  readonly kind?: string | undefined
}

/** A validation result: the value as passed to the handler, or the error. */
export interface Checked<T> {
  readonly value: T
  readonly fault?: InputFault
}

/** The compiled schemas of one route. */
export interface RouteChecks {
  params(texts: RawQuery): Checked<Values>
  query(texts: RawQuery): Checked<Values>
  /** Validates, and removes members that the schema does not declare, in place. */
  body(value: unknown): Checked<unknown>
}

const nothing: Values = Object.freeze({})

/** Compiles the schemas of a route, each on first use. */
export const routeChecks = (declaration: Declaration): RouteChecks => ({
  params: texts(declaration.params),
  query: texts(declaration.query),
  body: bodyCheck(declaration.body),
})

const texts = (schema: s.TSchema | undefined): ((given: RawQuery) => Checked<Values>) => {
  if (!schema) return () => ({ value: nothing })
  const coerce = coercion(schema)
  const validate = compileSchema(schema)
  return given => {
    const value = coerce(given)
    return validate(value) ? { value } : { value, fault: faultOf(validate) }
  }
}

const faultOf = (validate: ValidateFunction): InputFault => {
  const errors = validate.errors ?? []
  const error = errors.at(-1)
  const message = faultMessage(errors, 'The request')
  const isId = error?.keyword === 'pattern' && error.params['pattern'] === idPattern
  if (!isId) return { message }
  return { message, idName: error.instancePath.split('/')[1] ?? 'id', kind: (error.parentSchema as SchemaShape)[s.idKind] }
}

const bodyCheck = (body: unknown): ((value: unknown) => Checked<unknown>) => {
  if (!isSchema(body)) return value => ({ value })
  let validate: ValidateFunction | undefined
  let removeUnknown: MemberRemover | undefined
  return value => {
    if (!validate) {
      validate = compileSchema(body)
      removeUnknown = memberRemover(body as SchemaShape)
    }
    if (!validate(value)) return { value, fault: { message: faultMessage(validate.errors ?? [], 'The body') } }
    removeUnknown?.(value)
    return { value }
  }
}

/** Whether a body is declared as JSON, not as parts or bytes. */
export const isSchema = (body: unknown): body is s.TSchema =>
  typeof body === 'object' && body !== null && !('multipart' in body) && !('byteBody' in body)

type Coercer = (text: string) => unknown

const yes = new Set(['true', '1', 'yes', 'on'])
const no = new Set(['false', '0', 'no', 'off'])

/**
 * Converts path or query strings to values of the declared types. Strings that cannot be converted remain strings, which validation
 * refuses. Undeclared names are dropped; for a repeated name that is not a list, the first value is used.
 */
const coercion = (schema: SchemaShape): ((raw: RawQuery) => Record<string, unknown>) => {
  const members = Object.entries(schema.properties ?? {}).map(([name, member]) => ({ name, ...memberOf(member) }))
  return raw => {
    const values: Record<string, unknown> = {}
    for (const { name, isList, skipsEmpty, coerce } of members) {
      const given = raw[name]
      if (given === undefined) continue
      if (isList) {
        const texts = typeof given === 'string' ? [given] : given
        values[name] = texts.map(coerce)
        continue
      }
      const text = typeof given === 'string' ? given : (given[0] ?? '')
      if (text === '' && skipsEmpty) continue
      values[name] = coerce(text)
    }
    return values
  }
}

const memberOf = (schema: SchemaShape): { isList: boolean; skipsEmpty: boolean; coerce: Coercer } => {
  const types = typesOf(schema)
  const isList = types.includes('array')
  const items = Array.isArray(schema.items) ? schema.items[0] : schema.items
  return {
    isList,
    // Forms send empty fields; an empty number or id is treated as absent.
    skipsEmpty: !types.includes('string') || schema.pattern === idPattern,
    coerce: coercerOf(isList && items ? typesOf(items) : types),
  }
}

const coercerOf = (types: readonly string[]): Coercer => {
  const takesNumber = types.includes('number') || types.includes('integer')
  const takesBoolean = types.includes('boolean')
  if (!takesNumber && !takesBoolean) return text => text
  return text => {
    if (takesNumber && /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) return Number(text)
    const word = text.toLowerCase()
    if (takesBoolean && yes.has(word)) return true
    if (takesBoolean && no.has(word)) return false
    return text
  }
}

/** Removes members that the schema does not declare from a value. */
type MemberRemover = (value: unknown) => void

/**
 * Creates the function that removes undeclared members from a validated body, so that they are not stored by accident; undefined if there
 * is nothing to remove. Objects that allow additional members (`additionalProperties`, patterns, open schemas) keep them all.
 */
const memberRemover = (schema: SchemaShape | undefined): MemberRemover | undefined => {
  if (!schema) return undefined
  const branches = branchesOf(schema)
  const objects = branches.filter(branch => branch.properties)
  const ofItems = memberRemover(combined(branches.flatMap(branch => (isItemSchema(branch.items) ? [branch.items] : []))))
  const ofMembers = objects.length > 0 && branches.every(isClosed) ? memberRemoverOf(objects) : undefined
  if (!ofItems && !ofMembers) return undefined
  return value => {
    if (Array.isArray(value)) for (const item of value) ofItems?.(item)
    else if (typeof value === 'object' && value !== null) ofMembers?.(value)
  }
}

const memberRemoverOf = (objects: readonly SchemaShape[]): ((value: object) => void) => {
  const known = new Map<string, MemberRemover | undefined>()
  for (const name of new Set(objects.flatMap(branch => Object.keys(branch.properties ?? {})))) {
    known.set(name, memberRemover(combined(objects.flatMap(branch => branch.properties?.[name] ?? []))))
  }
  return value => {
    const members = value as Record<string, unknown>
    for (const name of Object.keys(members)) {
      if (known.has(name)) known.get(name)?.(members[name])
      else delete members[name]
    }
  }
}

/** All alternatives and parts of a schema, flattened: a name declared in any of them is declared. */
const branchesOf = (schema: SchemaShape): readonly SchemaShape[] => {
  const inner = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])].flatMap(branchesOf)
  return inner.length > 0 ? (schema.properties ? [schema, ...inner] : inner) : [schema]
}

const isClosed = (schema: SchemaShape): boolean =>
  !schema.additionalProperties &&
  !schema.patternProperties &&
  (schema.properties !== undefined || (schema.type !== undefined && schema.type !== 'object') || 'const' in schema || 'enum' in schema)

const combined = (schemas: readonly SchemaShape[]): SchemaShape | undefined => (schemas.length > 1 ? { anyOf: schemas } : schemas[0])

const isItemSchema = (items: SchemaShape['items']): items is SchemaShape => items !== undefined && !Array.isArray(items)

/** Validates path and query parameters, and applies types and defaults. */
export const validateParameters =
  (access: RouteAccess): Middleware =>
  (context, next) => {
    const { request } = context.state
    const { declaration, checks } = request.route as RegisteredRoute
    const params = checks.params(request.pathParams)
    const query = checks.query(request.target.query)
    request.params = params.value
    request.query = query.value
    request.input = namesResources(declaration) ? { ...params.value, ...query.value } : params.value
    return params.fault || query.fault ? refuse(access, request, params, query) : next()
  }

/** An input error must not reveal inaccessible resources, so rights are checked first on all resources that can be determined. */
const refuse = async (access: RouteAccess, request: RequestContext, params: Checked<Values>, query: Checked<Values>): Promise<never> => {
  const { caller, input } = request
  const { declaration, group } = request.route as RegisteredRoute
  if (params.fault) {
    access.requireForWrongInput(declaration, caller, true)
    throw new NotFound(params.fault.kind ?? kindOf(declaration, params.fault.idName ?? 'id', input, group))
  }
  const { permission } = declaration
  const refs = refsOfInvalid({ ...declaration, alsoRequires: [] }, input)
  const named = Object.values(params.value)
  // Resources in the path are checked; those in the invalid query cannot be.
  const known = refs.filter(ref => named.includes(ref.id))
  if (known.length > 0 && typeof permission === 'object')
    await access.require({ ...declaration, permission: { right: permission.right, on: () => known }, alsoRequires: [] }, caller, {})
  else access.requireForWrongInput(declaration, caller)
  const { idName, kind, message } = query.fault ?? { message: 'The query is invalid' }
  throw idName === undefined ? new Invalid(message) : new NotFound(kind ?? kindOf(declaration, idName, input))
}

/** The resources of a request as far as they can be determined: the functions of the route expect valid parameters, and may throw. */
const refsOfInvalid = (declaration: Declaration, input: Values): readonly Ref[] => {
  try {
    return refsOf(declaration, input)
  } catch {
    return []
  }
}

/** `dataset_id` refers to a dataset, `space` to a space. */
const kindNamed = (parameter: string): string => parameter.replace(/_?id$/i, '') || 'resource'

/** The kind of resource of a parameter, from the rights checked on it: a malformed id gets the same response as an unknown one. */
const kindOf = (declaration: Declaration, parameter: string, input: Values, group?: string): string => {
  const refs = refsOfInvalid(declaration, { ...input, [parameter]: parameter })
  const kind = refs.find(({ id }) => id === parameter)?.kind
  return kind ?? (parameter === 'id' && group !== undefined ? (refs[0]?.kind ?? group.replace(/s$/, '')) : kindNamed(parameter))
}
