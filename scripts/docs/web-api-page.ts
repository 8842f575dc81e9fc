/** The parts of an OpenAPI schema that types are generated from. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly nullable?: boolean
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly format?: string
}

/** A parameter of an operation. */
export interface Parameter {
  readonly $ref?: string
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema: Schema
}

/** A body by media type. */
export interface Content {
  readonly $ref?: string
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>
}

/** The parts of an operation that types are generated from. */
export interface Operation {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content>>
}

/** Shared components that operations refer to. */
export interface Shared {
  readonly parameters: Readonly<Record<string, Parameter>>
  readonly requestBodies: Readonly<Record<string, Content>>
  readonly responses: Readonly<Record<string, Content>>
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: Shared & { readonly schemas: Readonly<Record<string, Schema>> }
}

/** The API types of the web interface: one per named model, and one per operation, by method and path. */
export const webApiPage = (document: object): string => {
  const { paths, components } = document as Document
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ address: `${method.toUpperCase()} ${path}`, operation })),
  )
  const models = Object.entries(components.schemas).map(([name, schema]) => `  ${name}: ${typeOf(schema)}`)
  const types = operations.map(({ address, operation }) => `  '${address}': ${operationType(operation, components)}`)
  return `// Written by \`npm run docs\` from the OpenAPI document.\n\n/** The named models of the API. */\nexport interface Models {\n${models.join('\n')}\n}\n\n/** Every operation, by method and path. */\nexport interface Operations {\n${types.join('\n')}\n}\n`
}

const resolvedIn = <T extends { readonly $ref?: string }>(shared: Readonly<Record<string, T>>, each: T): T =>
  each.$ref === undefined ? each : (shared[nameOf(each.$ref)] ?? each)

const operationType = ({ parameters = [], requestBody = {}, responses }: Operation, shared: Shared): string => {
  const all = parameters.map(parameter => resolvedIn(shared.parameters, parameter))
  const body = Object.entries(resolvedIn(shared.requestBodies, requestBody).content ?? {}).map(contentType)
  const answers = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, response]) => resolvedIn(shared.responses, response))
    .flatMap(({ content }) => (content ? Object.entries(content).map(contentType) : ['undefined']))
  return `{ path: ${parametersType(all, 'path')}; query: ${parametersType(all, 'query')}; body: ${union(body.length > 0 ? body : ['undefined'])}; answer: ${union(answers.length > 0 ? answers : ['undefined'])} }`
}

const contentType = ([mediaType, { schema }]: readonly [string, { readonly schema?: Schema }]): string => {
  if (mediaType === 'multipart/form-data') return 'FormData'
  if (mediaType.startsWith('text/')) return 'string'
  if (!mediaType.includes('json')) return 'Blob'
  return schema ? typeOf(schema) : 'unknown'
}

/** The type of the path or query parameters. */
export const parametersType = (parameters: readonly Parameter[], place: string): string => {
  const here = parameters.filter(parameter => parameter.in === place)
  if (here.length === 0) return 'Record<never, never>'
  return `{ ${here.map(({ name, required, schema }) => `${key(name)}${required ? '' : '?'}: ${typeOf(schema)}${required ? '' : ' | undefined'}`).join('; ')} }`
}

const nameOf = (ref: string): string => ref.split('/').at(-1) ?? ''
const key = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name))
const union = (types: readonly string[]): string => [...new Set(types)].join(' | ')

/** A schema as a type; models as members of `Models`. */
export const typeOf = (schema: Schema): string => {
  const plain = plainType(schema)
  return schema.nullable && !/(?:^| )null$/.test(plain) ? `${plain} | null` : plain
}

const plainType = (schema: Schema): string => {
  const { $ref, anyOf, allOf, type } = schema
  if ($ref !== undefined) return `Models['${nameOf($ref)}']`
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return union(schema.enum.map(value => JSON.stringify(value)))
  if (anyOf) return `(${union(anyOf.map(typeOf))})`
  if (allOf) return `(${allOf.map(typeOf).join(' & ')})`
  switch (type) {
    case 'string':
      return schema.format === 'binary' ? 'Blob' : 'string'
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'null':
      return 'null'
    case 'array':
      return `readonly (${schema.items ? typeOf(schema.items) : 'unknown'})[]`
    case 'object':
      return objectType(schema)
    default:
      return 'unknown'
  }
}

const objectType = ({ properties, required = [], additionalProperties }: Schema): string => {
  const members = Object.entries(properties ?? {}).map(
    ([name, schema]) => `readonly ${key(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  )
  if (members.length > 0) return `{ ${members.join('; ')} }`
  const values =
    typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0 ? typeOf(additionalProperties) : 'unknown'
  return `Readonly<Record<string, ${values}>>`
}
