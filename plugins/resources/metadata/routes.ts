import { Forbidden, Installation, Invalid, type Json, type Kind, NotFound, Policy, type Ref, ref, routesFor, s, TooLarge } from 'pounce/sdk'
import { afterParameter, linkToNext, type RawJson, rawJson, readAfter } from 'pounce/sdk/kit'
import { DocumentPages, longText } from './document-pages.ts'
import { Content, PostedDocument, ShownDocument } from './json-ld.ts'
import { BulkFileMetadata, MetadataWriter } from './metadata-writer.ts'
import { isRemovableBy, StoredMetadata } from './stored-metadata.ts'

const route = routesFor('metadata', {
  metadataWriter: MetadataWriter,
  storedMetadata: StoredMetadata,
  pages: DocumentPages,
  installation: Installation,
  bulkMetadata: BulkFileMetadata,
  policy: Policy,
})

const params = s.Object({ id: s.id() })

const extractor = s.Optional(s.String({ maxLength: 500, description: 'Filter by extractor: its name, or name/version' }))

export const metadataBytes = 10 * 1024 * 1024

/** Jobs have files and datasets as targets. */
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
    async handle({ params, body, caller }, { metadataWriter }) {
      await metadataWriter.add({ kind, id: params.id }, await metadataWriter.posted(body, caller), caller)
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
    cost: 'export',
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
    description:
      'Without `extractor` all of them, including those added by users; with a key of extractors only those of extractors, with the key of a job only those of its extractor.',
    permission: { right: 'DeleteMetadata', on: ref(kind, 'id') },
    ...forJobs(kind),
    params,
    query: s.Object({ extractor }),
    responses: { 200: s.Object({ status: s.Literal('success'), count: s.String({ description: 'Number of documents, as text' }) }) },
    throws: [NotFound],
    async handle({ params, query, caller }, { storedMetadata }) {
      const count = await storedMetadata.removeAll(
        { kind, id: params.id },
        { extractor: query.extractor, actor: caller.user?.id, mayRemove: document => isRemovableBy(caller, document) },
      )
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

const needs = { metadataWriter: MetadataWriter, storedMetadata: StoredMetadata }

const olderRoute = routesFor('metadata', needs)

const about = {
  description: 'For extractors from before JSON-LD: the body is stored as content of the extractor `deprecatedapi`.',
  jobKeys: 'allowed',
  cost: 'metadata',
  params,
  body: Content,
  maxBodyBytes: metadataBytes,
  throws: [Invalid, NotFound],
} as const

export const addPlainFileMetadata = olderRoute({
  ...about,
  method: 'POST',
  path: '/api/files/:id/metadata',
  summary: 'Add metadata to a file without an agent',
  permission: { right: 'AddMetadata', on: ref('file', 'id') },
  responses: { 200: s.String({ description: 'success' }) },
  async handle({ params, body, caller }, { metadataWriter }) {
    await metadataWriter.add({ kind: 'file', id: params.id }, metadataWriter.unsigned(body as Json, caller), caller)
    return { status: 200, body: 'success' }
  },
})

export const addPlainDatasetMetadata = olderRoute({
  ...about,
  method: 'POST',
  path: '/api/datasets/:id/metadata',
  summary: 'Add metadata to a dataset without an agent',
  permission: { right: 'AddMetadata', on: ref('dataset', 'id') },
  responses: { 200: s.success() },
  async handle({ params, body, caller }, { metadataWriter }) {
    await metadataWriter.add({ kind: 'dataset', id: params.id }, metadataWriter.unsigned(body as Json, caller), caller)
    return { status: 200, body: { status: 'success' } }
  },
})

async function* contents(storedMetadata: StoredMetadata, target: Ref): AsyncIterable<RawJson> {
  for await (const { agent, content } of storedMetadata.all(target)) {
    if (agent.kind !== 'extractor') continue
    const text = JSON.stringify(content)
    if (text.length > longText) await storedMetadata.nextTurn()
    yield rawJson<RawJson>(text)
  }
}

const technical = (kind: Kind, plural: string) =>
  olderRoute({
    method: 'GET',
    path: `/api/${plural}/:id/technicalmetadatajson`,
    summary: `List the extracted metadata of a ${kind}, newest first`,
    permission: { right: 'ViewMetadata', on: ref(kind, 'id') },
    jobKeys: 'allowed',
    cost: 'export',
    params,
    responses: { 200: s.rows(s.json()) },
    throws: [NotFound],
    async handle({ params }, { storedMetadata }) {
      return { status: 200, body: contents(storedMetadata, { kind, id: params.id }) }
    },
  })

export const getTechnicalFileMetadata = technical('file', 'files')

export const getTechnicalDatasetMetadata = technical('dataset', 'datasets')

const fileIds = () => s.Array(s.String({ maxLength: 100 }), { minItems: 1, maxItems: 1000 })

export const getMetadataOfFiles = route({
  method: 'GET',
  path: '/api/files/metadata.jsonld',
  summary: 'List the metadata documents of several files',
  description: 'By file id. Files that are missing, or whose metadata the caller may not view, are omitted. Clowder 1.x did not check.',
  permission: { right: 'ViewMetadata', unscoped: 'Files on which the caller does not hold ViewMetadata are left out of the answer.' },
  cost: 'export',
  query: s.Object({ id: s.repeated(s.String({ maxLength: 100 })) }),
  responses: { 200: s.rowsByName(ShownDocument) },
  throws: [Invalid],
  async handle({ query, caller }, { pages, policy }) {
    const ids = [...new Set(query.id)].filter(s.isId)
    const allowed = await policy.allowed(caller, 'ViewMetadata', 'file', ids)
    return { status: 200, body: pages.byFile(ids.filter(id => allowed.has(id))) as never }
  },
})

const Report = s.model(
  'MetadataReport',
  s.Object({
    status: s.Literal('success'),
    message: s.String(),
    added: s.Array(s.String()),
    refused: s.Array(s.Object({ id: s.String(), code: s.String(), message: s.String() })),
  }),
)

export const addMetadataToFiles = route({
  method: 'POST',
  path: '/api/files/metadata.jsonld',
  summary: 'Add a metadata document to several files',
  description:
    'Rights are checked per file. If all files get it, the response is the text of Clowder 1.x, otherwise a report of successes and failures; if none does, an error with the same report.',
  permission: {
    right: 'AddMetadata',
    unscoped: 'The body names the files; AddMetadata is checked on each of them, and those without it are reported.',
  },
  cost: 'metadata',
  body: s.model('MetadataOfFiles', s.Object({ files: fileIds(), metadata: PostedDocument })),
  maxBodyBytes: metadataBytes,
  responses: { 200: s.Union([s.String(), Report]) },
  throws: [Forbidden, Invalid, NotFound, TooLarge],
  async handle({ body, caller }, { metadataWriter, bulkMetadata }) {
    const { added, refused } = await bulkMetadata.add(body.files, await metadataWriter.posted(body.metadata, caller), caller)
    const message = 'Metadata successfully added to db'
    if (refused.length === 0) return { status: 200, body: message }
    return { status: 200, body: { status: 'success' as const, message, added: [...added], refused: [...refused] } }
  },
})
