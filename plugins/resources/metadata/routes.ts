import {
  afterParameter,
  Forbidden,
  Installation,
  Invalid,
  type Kind,
  linkToNext,
  NotFound,
  rawJson,
  readAfter,
  ref,
  routesFor,
  s,
} from 'pounce/sdk'
import { DocumentPages } from './document-pages.ts'
import { PostedDocument, ShownDocument } from './json-ld.ts'
import { MetadataWriter } from './metadata-writer.ts'
import { StoredMetadata } from './stored-metadata.ts'

const route = routesFor('metadata', {
  annotations: MetadataWriter,
  documents: StoredMetadata,
  pages: DocumentPages,
  installation: Installation,
})

const params = s.Object({ id: s.id() })
const extractor = s.Optional(s.String({ maxLength: 500, description: 'Filter by extractor: its name, or name/version' }))
export const metadataBytes = 10 * 1024 * 1024

/** Jobs are about files and datasets. */
const forJobs = (kind: Kind) => (kind === 'file' || kind === 'dataset' ? ({ jobKeys: 'allowed' } as const) : {})

const addTo = (kind: Kind, plural: string) =>
  route({
    method: 'POST',
    path: `/api/${plural}/:id/metadata.jsonld`,
    summary: `Add a metadata document to a ${kind}`,
    description:
      'Posting twice stores two documents. The name of an extractor is trusted; another account of this server may only be named by a server admin. Contexts are stored and never fetched. Metadata added by people is validated against the metadata definitions.',
    permission: { right: 'AddMetadata', on: ref(kind, 'id') },
    ...forJobs(kind),
    cost: 'metadata',
    params,
    body: PostedDocument,
    maxBodyBytes: metadataBytes,
    responses: { 200: s.String({ description: 'Metadata successfully added to db' }) },
    throws: [Forbidden, Invalid, NotFound],
    async handle({ params, body, caller }, { annotations }) {
      await annotations.add({ kind, id: params.id }, await annotations.posted(body, caller))
      return { status: 200, body: 'Metadata successfully added to db' }
    },
  })

const listOf = (kind: Kind, plural: string) =>
  route({
    method: 'GET',
    path: `/api/${plural}/:id/metadata.jsonld`,
    summary: `List the metadata documents of a ${kind}, newest first`,
    description: 'All of them, streamed; with `limit`, paginated by the `Link` header.',
    permission: { right: 'ViewMetadata', on: ref(kind, 'id') },
    ...forJobs(kind),
    params,
    query: s.Object({
      extractor,
      limit: s.Optional(s.Integer({ minimum: 1, maximum: 1000 })),
      after: afterParameter(),
    }),
    responses: { 200: s.rows(ShownDocument) },
    throws: [Invalid, NotFound],
    async handle({ params, query: { extractor, limit, after }, url }, { pages, installation }) {
      const target = { kind, id: params.id }
      if (limit === undefined && after === undefined) return { status: 200, body: pages.rows(target, extractor) as never }
      const from = after === undefined ? undefined : readAfter(after)
      const { json, next } = await pages.page(target, { extractor, limit: limit ?? 100, after: from })
      const link = linkToNext(installation.baseUrl, url, { next }, { dated: false })
      return { status: 200, body: rawJson(json), ...link }
    },
  })

const removeFrom = (kind: Kind, plural: string) =>
  route({
    method: 'DELETE',
    path: `/api/${plural}/:id/metadata.jsonld`,
    summary: `Delete the metadata documents of a ${kind}`,
    description: 'Without `extractor` all of them, those added by people included.',
    permission: { right: 'DeleteMetadata', on: ref(kind, 'id') },
    params,
    query: s.Object({ extractor }),
    responses: { 200: s.Object({ status: s.Literal('success'), count: s.String({ description: 'Number of documents, as text' }) }) },
    throws: [NotFound],
    async handle({ params, query, caller }, { documents }) {
      const count = await documents.removeAll({ kind, id: params.id }, { extractor: query.extractor, actor: caller.user?.id })
      return { status: 200, body: { status: 'success' as const, count: String(count) } }
    },
  })

export const addFileMetadata = addTo('file', 'files')
export const getFileMetadata = listOf('file', 'files')
export const removeFileMetadata = removeFrom('file', 'files')
export const addDatasetMetadata = addTo('dataset', 'datasets')
export const getDatasetMetadata = listOf('dataset', 'datasets')
export const removeDatasetMetadata = removeFrom('dataset', 'datasets')
export const addCollectionMetadata = addTo('collection', 'collections')
export const getCollectionMetadata = listOf('collection', 'collections')
export const removeCollectionMetadata = removeFrom('collection', 'collections')
export const addSpaceMetadata = addTo('space', 'spaces')
export const getSpaceMetadata = listOf('space', 'spaces')
export const removeSpaceMetadata = removeFrom('space', 'spaces')
