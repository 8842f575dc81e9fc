import { s } from 'pounce/sdk'
import { idPattern, type SchemaShape } from '../json-schema.ts'
import { exampleOf } from './examples.ts'

/** Not imported: see `http/server.ts`. */
const http = process.getBuiltinModule('node:http')

/** A schema of OpenAPI 3.0.1. */
export type OpenapiSchema = Readonly<Record<string, unknown>>

/** Keywords with the same meaning in JSON Schema and OpenAPI. */
const same = [
  'type',
  'format',
  'title',
  'description',
  'default',
  'enum',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'multipleOf',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'deprecated',
  'readOnly',
  'writeOnly',
] as const

type Source = SchemaShape & Readonly<Record<string, unknown>>

/**
 * Converts JSON Schemas to OpenAPI 3.0.1, which has no `const`, type lists, `null` type, `patternProperties` or `$defs`:
 * they become `enum`, `anyOf`, `nullable`, `additionalProperties` and components, which are collected here. Models (`s.model`) are components too.
 */
export class OpenapiSchemas {
  readonly components: Record<string, OpenapiSchema> = {}
  readonly #models = new Map<string, Source>()
  readonly #others = new Set<string>()

  /** Converts a schema. */
  of(schema: unknown): OpenapiSchema {
    const source = (typeof schema === 'object' && schema !== null ? schema : {}) as Source
    this.#collect(source['$defs'])
    const ref = source['$ref']
    if (typeof ref === 'string') return reference(componentName(ref))
    const other = source[s.otherModelName]
    if (typeof other === 'string') {
      this.#others.add(other)
      return reference(other)
    }
    const name = source[s.modelName]
    if (typeof name === 'string') return this.#model(name, source)
    if ('const' in source) return this.of({ ...without(source, 'const'), enum: [source.const] })
    if (Array.isArray(source.type)) return this.of({ ...without(source, 'type'), anyOf: source.type.map(type => ({ type })) })
    const branches = source.anyOf ?? source.oneOf
    if (branches) return this.#union(source, branches)
    if (source.type === 'null') return { ...annotations(source), ...onlyNull }
    return { ...annotations(source), ...typeOfEnum(source), ...bounds(source), ...this.#children(source) }
  }

  /** Adds referenced models of plugins that are not loaded, as objects with arbitrary members. */
  complete(): void {
    for (const name of this.#others) this.components[name] ??= { type: 'object' }
  }

  #model(name: string, source: Source): OpenapiSchema {
    const known = this.#models.get(name)
    if (known) {
      if (known !== source && JSON.stringify(known) !== JSON.stringify(source))
        throw new Error(`Two different schemas are models named ${name}`)
      return reference(name)
    }
    if (name in this.components) throw new Error(`A model and a definition are both named ${name}`)
    this.#models.set(name, source)
    this.components[name] = {}
    const example = exampleOf(source)
    this.components[name] = { ...this.of(without(source, s.modelName)), ...(example === undefined ? {} : { example }) }
    return reference(name)
  }

  #collect(defs: unknown): void {
    for (const [name, definition] of Object.entries((defs ?? {}) as Record<string, unknown>)) {
      const component = componentName(name)
      if (component in this.components) continue
      this.components[component] = {}
      this.components[component] = this.of(definition)
    }
  }

  #union(source: Source, all: readonly SchemaShape[]): OpenapiSchema {
    const branches = all.filter(branch => branch.type !== 'null')
    const isNullable = branches.length < all.length
    const outer = annotations(without(source, 'type'))
    if (branches.every(branch => 'const' in branch)) {
      const values = branches.map(branch => branch.const)
      if (new Set(values.map(value => typeof value)).size === 1) {
        const choice = { ...this.of({ enum: values }), ...outer }
        return isNullable ? orNull(choice) : choice
      }
    }
    const [only] = branches
    if (only && branches.length === 1) {
      const inner = this.of(only)
      // A reference allows no sibling keywords, and wrapping it cannot allow additional values.
      if ('$ref' in inner && isNullable) return { ...outer, anyOf: [inner, onlyNull] }
      if ('$ref' in inner) return Object.keys(outer).length === 0 ? inner : { ...outer, allOf: [inner] }
      return isNullable ? orNull({ ...inner, ...outer }) : { ...inner, ...outer }
    }
    const choices = branches.map(branch => this.of(branch))
    return { ...outer, anyOf: isNullable ? [...choices, onlyNull] : choices, ...discriminatorOf(source) }
  }

  #children({ properties, required, items, allOf, additionalProperties, patternProperties, ...rest }: Source): OpenapiSchema {
    const patterns = Object.values(patternProperties ?? {})
    const further = patterns.length > 0 ? this.#either(patterns) : additionalProperties
    const tuple = Array.isArray(items) ? items : (rest['prefixItems'] as readonly SchemaShape[] | undefined)
    const isArray = rest.type === 'array'
    // A member with a default may be omitted, although its type is not optional.
    const needed = required?.filter(name => properties?.[name]?.default === undefined) ?? []
    return {
      ...(needed.length > 0 ? { required: needed } : {}),
      ...(properties
        ? { properties: Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, this.of(patternOnly(member))])) }
        : {}),
      ...(isArray ? { items: tuple ? this.#either(tuple) : this.of(items) } : {}),
      ...(allOf ? { allOf: allOf.map(part => this.of(part)) } : {}),
      ...(rest['not'] === undefined ? {} : { not: this.of(rest['not']) }),
      ...(further === undefined ? {} : { additionalProperties: typeof further === 'boolean' ? further : this.of(further) }),
    }
  }

  #either(schemas: readonly unknown[]): OpenapiSchema {
    return schemas.length === 1 ? this.of(schemas[0]) : { anyOf: schemas.map(each => this.of(each)) }
  }
}

