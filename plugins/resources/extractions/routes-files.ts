import {
  anonymousUserId,
  type FileRecord,
  Files,
  Ids,
  Installation,
  NotFound,
  type PreviewRecord,
  Previews,
  ref,
  routesFor,
  type Stored,
  s,
  type Tag,
} from 'pounce/sdk'
import { overallStatus } from './extraction-status.ts'
import { ExtractionTriggers } from './extraction-triggers.ts'
import { StoredExtractions } from './stored-extractions.ts'
import { SubmissionService } from './submission-service.ts'
import { TransportRouter } from './transport-router.ts'

const route = routesFor('extractions', {
  files: Files,
  previews: Previews,
  extractions: StoredExtractions,
  transports: TransportRouter,
  triggers: ExtractionTriggers,
  submissions: SubmissionService,
  ids: Ids,
  installation: Installation,
})

const TagsBy = s.model(
  'TagsByExtractor',
  s.Object({ extractor_id: s.Optional(s.String()), userId: s.Optional(s.String()), values: s.Array(s.String()) }),
)
const PreviewsBy = s.model(
  'PreviewsByExtractor',
  s.Object({
    extractor_id: s.String(),
    values: s.Array(s.Object({ preview_id: s.String(), contentType: s.String(), url: s.String() })),
  }),
)
const found = {
  file_id: s.String(),
  filename: s.String(),
  tags: s.Array(TagsBy),
  previews: s.Array(PreviewsBy),
  'versus descriptors url': s.String(),
}

const tagsBy = (tags: readonly Tag[]): s.Static<typeof TagsBy>[] => {
  const makers = Map.groupBy(tags, tag => (tag.extractor === null ? `user ${tag.user ?? anonymousUserId}` : `extractor ${tag.extractor}`))
  return [...makers].map(([maker, own]) => {
    const values = own.map(({ name }) => name)
    return maker.startsWith('user ') ? { userId: maker.slice(5), values } : { extractor_id: maker.slice(10), values }
  })
}

const previewsBy = (all: readonly (PreviewRecord & Stored)[], baseUrl: string): s.Static<typeof PreviewsBy>[] =>
  [...Map.groupBy(all, preview => preview.extractor)].map(([extractor, own]) => ({
    extractor_id: extractor,
    values: own.map(({ id, contentType }) => ({ preview_id: id, contentType, url: `${baseUrl}/api/previews/${id}` })),
  }))

const findings = async (file: FileRecord & Stored, previews: Previews, baseUrl: string) => ({
  file_id: file.id,
  filename: file.name,
  tags: tagsBy(file.tags),
  previews: previewsBy(await previews.of({ kind: 'file', id: file.id }), baseUrl),
  'versus descriptors url': `/api/files/${file.id}/versus_metadata`,
})

export const getExtractedMetadata = route({
  method: 'GET',
  path: '/api/files/:id/extracted_metadata',
  summary: 'List the extracted tags and previews of a file',
  description: '`versus descriptors url` is the URL of a legacy service that is not part of this server.',
  permission: { right: 'ViewMetadata', on: ref('file', 'id') },
  jobKeys: 'allowed',
  params: s.Object({ id: s.id() }),
  responses: { 200: s.model('ExtractedMetadata', s.Object(found)) },
  throws: [NotFound],
  async handle({ params }, { files, previews, installation }) {
    const file = await files.get(params.id)
    if (!file) throw new NotFound('file')
    return { status: 200, body: await findings(file, previews, installation.baseUrl) }
  },
})

export const getExtractionMetadata = route({
  method: 'GET',
  path: '/api/extractions/:id/metadata',
  summary: 'Get the metadata and extraction status of a file',
  permission: { right: 'ViewFile', on: ref('file', 'id') },
  jobKeys: 'allowed',
  params: s.Object({ id: s.id() }),
  responses: { 200: s.model('ExtractedMetadataAndStatus', s.Object({ ...found, Status: s.String() })) },
  throws: [NotFound],
  async handle({ params }, { files, previews, extractions, transports, installation }) {
    const file = await files.get(params.id)
    if (!file) throw new NotFound('file')
    const { items } = await extractions.of(file)
    const Status = overallStatus(file, items, await transports.inputTypes())
    return { status: 200, body: { ...(await findings(file, previews, installation.baseUrl)), Status } }
  },
})

export const announceFileset = route({
  method: 'POST',
  path: '/api/datasets/:id/filesetUploadEvent',
  summary: 'Report a multi-file upload to a dataset',
  description:
    'Triggers the extractors that process `files.added`, once for all files. Files that are not in the dataset are skipped. At most 1,000 files.',
  permission: { right: 'AddResourceToDataset', on: ref('dataset', 'id') },
  params: s.Object({ id: s.id() }),
  query: s.Object({ fileids: s.Optional(s.repeated(s.String({ maxLength: 100 }))) }),
  responses: { 200: s.Literal('added new event') },
  throws: [NotFound],
  async handle({ params, query, caller }, { files, triggers, submissions, ids }) {
    const named = await files.getMany([...new Set(query.fileids ?? [])].filter(s.isId))
    const inside = [...named.values()].filter(({ places }) => places.some(place => place.dataset === params.id))
    if (inside.length > 0) await submissions.publishOrFail(await triggers.filesAdded(inside, params.id, ids.next(), caller.user?.id))
    return { status: 200, body: 'added new event' as const }
  },
})
