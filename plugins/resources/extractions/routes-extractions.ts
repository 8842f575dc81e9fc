import { Conflict, Datasets, Files, Invalid, NotFound, one, Policy, routesFor, s } from 'pounce/sdk'
import { AllTransports } from './carriers.ts'
import { isBeingProcessed, newestByExtractor, ShownRun, showRun, statusWord } from './extraction-status.ts'
import { Extractions } from './stored-extractions.ts'
import { Submissions } from './submission.ts'

const route = routesFor('extractions', {
  extractions: Extractions,
  submissions: Submissions,
  carriers: AllTransports,
  files: Files,
  datasets: Datasets,
  policy: Policy,
})

const params = s.Object({ id: s.id() })
const Submitted = s.Object({ status: s.Literal('OK'), job_id: s.String() })
const asked = s.Object({
  extractor: s.Optional(s.String({ minLength: 1, maxLength: 300, description: 'A name, or `private.<key>.<name>`' })),
  parameters: s.Optional(s.Record(s.String(), s.Unknown())),
})
const wishOf = (body: s.Static<typeof asked>, user: string | undefined) => ({
  extractor: body.extractor,
  parameters: body.parameters ?? {},
  user,
})

export const submitFile = route({
  method: 'POST',
  path: '/api/files/:id/extractions',
  summary: 'Ask an extractor to run on a file',
  description:
    '409 until the file is PROCESSED, that is until what its upload asked for is done. New: an extractor that is not known, or a private one of others, is refused; v1 lost such a job.',
  permission: 'EditFile',
  of: one('file'),
  params,
  body: asked,
  responses: { 200: Submitted },
  throws: [Invalid, NotFound, Conflict],
  async handle({ params, body, caller }, { submissions, files }) {
    const file = await files.get(params.id)
    if (!file) throw new NotFound('file')
    return { status: 200, body: { status: 'OK' as const, job_id: await submissions.ofFile(file, wishOf(body, caller.user?.id)) } }
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
    return { status: 200, body: { status: 'OK' as const, job_id: await submissions.ofDataset(dataset, wishOf(body, caller.user?.id)) } }
  },
})

export const submitSelected = route({
  method: 'POST',
  path: '/api/selected/submit/:dataset/:file_ids',
  summary: 'Ask an extractor to run on some files of a dataset',
  description: 'Files that are not ready, or not in the dataset, are left out. At most 1,000.',
  permission: 'EditDataset',
  of: one('dataset', 'dataset'),
  params: s.Object({ dataset: s.id(), file_ids: s.String({ description: 'Ids, joined by commas' }) }),
  body: asked,
  responses: { 200: s.Object({ status: s.Literal('success'), jobs: s.Record(s.String(), s.String()) }) },
  throws: [Invalid, NotFound],
  async handle({ params, body, caller }, { submissions }) {
    const ids = [...new Set(params.file_ids.split(',').map(id => id.trim()))].filter(s.isId)
    if (ids.length > 1000) throw new Invalid(`At most 1,000 files can be submitted at once, not ${ids.length}`)
    const jobs = await submissions.ofSelected(params.dataset, ids, wishOf(body, caller.user?.id))
    return { status: 200, body: { status: 'success' as const, jobs } }
  },
})

const cancelOn = (kind: 'file' | 'dataset', plural: string, permission: 'EditFile' | 'EditDataset') =>
  route({
    method: 'DELETE',
    path: `/api/${plural}/:id/extractions/:job`,
    summary: `Take back a run on a ${kind}`,
    description:
      '`job` is the `msgid` or `jobid` of the message: here they are the same. A waiting run is taken off its queue, one that runs here is stopped; all others stay. `extractor` in the body is required, as in v1. The status of the run says what came of it: `Cancel Success` or `Cancel Failed`.',
    permission,
    of: one(kind),
    params: s.Object({ id: s.id(), job: s.id() }),
    body: s.Object({ extractor: s.Optional(s.String({ minLength: 1, maxLength: 300 })) }),
    responses: { 200: s.Object({ status: s.Literal('OK') }) },
    throws: [Invalid, NotFound, Conflict],
    async handle({ params, body }, { submissions }) {
      if (body.extractor === undefined) {
        throw new Invalid('extractor is missing: name the extractor whose run is taken back', {
          details: { request: 'extractor field not found' },
        })
      }
      await submissions.cancel({ kind, id: params.id }, params.job, body.extractor)
      return { status: 200, body: { status: 'OK' as const } }
    },
  })