const componentName = (ref: string): string => ref.replace(/^.*[/#]/, '').replaceAll(/[^\w.-]/g, '_')

const reference = (name: string): OpenapiSchema => ({ $ref: `#/components/schemas/${name}` })

const without = (source: Source, name: string): Source =>
  Object.fromEntries(Object.entries(source).filter(([key]) => key !== name)) as Source

const { description: idDescription } = s.id() as SchemaShape

/** Drops the description of ids, which would only repeat the pattern in many bodies. */
const patternOnly = (member: SchemaShape): SchemaShape => {
  const { description, ...rest } = member
  return member.pattern === idPattern && description === idDescription ? rest : member
}

const annotations = (source: Source): Record<string, unknown> => {
  const members = same.filter(name => source[name] !== undefined).map(name => [name, source[name]])
  const [example] = Array.isArray(source['examples']) ? source['examples'] : []
  return { ...Object.fromEntries(members), ...(example === undefined ? {} : { example }) }
}

/** The schema for null only. */
const onlyNull: OpenapiSchema = { type: 'string', nullable: true, enum: [null] }

/** `nullable` requires a sibling `type`; an `enum` has to list null as well. */
const orNull = (schema: OpenapiSchema): OpenapiSchema => {
  const { anyOf: choices, enum: values } = schema
  if (Array.isArray(choices)) return { ...schema, anyOf: [...choices, onlyNull] }
  return { ...schema, nullable: true, ...(Array.isArray(values) && !values.includes(null) ? { enum: [...values, null] } : {}) }
}

const discriminatorOf = (source: Source): Record<string, unknown> => {
  const { member, models = {} } = (source[s.discriminator] ?? {}) as {
    readonly member?: string
    readonly models?: Readonly<Record<string, string>>
  }
  const mapping = Object.fromEntries(Object.entries(models).map(([value, name]) => [value, `#/components/schemas/${name}`]))
  return member === undefined ? {} : { discriminator: { propertyName: member, mapping } }
}

const typeOfEnum = ({ type, enum: values }: Source): Record<string, unknown> => {
  if (type !== undefined || !values) return {}
  const types = new Set(values.filter(value => value !== null).map(value => typeof value))
  const [only] = types
  return { ...(only && types.size === 1 ? { type: only } : {}), ...(values.includes(null) ? { nullable: true } : {}) }
}

/** In OpenAPI 3.0, an exclusive bound is a flag next to the bound. */
const bounds = (source: Source): Record<string, unknown> => {
  const { exclusiveMinimum, exclusiveMaximum } = source
  return {
    ...(typeof exclusiveMinimum === 'number' ? { minimum: exclusiveMinimum, exclusiveMinimum: true } : {}),
    ...(typeof exclusiveMaximum === 'number' ? { maximum: exclusiveMaximum, exclusiveMaximum: true } : {}),
  }
}

/** Members of a part of an OpenAPI document. */
export type Members = Record<string, unknown>

type Content = Readonly<Record<string, { readonly schema: OpenapiSchema }>>

const problemContent: Content = {
  'application/json': { schema: { $ref: '#/components/schemas/Problem' } },
  'application/problem+json': { schema: { $ref: '#/components/schemas/ProblemDetails' } },
}

/** For clients that do not support media type ranges. */
const bytesOfAnyType: Content = Object.fromEntries(
  ['application/octet-stream', '*/*'].map(type => [type, { schema: { type: 'string', format: 'binary' } }]),
)

/** Responses shared by many operations, such as errors: each is a component named after its status. */
export class SharedResponses {
  readonly components: Record<string, Members> = {}

  /** A success response. */
  answer(status: string, content: Content): Members {
    const description = http.STATUS_CODES[status] ?? 'Answer'
    if (isOfAnyType(content)) return this.#shared(`${wordsOf(status)}OfAnyType`, { description, content: bytesOfAnyType })
    return { description, ...(Object.keys(content).length > 0 ? { content } : {}) }
  }

  /** An error in the common format. With `own` content, the route's own errors use that format, and errors before the route the common one. */
  refusal(status: string, own: Content): Members {
    const description = http.STATUS_CODES[status] ?? 'Refused'
    const json = own['application/json']
    const both = json ? { 'application/json': { schema: { anyOf: [json.schema, problemContent['application/json']?.schema] } } } : {}
    const whole = { description, content: { ...problemContent, ...own, ...both } }
    return Object.keys(own).length === 0 ? this.#shared(wordsOf(status), whole) : whole
  }

  otherRefusal(): Members {
    return this.#shared('Refused', {
      description: 'Any other error, such as a body that is too large (413) or not JSON (415), or an unavailable (503) or full (507) store',
      content: problemContent,
    })
  }

  /** All responses of a route that relays another server's. */
  relayed(): Members {
    const description = 'The response of the other server; errors of this server are problems'
    const answer = this.#shared('Relayed', {
      description,
      content: { ...problemContent, ...bytesOfAnyType },
    })
    return { '2XX': answer, '4XX': answer, default: answer }
  }

  #shared(name: string, response: Members): Members {
    this.components[name] ??= response
    return { $ref: `#/components/responses/${name}` }
  }
}

