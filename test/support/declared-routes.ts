import type { TestServer } from 'pounce/sdk/testing'
import { resolved } from './resolved-document.ts'

/** The parts of a JSON Schema that are used here. */
export interface Schema {
  readonly format?: string
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly pattern?: string
  readonly maxLength?: number
  readonly default?: unknown
}

/** A route of the OpenAPI document. */
export interface DeclaredRoute {
  readonly method: string
  /** The path with `{name}` for each parameter. */
  readonly path: string
  /** Names of the path parameters that are ids. */
  readonly ids: readonly string[]
  /** Names of the path parameters that are small integers: ids of sensors, streams and datapoints. */
  readonly numbers: readonly string[]
  readonly query: readonly { readonly name: string; readonly required?: boolean; readonly schema: Schema }[]
  /** The schema of the JSON body; undefined if the route has none. */
  readonly body: Schema | undefined
  readonly takesParts: boolean
  /** The declared permission, or `anyone`, `reader`, `signedIn`, `serverAdmin`. */
  readonly permission: string
}

const idPattern = '^[0-9a-f]{24}$'

interface Operation {
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly required?: boolean
    readonly schema: Schema
  }[]
  readonly 'x-permission'?: string
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: Schema }>> }
}

/** All routes of a server, including aliases. */
export const declaredRoutes = async (server: Pick<TestServer, 'as'>): Promise<readonly DeclaredRoute[]> => {
  const { paths } = resolved((await (await server.as()('/openapi.json')).json()) as object) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  }
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { parameters = [], requestBody, 'x-permission': permission = '' }]) => ({
      method: method.toUpperCase(),
      path,
      ids: parameters.filter(each => each.in === 'path' && each.schema.pattern === idPattern).map(each => each.name),
      numbers: parameters.filter(each => each.in === 'path' && kindOf(path, each.name) in numberedKinds).map(each => each.name),
      query: parameters.filter(each => each.in === 'query'),
      body: jsonBody(requestBody?.content['application/json']?.schema),
      takesParts: requestBody?.content['multipart/form-data'] !== undefined,
      permission,
    })),
  )
}

/** Kinds of resources whose ids in the API are small integers. */
const numberedKinds: Readonly<Record<string, true>> = { sensor: true, stream: true, datapoint: true }

const kinds: Readonly<Record<string, string>> = {
  files: 'file',
  datasets: 'dataset',
  spaces: 'space',
  collections: 'collection',
  sections: 'section',
  previews: 'preview',
  thumbnails: 'thumbnail',
  users: 'user',
  quotas: 'user',
  groups: 'group',
  roles: 'role',
  invitations: 'invitation',
  comment: 'comment',
  extractions: 'file',
  uploadToDataset: 'dataset',
  uploads: 'upload',
  relations: 'relation',
  logos: 'logo',
  vocabularies: 'vocabulary',
  vocabuliaries: 'vocabulary',
  editVocabulary: 'vocabulary',
  vocabterms: 'term',
  standardvocab: 'standard',
  definition: 'definition',
  definitions: 'definition',
  contexts: 'context',
  'metadata.jsonld': 'metadata',
  sensors: 'sensor',
  streams: 'stream',
  datapoints: 'datapoint',
  bulk: 'bulk',
}

/** The kind of resource of a path parameter: `file`, `dataset` …, or the parameter's name. */
export const kindOf = (path: string, name: string): string =>
  name === 'id' ? (kinds[path.split('/').find(segment => segment in kinds) ?? ''] ?? name) : name

/** The path with its parameters replaced by encoded values. */
export const fill = (path: string, value: (kind: string, name: string) => string): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(value(kindOf(path, name), name).toWellFormed()))

/** Bodies that the route reads as a stream have no schema to validate against. */
const jsonBody = (schema: Schema | undefined): Schema | undefined => (schema?.format === 'binary' ? undefined : schema)
