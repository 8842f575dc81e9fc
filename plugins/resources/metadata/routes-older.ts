import { Invalid, type Json, type Kind, NotFound, one, type RawJson, type Ref, rawJson, routesFor, s } from 'pounce/sdk'
import { Annotations } from './annotating.ts'
import { Content } from './json-ld.ts'
import { metadataBytes } from './routes.ts'
import { MetadataDesk, type StoredMetadata } from './stored-metadata.ts'

const needs = { annotations: Annotations, documents: MetadataDesk }
const route = routesFor('metadata', needs)

const params = s.Object({ id: s.id() })
const about = {
  description: 'For extractors from before JSON-LD: whatever is sent is the content, in the name of an extractor `deprecatedapi`.',
  permission: 'AddMetadata',
  params,
  body: Content,
  maxBodyBytes: metadataBytes,
  throws: [Invalid, NotFound],
} as const

export const addPlainFileMetadata = route({
  ...about,
  method: 'POST',
  path: '/api/files/:id/metadata',
  summary: 'Add metadata to a file, without a word of whose it is',
  of: one('file'),
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
  summary: 'Add metadata to a dataset, without a word of whose it is',
  of: one('dataset'),
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
    summary: `What extractors say of a ${kind}: the contents of their documents, newest first`,
    permission: 'ViewMetadata',
    of: one(kind),
    params,
    responses: { 200: s.rows(s.json()) },
    throws: [NotFound],
    async handle({ params }, { documents }) {
      return { status: 200, body: contents(documents, { kind, id: params.id }) }
    },
  })

export const getTechnicalFileMetadata = technical('file', 'files')
export const getTechnicalDatasetMetadata = technical('dataset', 'datasets')