/** `NotFound` for 404. */
const wordsOf = (status: string): string => (http.STATUS_CODES[status] ?? `Status ${status}`).replaceAll(/[^A-Za-z0-9]/g, '')

const isOfAnyType = ({ '*/*': any, ...others }: Content): boolean =>
  any !== undefined && Object.keys(others).length === 0 && Object.keys(any.schema).join() === 'type,format'

/** A part that other operations may also have, and its name as a component. */
export interface Shareable {
  readonly holder: Members
  readonly key: string
  readonly name: string
}

/** Minimum length in characters of a shared part. */
const worthSharing = 80

/** Replaces parts that several operations share with references, in place, and returns the components, whose names differ from `taken`. */
export const shareRepeated = (section: string, parts: readonly Shareable[], taken: ReadonlySet<string>): Record<string, unknown> => {
  const components: Record<string, unknown> = {}
  const groups = Map.groupBy(parts, ({ holder, key }) => JSON.stringify(holder[key]))
  for (const [text, group] of groups) {
    const name = group.map(each => each.name).find(each => !(each in components) && !taken.has(each))
    if (group.length < 2 || text.length < worthSharing || name === undefined) continue
    components[name] = JSON.parse(text)
    for (const { holder, key } of group) holder[key] = { $ref: `#/components/${section}/${name}` }
  }
  return components
}

interface Composed {
  readonly $ref?: string
  readonly items?: OpenapiSchema
  readonly properties?: Readonly<Record<string, OpenapiSchema>>
  readonly anyOf?: readonly OpenapiSchema[]
  readonly allOf?: readonly OpenapiSchema[]
  readonly additionalProperties?: OpenapiSchema | boolean
}

/** The models that a body or response consists of, without those nested in other models. */
export const modelsIn = (schema: OpenapiSchema, components: Readonly<Record<string, OpenapiSchema>>): ReadonlySet<string> => {
  const found = new Set<string>()
  const open: Composed[] = [schema]
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    const { $ref, items, properties = {}, anyOf = [], allOf = [], additionalProperties } = each
    open.push(...(items ? [items] : []), ...Object.values(properties), ...anyOf, ...allOf)
    open.push(...(typeof additionalProperties === 'object' ? [additionalProperties] : []))
    const name = $ref?.replace(/^.*\//, '')
    if (name === undefined || found.has(name)) continue
    found.add(name)
    // For a model that is a union of others.
    const { anyOf: choices = [], allOf: parts = [] }: Composed = components[name] ?? {}
    open.push(...choices, ...parts)
  }
  return found
}

interface Use {
  readonly parameter: Members
  count: number
}

/**
 * Replaces parameters that several operations share with references, in place, and returns the components. Of several variants of a parameter, the
 * most frequent one gets its name; the others are numbered.
 */
export const shareParameters = (operations: readonly Members[]): Record<string, Members> => {
  const lists = operations.flatMap(({ parameters }) => (Array.isArray(parameters) ? [parameters as Members[]] : []))
  const uses = new Map<string, Use>()
  for (const parameter of lists.flat()) {
    const text = JSON.stringify(parameter)
    const use = uses.get(text) ?? { parameter, count: 0 }
    use.count++
    uses.set(text, use)
  }
  const shared = [...uses].filter(([, { count }]) => count > 1).toSorted(([, one], [, other]) => other.count - one.count)
  const components: Record<string, Members> = {}
  const names = new Map<string, string>()
  for (const [text, { parameter }] of shared) {
    const name = componentOf(parameter)
    const forms = Object.keys(components).filter(each => each.replace(/\.\d+$/, '') === name).length
    if (forms > 0 && text.length < worthSharing) continue
    const free = forms === 0 ? name : `${name}.${forms + 1}`
    components[free] = parameter
    names.set(text, free)
  }
  for (const list of lists) {
    list.forEach((parameter, at) => {
      const name = names.get(JSON.stringify(parameter))
      if (name !== undefined) list[at] = { $ref: `#/components/parameters/${name}` }
    })
  }
  return components
}

/** `path.id`, `query.limit`. */
const componentOf = (parameter: Members): string => `${parameter['in']}.${parameter['name']}`.replaceAll(/[^\w.-]/g, '_')
