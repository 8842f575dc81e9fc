import { type Bytes, CorruptContent, Forbidden, Installation, Invalid, NotFound, routesFor, s } from 'pounce/sdk'
import { Quarantined, ScanPending } from 'pounce/sdk/kit'
import { ChosenArchives } from './chosen-archives.ts'

const route = routesFor('archives', { archives: ChosenArchives, installation: Installation })
const type = s.Union([s.Literal('file'), s.Literal('folder'), s.Literal('dataset')])
/** An id in a body: a malformed one is treated as not found. */
const id = s.String({ maxLength: 100 })
const own = { permission: 'reader', limitedKeys: 'allowed', cost: 'archive' } as const

export const createArchive = route({
  method: 'POST',
  path: '/api/archives',
  summary: 'Create a ZIP of chosen files and folders',
  description:
    'Returns the address of one ZIP of up to 10,000 files, folders and datasets with their paths, and its size; the archive is generated during the download. Paths are relative to the dataset; several datasets have a folder each. ' +
    'Requires DownloadFiles on all of them, now and at the download. Valid for a day, for the same account. A file in several datasets takes its path in `dataset`, if that is one of them.',
  ...own,
  body: s.model(
    'NewArchive',
    s.Object({
      resources: s.Array(s.Object({ type, id }), { minItems: 1, maxItems: 10_000 }),
      dataset: s.Optional(id),
      name: s.Optional(s.line(200)),
    }),
  ),
  responses: {
    201: s.model(
      'ChosenArchive',
      s.Object({
        id: s.String(),
        url: s.String(),
        filename: s.String(),
        size: s.Integer({ description: 'Of the ZIP, in bytes' }),
        files: s.Integer(),
        expires: s.String(),
      }),
    ),
  },
  throws: [Invalid, NotFound, Forbidden, ScanPending, Quarantined],
  async handle({ body, caller, url }, { archives, installation }) {
    const { dataset, name } = body
    const resources = body.resources.map(({ type: kind, id }) => ({ kind, id }))
    const { id, expires, archive } = await archives.create(caller, { resources, dataset, name })
    const { bytes, files, fileBytes } = archive
    const about = { id, filename: bytes.filename ?? '', size: bytes.sizeBytes ?? fileBytes, files, expires }
    return {
      status: 201,
      body: { ...about, url: `${installation.baseUrl}/api/archives/${id}` },
      headers: { location: `${url.pathname}/${id}` },
    }
  },
})

export const downloadArchive = route({
  method: 'GET',
  path: '/api/archives/:id',
  summary: 'Download a ZIP of chosen files and folders',
  description:
    'The archive whose address `POST /api/archives` returned, with the current files. An interrupted download can be resumed by `Range` with `If-Range`.',
  ...own,
  params: s.Object({ id: s.id() }),
  responses: { 200: s.bytes<Bytes>({ 'application/zip': s.bytes() }) },
  throws: [NotFound, Forbidden, CorruptContent, ScanPending, Quarantined],
  async handle({ params, caller }, { archives }) {
    return { status: 200, body: (await archives.open(caller, params.id)).bytes }
  },
})