export const cancelFileExtraction = cancelOn('file', 'files', 'EditFile')
export const cancelDatasetExtraction = cancelOn('dataset', 'datasets', 'EditDataset')

export const getExtractionStatus = route({
  method: 'GET',
  path: '/api/extractions/:id/status',
  summary: 'How far the extractors of a file are',
  description:
    'A member per extractor with its newest status, and `Status`, the word for all of them. For a file that is not there, or that you may not see, the text `no file`, as in v1.',
  permission: 'reader',
  params,
  responses: { 200: s.Union([s.Record(s.String(), s.String()), s.Literal('no file')]) },
  async handle({ params, caller }, { extractions, files, policy, carriers }) {
    const verdict = await policy.canOn(caller, 'ViewFile', { kind: 'file', id: params.id })
    const file = verdict === 'yes' ? await files.get(params.id) : undefined
    if (!file) return { status: 200, body: 'no file' as const }
    const { items } = await extractions.of(file)
    const each = [...newestByExtractor(items)].map(([extractor, run]) => [extractor, run.status])
    const word = statusWord(items, file.contentType, await carriers.inputTypes())
    return { status: 200, body: { ...Object.fromEntries(each), Status: word } }
  },
})

const runsOn = (kind: 'file' | 'dataset', plural: string, permission: 'ViewFile' | 'ViewDataset') =>
  route({
    method: 'GET',
    path: `/api/${plural}/:id/extractions`,
    summary: `The runs on a ${kind} with their news, newest first`,
    description: 'Our own addition. At most 100 runs, of each the newest hundred lines.',
    permission,
    of: one(kind),
    params,
    responses: { 200: s.Array(ShownRun) },
    throws: [NotFound],
    async handle({ params }, { extractions }) {
      return { status: 200, body: (await extractions.of(params, 100)).items.map(showRun) }
    },
  })

export const listFileExtractions = runsOn('file', 'files', 'ViewFile')
export const listDatasetExtractions = runsOn('dataset', 'datasets', 'ViewDataset')

const PendingJob = s.Object({
  job_id: s.String(),
  extractor_id: s.String(),
  state: s.Union([s.Literal('waiting'), s.Literal('running'), s.Literal('dead')]),
  attempts: s.Integer(),
})

const pendingOn = (kind: 'file' | 'dataset', plural: string, permission: 'ViewFile' | 'ViewDataset') =>
  route({
    method: 'GET',
    path: `/api/${plural}/:id/extractions/pending`,
    summary: `The jobs on a ${kind} that are not done yet`,
    description: 'Our own addition. As the transports know them, oldest first; `dead` are those that were put aside.',
    permission,
    of: one(kind),
    params,
    responses: { 200: s.Array(PendingJob) },
    throws: [NotFound],
    async handle({ params }, { carriers, extractions }) {
      const all = await carriers.pending({ kind, id: params.id })
      // Not the queue: that of a private extractor holds its key.
      const names = new Map((await extractions.of(params)).items.map(run => [run.id, run.extractor]))
      const shown = all.map(({ job, state, attempts }) => ({ job_id: job.id, extractor_id: names.get(job.id) ?? '', state, attempts }))
      return { status: 200, body: shown }
    },
  })

export const listPendingOfFile = pendingOn('file', 'files', 'ViewFile')
export const listPendingOfDataset = pendingOn('dataset', 'datasets', 'ViewDataset')

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
    const { items } = await extractions.of(params)
    return { status: 200, body: { isBeingProcessed: String(isBeingProcessed(items)) } }
  },
})

export const isDatasetBeingProcessed = route({
  method: 'GET',
  path: '/api/datasets/:id/isBeingProcessed',
  summary: 'Whether extractors are at work on any file of a dataset',
  description: 'Looks at the first 1,000 files in the root, as v1 looks at those in the root only.',
  permission: 'ViewDataset',
  of: one('dataset'),
  params,
  responses: { 200: busy },
  throws: [NotFound],
  async handle({ params }, { files, extractions }) {
    const { items } = await files.in(params.id, { limit: 1000 })
    const open = await extractions.openOn(items.map(file => file.id))
    for (const file of open) {
      if (isBeingProcessed((await extractions.of({ id: file })).items)) return { status: 200, body: { isBeingProcessed: 'true' } }
    }
    return { status: 200, body: { isBeingProcessed: 'false' } }
  },
})
