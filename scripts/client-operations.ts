import type { Content, Operation, Parameter, Schema, Shared } from './docs/web-api-page.ts'

interface DescribedOperation extends Operation {
  readonly summary: string
  readonly description?: string
  readonly deprecated?: boolean
  readonly 'x-internal'?: boolean
  readonly requestBody?: Content & { readonly required?: boolean }
}

/** A schema with an optional description. */
export interface DescribedSchema extends Schema {
  readonly description?: string
}

/** The parts of the OpenAPI document that clients are generated from. */
export interface DescribedApi {
  readonly info: { readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>
  readonly components: Shared & { readonly schemas: Readonly<Record<string, DescribedSchema>> }
}

/** An operation as exposed by clients. */
export interface ClientOperation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly parameters: readonly Parameter[]
  readonly body:
    | { readonly mediaType: string; readonly mediaTypes: readonly string[]; readonly schema: Schema; readonly required: boolean }
    | undefined
  readonly answer: 'json' | 'text' | 'bytes' | 'empty'
  /** The schema of the JSON response. */
  readonly schema: Schema
  /** For a paged list: the schema of its items, and the property of the response that holds them; empty if the response is the list itself. */
  readonly item: Schema | undefined
  readonly items: string | undefined
  /** If `view=full` changes the model of the response: the operation without and with it. */
  readonly views: readonly Pick<ClientOperation, 'parameters' | 'schema' | 'item'>[]
}

/** The schemas of the response, or of its items, without and with `view=full`. */
const splitByView = (schema: Schema): readonly [Schema, Schema] | undefined => {
  const [plain, full, ...others] = (schema.type === 'array' ? schema.items?.anyOf : schema.anyOf) ?? []
  if (!plain || !full || others.length > 0) return undefined
  return schema.type === 'array'
    ? [
        { ...schema, items: plain },
        { ...schema, items: full },
      ]
    : [plain, full]
}

const nameOf = (ref: string): string => ref.split('/').at(-1) ?? ''

/** The operations of clients: no aliases, no HTML pages, no relayed routes, and not the event stream, which has a separate method. */
export const clientOperations = ({ paths, components }: DescribedApi): readonly ClientOperation[] => {
  const resolved = <T extends { readonly $ref?: string }>(shared: Readonly<Record<string, T>>, each: T): T =>
    each.$ref === undefined ? each : (shared[nameOf(each.$ref)] ?? each)
  const listIn = (schema: Schema): { readonly item: Schema; readonly items: string } | undefined => {
    const whole = resolved(components.schemas, schema)
    if (whole.type === 'array' && whole.items) return { item: whole.items, items: '' }
    const branches = (whole.anyOf ?? []).flatMap(branch => listIn(branch) ?? [])
    // Lists of streams and datapoints, which can respond with a count instead.
    if (branches.length > 0) return { item: { anyOf: branches.map(({ item }) => item) }, items: branches[0]?.items ?? '' }
    const member = ['results', 'entries'].find(name => whole.properties?.[name]?.type === 'array')
    return member === undefined ? undefined : { item: whole.properties?.[member]?.items ?? {}, items: member }
  }
  const contentsOf = (responses: Operation['responses']): Readonly<Record<string, { readonly schema?: Schema }>> =>
    Object.assign(
      {},
      ...Object.entries(responses).flatMap(([status, response]) =>
        /^20[0-7]$/.test(status) ? [resolved(components.responses, response).content ?? {}] : [],
      ),
    )
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) => {
      const content = contentsOf(operation.responses)
      const types = Object.keys(content)
      if (operation.deprecated || operation['x-internal'] || types.some(type => type === 'text/html' || type === 'text/event-stream'))
        return []
      const parameters = (operation.parameters ?? []).map(each => resolved(components.parameters, each))
      const requestBody = operation.requestBody && { ...resolved(components.requestBodies, operation.requestBody) }
      const [mediaType = '', sent] = Object.entries(requestBody?.content ?? {})[0] ?? []
      const answer =
        types.length === 0 ? 'empty' : types.join() === 'application/json' ? 'json' : types.join() === 'text/plain' ? 'text' : 'bytes'
      const schema = content['application/json']?.schema ?? {}
      const isPaged =
        parameters.some(({ name }) => name === 'after') ||
        (method === 'get' && parameters.some(({ name }) => name === 'from') && parameters.some(({ name }) => name === 'size'))
      const list = isPaged && answer === 'json' ? listIn(schema) : undefined
      const view = parameters.find(({ name, schema: { enum: values = [] } }) => name === 'view' && values.join() === 'full')
      const views =
        (view &&
          splitByView(schema)?.map((one, at) => {
            const others = parameters.filter(each => each !== view)
            const item = list && listIn(one)?.item
            return { schema: one, item, parameters: at === 0 ? others : [...others, { ...view, required: true }] }
          })) ??
        []
      return [
        {
          ...{
            id: operation.operationId,
            method: method.toUpperCase(),
            path,
            summary: operation.summary,
            description: operation.description ?? '',
          },
          ...({ parameters, answer, schema, item: list?.item, items: list?.items, views } as const),
          body: sent && {
            mediaType,
            mediaTypes: Object.keys(requestBody?.content ?? {}),
            schema: sent.schema ?? {},
            required: (requestBody as { readonly required?: boolean }).required ?? false,
          },
        },
      ]
    }),
  )
}
