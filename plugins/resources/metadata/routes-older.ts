import { Invalid, type Json, type Kind, NotFound, type RawJson, type Ref, rawJson, ref, routesFor, s } from 'pounce/sdk'
import { Content } from './json-ld.ts'
import { MetadataWriter } from './metadata-writer.ts'
import { metadataBytes } from './routes.ts'
import { StoredMetadata } from './stored-metadata.ts'

const needs = { annotations: MetadataWriter, documents: StoredMetadata }
const route = routesFor('metadata', needs)

const params = s.Object({ id: s.id() })
const about = {
  description: 'For extractors from before JSON-LD: the body is stored as content of the extractor `deprecatedapi`.',
  jobKeys: 'allowed',
  cost: 'metadata',
  params,
  body: Content,
  maxBodyBytes: metadataBytes,
  throws: [Invalid, NotFound],
} as const

export const addPlainFileMetadata = route({
  ...about,
  method: 'POST',
  path: '/api/files/:id/metadata',
  summary: 'Add metadata to a file without an agent',
  permission: { right: 'AddMetadata', on: ref('file', 'id') },
  responses: { 200: s.String({ description: 'success' }) },
  async handle({ params, body, caller }, { annotations }) {
    await annotations.add({ kind: 'file', id: params.id }, annotations.unsigned(body as Json, caller))
    return { status: 200, body: 'success' }
  },
})

export const addPlainDatasetMetadata = route({
  ...about,
  method: 'POST',
  path: '/api/datasets/:id/metadata',
  summary: 'Add metadata to a dataset without an agent',
  permission: { right: 'AddMetadata', on: ref('dataset', 'id') },
  responses: { 200: s.success() },
  async handle({ params, body, caller }, { annotations }) {
    await annotations.add({ kind: 'dataset', id: params.id }, annotations.unsigned(body as Json, caller))
    return { status: 200, body: { status: 'success' } }
  },
})

async function* contents(documents: StoredMetadata, target: Ref): AsyncIterable<RawJson> {
  for await (const { agent, content } of documents.all(target)) {
    if (agent.kind === 'extractor') yield rawJson<RawJson>(JSON.stringify(content))
  }
}

const technical = (kind: Kind, plural: string) =>
  route({
    method: 'GET',
    path: `/api/${plural}/:id/technicalmetadatajson`,
    summary: `List the extracted metadata of a ${kind}, newest first`,
    permission: { right: 'ViewMetadata', on: ref(kind, 'id') },
    jobKeys: 'allowed',
    params,
    responses: { 200: s.rows(s.json()) },
    throws: [NotFound],
    async handle({ params }, { documents }) {
      return { status: 200, body: contents(documents, { kind, id: params.id }) }
    },
  })

export const getTechnicalFileMetadata = technical('file', 'files')
export const getTechnicalDatasetMetadata = technical('dataset', 'datasets')
