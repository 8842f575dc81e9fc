import { Forbidden, Invalid, NotFound, Policy, rawJson, routesFor, s, TooLarge } from 'pounce/sdk'
import { FileAdditions } from './adding-to-files.ts'
import { Annotations } from './annotating.ts'
import { Pages } from './document-pages.ts'
import { PostedDocument, ShownDocument } from './json-ld.ts'
import { metadataBytes } from './routes.ts'

const route = routesFor('metadata', { annotations: Annotations, additions: FileAdditions, pages: Pages, policy: Policy })

const fileIds = () => s.Array(s.String({ maxLength: 100 }), { minItems: 1, maxItems: 1000 })

export const getMetadataOfFiles = route({
  method: 'GET',
  path: '/api/files/metadata.jsonld',
  summary: 'The JSON-LD documents of several files, by file id',
  description: 'Files that are not there, or whose metadata the caller may not look at, are left out. Clowder 1.x did not check.',
  permission: 'ViewMetadata',
  query: s.Object({ id: s.repeated(s.String({ maxLength: 100 })) }),
  responses: { 200: s.Record(s.String(), s.Array(ShownDocument)) },
  throws: [Invalid, TooLarge],
  async handle({ query, caller }, { pages, policy }) {
    const ids = [...new Set(query.id)].filter(s.isId)
    const allowed = await policy.allowed(caller, 'ViewMetadata', 'file', ids)
    return { status: 200, body: rawJson(await pages.byFile(ids.filter(id => allowed.has(id)))) }
  },
})

const Report = s.Object({
  status: s.Literal('success'),
  message: s.String(),
  added: s.Array(s.String()),
  refused: s.Array(s.Object({ id: s.String(), code: s.String(), message: s.String() })),
})

export const addMetadataToFiles = route({
  method: 'POST',
  path: '/api/files/metadata.jsonld',
  summary: 'Add one JSON-LD document to several files',
  description:
    'Each file is checked. When all get it the answer is the text of Clowder 1.x, else a report of those that got it and those that did not; it is a refusal, with the same report, when none does.',
  permission: 'AddMetadata',
  body: s.Object({ files: fileIds(), metadata: PostedDocument }),
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
