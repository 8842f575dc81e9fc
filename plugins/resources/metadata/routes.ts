import { Installation, Invalid, type Json, type Kind, NotFound, one, type Ref, routesFor, s, Users } from 'pounce/sdk'
import { agentOf, createdOf, PostedDocument, ShownDocument, show } from './json-ld.ts'
import { MetadataDesk, type StoredMetadata } from './stored-metadata.ts'

const route = routesFor('metadata', { documents: MetadataDesk, installation: Installation, users: Users })

const params = s.Object({ id: s.id() })
const byExtractor = s.Object({
  extractor: s.Optional(s.String({ maxLength: 500, description: "Only this extractor's: its name, or name/version" })),
})
const added = s.String({ description: 'Metadata successfully added to db' })
const removed = s.Object({ status: s.Literal('success'), count: s.String({ description: 'How many there were, as text' }) })
const metadataBytes = 10 * 1024 * 1024

const add = async (documents: StoredMetadata, users: Users, target: Ref, posted: PostedDocument, author: string | undefined) => {
  const agent = agentOf(posted)
  const known = /\/api\/users\/([0-9a-f]{24})$/.exec(agent.userId ?? '')?.[1]
  const user = known === undefined ? undefined : await users.get(known)
  const created = createdOf(posted)
  await documents.add({
    target,
    ...(posted['@context'] === undefined ? {} : { context: posted['@context'] as Json }),
    agent: user ? { ...agent, userId: user.id, name: `${user.firstName} ${user.lastName}`.trim() } : agent,
    content: posted.content as Json,
    ...(created === undefined ? {} : { created }),
    author: author ?? null,
  })
  return { status: 200 as const, body: 'Metadata successfully added to db' }
}

async function* shown(documents: StoredMetadata, target: Ref, extractor: string | undefined, baseUrl: string) {
  for await (const document of documents.all(target, extractor)) yield show(document, baseUrl)
}

const remove = async (documents: StoredMetadata, target: Ref, extractor: string | undefined, actor: string | undefined) => {
  const count = await documents.removeAll(target, extractor, actor)
  return { status: 200 as const, body: { status: 'success' as const, count: String(count) } }
}

const addTo = (kind: Kind, plural: string) =>
  route({
    method: 'POST',
    path: `/api/${plural}/:id/metadata.jsonld`,
    summary: `Add a JSON-LD document to a ${kind}`,
    description: 'Twice posted is twice kept. The agent is believed; contexts are stored and never fetched.',
    permission: 'AddMetadata',
    of: one(kind),
    params,
    body: PostedDocument,
    maxBodyBytes: metadataBytes,
    responses: { 200: added },
    throws: [Invalid, NotFound],
    async handle({ params, body, caller }, { documents, users }) {
      return add(documents, users, { kind, id: params.id }, body, caller.user?.id)
    },
  })

const listOf = (kind: Kind, plural: string) =>
  route({
    method: 'GET',
    path: `/api/${plural}/:id/metadata.jsonld`,
    summary: `The JSON-LD documents of a ${kind}, newest first`,
    permission: 'ViewMetadata',
    of: one(kind),
    params,
    query: byExtractor,
    responses: { 200: s.rows(ShownDocument) },
    throws: [NotFound],
    async handle({ params, query }, { documents, installation }) {
      return { status: 200, body: shown(documents, { kind, id: params.id }, query.extractor, installation.baseUrl) }
    },
  })

const removeFrom = (kind: Kind, plural: string) =>
  route({
    method: 'DELETE',
    path: `/api/${plural}/:id/metadata.jsonld`,
    summary: `Remove the JSON-LD documents of a ${kind}`,
    description: 'Without `extractor` all of them go, those of people too.',
    permission: 'DeleteMetadata',
    of: one(kind),
    params,
    query: byExtractor,
    responses: { 200: removed },
    throws: [NotFound],
    async handle({ params, query, caller }, { documents }) {
      return remove(documents, { kind, id: params.id }, query.extractor, caller.user?.id)
    },
  })

export const addFileMetadata = addTo('file', 'files')
export const getFileMetadata = listOf('file', 'files')
export const removeFileMetadata = removeFrom('file', 'files')
export const addDatasetMetadata = addTo('dataset', 'datasets')
export const getDatasetMetadata = listOf('dataset', 'datasets')
export const removeDatasetMetadata = removeFrom('dataset', 'datasets')
