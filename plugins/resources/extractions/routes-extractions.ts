import { Conflict, Datasets, Files, Invalid, type Kind, NotFound, one, routesFor, s } from 'pounce/sdk'
import { isBeingProcessed, newestByExtractor, ShownRun, showRun, statusWord } from './extraction-status.ts'
import { Extractions } from './stored-extractions.ts'
import { KnownExtractors } from './stored-extractors.ts'
import { Submissions } from './submission.ts'

const route = routesFor('extractions', {
  extractions: Extractions,
  extractors: KnownExtractors,
  submissions: Submissions,
  files: Files,
  datasets: Datasets,
})

const params = s.Object({ id: s.id() })
const Submitted = s.Object({ status: s.Literal('OK'), job_id: s.String() })
const asked = s.Object({
  extractor: s.Optional(s.String({ minLength: 1, maxLength: 300 })),
  parameters: s.Optional(s.Record(s.String(), s.Unknown())),
})

export const submitFile = route({
  method: 'POST',
  path: '/api/files/:id/extractions',
  summary: 'Ask an extractor to run on a file',
  description: '409 until the file is PROCESSED, that is until what its upload asked for is done.',
  permission: 'EditFile',
  of: one('file'),
  params,
  body: asked,
  responses: { 200: Submitted },
  throws: [Invalid, NotFound, Conflict],
  async handle({ params, body, caller }, { submissions, files }) {
    const file = await files.get(params.id)
    if (!file) throw new NotFound('file')
    return {
      status: 200,
      body: { status: 'OK' as const, job_id: await submissions.ofFile(file, body.extractor, body.parameters ?? {}, caller.user?.id) },
    }
  },
})

export const submitDataset = route({
  method: 'POST',
  path: '/api/datasets/:id/extractions',
  summary: 'Ask an extractor to run on a dataset',
  permission: 'EditDataset',
  of: one('dataset'),
  params,
  body: asked,
  responses: { 200: Submitted },
  throws: [Invalid, NotFound],
  async handle({ params, body, caller }, { submissions, datasets }) {
    const dataset = await datasets.get(params.id)
    if (!dataset) throw new NotFound('dataset')
    const job = await submissions.ofDataset(dataset, body.extractor, body.parameters ?? {}, caller.user?.id)
    return { status: 200, body: { status: 'OK' as const, job_id: job } }
  },
})

const cancelOn = (kind: Kind, plural: string, permission: 'EditFile' | 'EditDataset') =>
  route({
    method: 'DELETE',
    path: `/api/${plural}/:id/extractions/:job`,
    summary: `Take back a run on a ${kind}`,
    description:
      'A waiting run is taken off its queue, one that runs here is stopped; all others stay. `extractor` in the body is required, as in v1.',
    permission,
    of: one(kind),
    params: s.Object({ id: s.id(), job: s.id() }),
    body: s.Object({ extractor: s.Optional(s.String({ minLength: 1, maxLength: 300 })) }),
    responses: { 200: s.Object({ status: s.Literal('OK') }) },
    throws: [Invalid, NotFound],
    async handle({ params, body }, { submissions }) {
      if (body.extractor === undefined) {
        throw new Invalid('extractor is missing: name the extractor whose run is taken back', {
          details: { request: 'extractor field not found' },
        })
      }
      await submissions.cancel({ kind, id: params.id }, params.job)
      return { status: 200, body: { status: 'OK' as const } }
    },
  })

export const cancelFileExtraction = cancelOn('file', 'files', 'EditFile')
export const cancelDatasetExtraction = cancelOn('dataset', 'datasets', 'EditDataset')

export const getExtractionStatus = route({
  method: 'GET',
  path: '/api/extractions/:id/status',
  summary: 'How far the extractors of a file are',
  description: 'A member per extractor with its newest status, and `Status`, the word for all of them.',
  permission: 'ViewFile',
  of: one('file'),
  params,
  responses: { 200: s.Record(s.String(), s.String()) },
  throws: [NotFound],
  async handle({ params }, { extractions, extractors, files }) {
    const file = await files.get(params.id)
    if (!file) throw new NotFound('file')
    const { items } = await extractions.of({ kind: 'file', id: file.id })
    const each = [...newestByExtractor(items)].map(([extractor, run]) => [extractor, run.status])
    return { status: 200, body: { ...Object.fromEntries(each), Status: statusWord(items, file.contentType, await extractors.all()) } }
  },
})

const runsOn = (kind: 'file' | 'dataset', plural: string, permission: 'ViewFile' | 'ViewDataset') =>
  route({
    method: 'GET',
    path: `/api/${plural}/:id/extractions`,
    summary: `The runs on a ${kind} with their news, newest first`,
    description: 'Our own addition. At most 1,000 runs, of each the newest hundred lines.',
    permission,
    of: one(kind),
    params,
    responses: { 200: s.Array(ShownRun) },
    throws: [NotFound],
    async handle({ params }, { extractions }) {
      return { status: 200, body: (await extractions.of({ kind, id: params.id })).items.map(showRun) }
    },
  })

export const listFileExtractions = runsOn('file', 'files', 'ViewFile')
export const listDatasetExtractions = runsOn('dataset', 'datasets', 'ViewDataset')

const busy = s.Object({ isBeingProcessed: s.String({ description: '`true` or `false`, as text' }) })

export const isFileBeingProcessed = route({
  method: 'GET',
  path: '/api/files/:id/isBeingProcessed',
  summary: 'Whether extractors are at work on a file',
  permission: 'ViewFile',
  of: one('file'),
  params,
  responses: { 200: busy },
  throws: [NotFound],
  async handle({ params }, { extractions }) {
    const { items } = await extractions.of({ kind: 'file', id: params.id })
    return { status: 200, body: { isBeingProcessed: String(isBeingProcessed(items)) } }
  },
})

export const isDatasetBeingProcessed = route({
  method: 'GET',
  path: '/api/datasets/:id/isBeingProcessed',
  summary: 'Whether the upload of any file of a dataset still waits for its extractors',
  description: 'Looks at the first 1,000 files in the root, as v1 looks at those in the root only.',
  permission: 'ViewDataset',
  of: one('dataset'),
  params,
  responses: { 200: busy },
  throws: [NotFound],
  async handle({ params }, { files }) {
    const { items } = await files.in(params.id, { limit: 1000 })
    return { status: 200, body: { isBeingProcessed: String(items.some(file => file.pendingJobs.length > 0)) } }
  },
})
