import { Forbidden, Invalid, NotFound, Policy, rawJson, routesFor, s, TooLarge } from 'pounce/sdk'
import { BulkFileMetadata } from './bulk-file-metadata.ts'
import { DocumentPages } from './document-pages.ts'
import { PostedDocument, ShownDocument } from './json-ld.ts'
import { MetadataWriter } from './metadata-writer.ts'
import { metadataBytes } from './routes.ts'

const route = routesFor('metadata', { annotations: MetadataWriter, additions: BulkFileMetadata, pages: DocumentPages, policy: Policy })

const fileIds = () => s.Array(s.String({ maxLength: 100 }), { minItems: 1, maxItems: 1000 })

export const getMetadataOfFiles = route({
  method: 'GET',
  path: '/api/files/metadata.jsonld',
  summary: 'List the metadata documents of several files',
  description: 'By file id. Files that are missing, or whose metadata the caller may not view, are omitted. Clowder 1.x did not check.',
  permission: { right: 'ViewMetadata', unscoped: 'Files on which the caller does not hold ViewMetadata are left out of the answer.' },
  query: s.Object({ id: s.repeated(s.String({ maxLength: 100 })) }),
  responses: { 200: s.Record(s.String(), s.Array(ShownDocument)) },
  throws: [Invalid, TooLarge],
  async handle({ query, caller }, { pages, policy }) {
    const ids = [...new Set(query.id)].filter(s.isId)
    const allowed = await policy.allowed(caller, 'ViewMetadata', 'file', ids)
    return { status: 200, body: rawJson(await pages.byFile(ids.filter(id => allowed.has(id)))) }
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
  async handle({ body, caller }, { annotations, additions }) {
    const { added, refused } = await additions.add(body.files, await annotations.posted(body.metadata, caller), caller)
    const message = 'Metadata successfully added to db'
    if (refused.length === 0) return { status: 200, body: message }
    return { status: 200, body: { status: 'success' as const, message, added: [...added], refused: [...refused] } }
  },
})
