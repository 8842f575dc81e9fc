import type { TestServer } from 'pounce/sdk/testing'
import { resolved } from './resolved-document.ts'

/** The parts of a JSON Schema that are read here. */
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

/** A route as in the OpenAPI document. */
export interface DeclaredRoute {
  readonly method: string
  /** With `{name}` for each parameter. */
  readonly path: string
  /** Names of the parameters of the path that are ids. */
  readonly ids: readonly string[]
  /** Those that are small whole numbers: of sensors, streams and readings. */
  readonly numbers: readonly string[]
  readonly query: readonly { readonly name: string; readonly required?: boolean; readonly schema: Schema }[]
  /** Of a JSON body; absent when the route reads none. */
  readonly body: Schema | undefined
  readonly takesParts: boolean
  /** The declared permission: a right, or `anyone`, `reader`, `signedIn`, `serverAdmin`. */
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

/** All routes of a server, aliases included. */
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

/** Kinds of resources that have small whole numbers on the wire. */
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

/** The kind of resource that a path parameter names: `file`, `dataset` …, or its own name. */
export const kindOf = (path: string, name: string): string =>
  name === 'id' ? (kinds[path.split('/').find(segment => segment in kinds) ?? ''] ?? name) : name

/** The path with its parameters filled in, encoded. */
export const fill = (path: string, value: (kind: string, name: string) => string): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(value(kindOf(path, name), name).toWellFormed()))

/** Of a body that the route reads by itself, byte by byte, nothing is declared that could be held against it. */
const jsonBody = (schema: Schema | undefined): Schema | undefined => (schema?.format === 'binary' ? undefined : schema)
