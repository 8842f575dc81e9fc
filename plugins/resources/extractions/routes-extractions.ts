import { type Caller, Conflict, Datasets, Files, Invalid, NotFound, NotSignedIn, Policy, ref, routesFor, s } from 'pounce/sdk'
import { optionalOrNull } from 'pounce/sdk/kit'
import { isFileBusy, newestByExtractor, overallStatus, ShownRun, showRun } from './extraction-status.ts'
import { StoredExtractions } from './stored-extractions.ts'
import { SubmissionService } from './submission-service.ts'
import { TransportRouter } from './transport-router.ts'

const route = routesFor('extractions', {
  extractions: StoredExtractions,
  submissions: SubmissionService,
  transports: TransportRouter,
  files: Files,
  datasets: Datasets,
  policy: Policy,
})

const params = s.Object({ id: s.id() })
const Submitted = s.model('SubmittedJob', s.Object({ status: s.Literal('OK'), job_id: s.String() }))
const SubmissionBody = s.model(
  'ExtractionRequest',
  s.Object({
    extractor: s.Optional(s.String({ minLength: 1, maxLength: 300, description: 'A name, or `private.<key>.<name>`' })),
    parameters: optionalOrNull(s.Record(s.String(), s.Unknown())),
  }),
)
const submissionOf = (body: s.Static<typeof SubmissionBody>, { user, limits }: Caller) => ({
  extractor: body.extractor,
  parameters: body.parameters ?? {},
  user: user?.id,
  keysUntil: limits?.job?.expires,
})

export const submitFile = route({
  method: 'POST',
  path: '/api/files/:id/extractions',
  summary: 'Submit a file to an extractor',
  description:
    '409 for an archived file, and for a file awaiting its malware scan. Unlike v1, which lost such a job, an unknown extractor or a private one of another user is rejected.',
  permission: { right: 'EditFile', on: ref('file', 'id') },
  jobKeys: 'allowed',
  params,
  body: SubmissionBody,
  responses: { 200: Submitted },
  throws: [Invalid, NotFound, Conflict],
  async handle({ params, body, caller }, { submissions, files }) {
    const file = await files.get(params.id)
    if (!file) throw new NotFound('file')
    return { status: 200, body: { status: 'OK' as const, job_id: await submissions.ofFile(file, submissionOf(body, caller)) } }
  },
})

export const submitDataset = route({
  method: 'POST',
  path: '/api/datasets/:id/extractions',
  summary: 'Submit a dataset to an extractor',
  permission: { right: 'EditDataset', on: ref('dataset', 'id') },
  jobKeys: 'allowed',
  params,
  body: SubmissionBody,
  responses: { 200: Submitted },
  throws: [Invalid, NotFound],
  async handle({ params, body, caller }, { submissions, datasets }) {
    const dataset = await datasets.get(params.id)
    if (!dataset) throw new NotFound('dataset')
    return { status: 200, body: { status: 'OK' as const, job_id: await submissions.ofDataset(dataset, submissionOf(body, caller)) } }
  },
})

export const submitSelected = route({
  method: 'POST',
  path: '/api/selected/submit/:dataset/:file_ids',
  summary: 'Submit several files of a dataset to an extractor',
  description: 'Files that are not ready, or not in the dataset, are skipped. At most 1,000 files.',
  permission: { right: 'EditDataset', on: ref('dataset', 'dataset') },
  params: s.Object({ dataset: s.id(), file_ids: s.String({ description: 'Ids, separated by commas' }) }),
  body: SubmissionBody,
  responses: { 200: s.Object({ status: s.Literal('success'), jobs: s.Record(s.String(), s.String()) }) },
  throws: [Invalid, NotFound],
  async handle({ params, body, caller }, { submissions }) {
    const ids = [...new Set(params.file_ids.split(',').map(id => id.trim()))].filter(s.isId)
    if (ids.length > 1000) throw new Invalid(`At most 1,000 files can be submitted at once, not ${ids.length}`)
    const jobs = await submissions.ofSelected(params.dataset, ids, submissionOf(body, caller))
    return { status: 200, body: { status: 'success' as const, jobs } }
  },
})

const cancelOn = (kind: 'file' | 'dataset', plural: string, permission: 'EditFile' | 'EditDataset') =>
  route({
    method: 'DELETE',
    path: `/api/${plural}/:id/extractions/:job`,
    summary: `Cancel an extraction of a ${kind}`,
    description:
      '`job` is the `msgid` or `jobid` of the message, which are the same here. A waiting job is removed from its queue, a running built-in extractor is stopped; other running jobs continue. `extractor` in the body is required, as in v1. The status of the extraction becomes `Cancel Success` or `Cancel Failed`. A failed extraction remains failed; its dead letter is deleted.',
    permission: { right: permission, on: ref(kind, 'id') },
    params: s.Object({ id: s.id(), job: s.id('extraction') }),
    body: s.Object({ extractor: s.Optional(s.String({ minLength: 1, maxLength: 300 })) }),
    responses: { 200: s.Object({ status: s.Literal('OK') }) },
    throws: [Invalid, NotFound, Conflict],
    async handle({ params, body }, { submissions }) {
      if (body.extractor === undefined) {
        throw new Invalid('extractor is missing: the name of the extractor whose job to cancel', {
          details: { request: 'extractor field not found' },
        })
      }
      await submissions.cancel({ kind, id: params.id }, params.job, body.extractor)
      return { status: 200, body: { status: 'OK' as const } }
    },
  })

export const cancelFileExtraction = cancelOn('file', 'files', 'EditFile')
export const cancelDatasetExtraction = cancelOn('dataset', 'datasets', 'EditDataset')

const Statuses = s.Record(s.String(), s.String())
const StatusAnswer = s.Union([Statuses, s.Literal('no file')], { 'x-content': { 'application/json': Statuses, 'text/plain': s.text() } })

export const getExtractionStatus = route({
  method: 'GET',
  path: '/api/extractions/:id/status',
  summary: 'Get the extraction status of a file',
  description:
    'One member per extractor with its latest status, and `Status` with the overall status. For a missing or hidden file the text `no file`, as in v1; on a private server anonymous callers get 401.',
  permission: 'anyone',
  jobKeys: 'allowed',
  params,
  responses: { 200: StatusAnswer },
  throws: [NotSignedIn],
  async handle({ params, caller }, { extractions, files, policy, transports }) {
    const decision = await policy.canOn(caller, 'ViewFile', { kind: 'file', id: params.id })
    const file = decision === 'yes' ? await files.get(params.id) : undefined
    if (!file && policy.isPrivate && caller.via === 'nothing') throw new NotSignedIn()
    if (!file) return { status: 200, body: 'no file' as const }
    const { items } = await extractions.of(file)
    const each = [...newestByExtractor(items)].map(([extractor, run]) => [extractor, run.status])
    const status = overallStatus(file, items, await transports.inputTypes())
    return { status: 200, body: { ...Object.fromEntries(each), Status: status } }
  },
})

const RunOnResource = s.model(
  'ResourceExtraction',
  s.Intersect([
    ShownRun,
    s.Object({ state: s.Union([s.Literal('processing'), s.Literal('done'), s.Literal('failed'), s.Literal('cancelled')]) }),
  ]),
)

const runsOn = (kind: 'file' | 'dataset', plural: string, permission: 'ViewFile' | 'ViewDataset') =>
  route({
    method: 'GET',
    path: `/api/${plural}/:id/extractions`,
    summary: `List the extractions of a ${kind}, newest first`,
    description: 'An addition to Clowder 1.x. At most 100 extractions, each with its latest 100 status messages.',
    permission: { right: permission, on: ref(kind, 'id') },
    params,
    responses: { 200: s.Array(RunOnResource) },
    throws: [NotFound],
    async handle({ params }, { extractions }) {
      const { items } = await extractions.of(params, 100)
      const body = items.map(run => ({ ...showRun(run), state: run.state === 'open' ? ('processing' as const) : run.state }))
      return { status: 200, body }
    },
  })

export const listFileExtractions = runsOn('file', 'files', 'ViewFile')
export const listDatasetExtractions = runsOn('dataset', 'datasets', 'ViewDataset')

export const listExtractionStates = route({
  method: 'POST',
  path: '/api/extractions/states',
  summary: 'List which files and datasets are processing or failed',
  description:
    'An addition to Clowder 1.x. Nothing is changed. One item for each that the caller may view and that has an unfinished extraction (`processing`) or, without one, an extractor whose latest extraction failed.',
  permission: 'reader',
  limitedKeys: 'allowed',
  body: s.model('ExtractionTargets', s.Object({ ids: s.Array(s.id(), { maxItems: 1000, description: 'Of files and datasets' }) }), {
    ids: ['5b2a1c8e4f0c2d3a6b7e9f10'],
  }),
  responses: {
    200: s.Array(
      s.model(
        'ExtractionState',
        s.Object({
          id: s.String(),
          state: s.Union([s.Literal('processing'), s.Literal('failed')]),
          extractor: s.String(),
          message: s.String({ description: 'The latest status message' }),
        }),
        { id: '5b2a1c8e4f0c2d3a6b7e9f10', state: 'failed', extractor: 'pounce.csv', message: 'ERROR: no columns' },
      ),
    ),
  },
  async handle({ body, caller }, { extractions, policy }) {
    const ids = [...new Set(body.ids)]
    const [files, datasets] = await Promise.all([
      policy.allowed(caller, 'ViewFile', 'file', ids, 'readable'),
      policy.allowed(caller, 'ViewDataset', 'dataset', ids, 'readable'),
    ])
    const states = await extractions.statesOn(ids.filter(id => files.has(id) || datasets.has(id)))
    const shown = [...states].map(([id, { state, extractor, status }]) => ({
      id,
      state: state === 'open' ? ('processing' as const) : ('failed' as const),
      extractor,
      message: status,
    }))
    return { status: 200, body: shown }
  },
})

const PendingJob = s.model(
  'Job',
  s.Object({
    job_id: s.String(),
    extractor_id: s.String(),
    state: s.Union([s.Literal('waiting'), s.Literal('running'), s.Literal('dead')]),
    attempts: s.Integer(),
  }),
)

const pendingOn = (kind: 'file' | 'dataset', plural: string, permission: 'ViewFile' | 'ViewDataset') =>
  route({
    method: 'GET',
    path: `/api/${plural}/:id/extractions/pending`,
    summary: `List the pending extractions of a ${kind}`,
    description: 'An addition to Clowder 1.x. Jobs as known to the transports, oldest first; `dead` marks dead letters.',
    permission: { right: permission, on: ref(kind, 'id') },
    params,
    responses: { 200: s.Array(PendingJob) },
    throws: [NotFound],
    async handle({ params }, { transports, extractions }) {
      const all = await transports.pending({ kind, id: params.id })
      // Not the queue: the queue name of a private extractor contains its key.
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
  summary: 'Check whether a file is being processed',
  permission: { right: 'ViewFile', on: ref('file', 'id') },
  jobKeys: 'allowed',
  params,
  responses: { 200: busy },
  throws: [NotFound],
  async handle({ params }, { extractions, files }) {
    const [file, { items }] = await Promise.all([files.get(params.id), extractions.of(params)])
    if (!file) throw new NotFound('file')
    return { status: 200, body: { isBeingProcessed: String(isFileBusy(file, items)) } }
  },
})

export const isDatasetBeingProcessed = route({
  method: 'GET',
  path: '/api/datasets/:id/isBeingProcessed',
  summary: "Check whether a dataset's files are being processed",
  description: 'Checks the first 1,000 files in the root, as v1 checks those in the root only.',
  permission: { right: 'ViewDataset', on: ref('dataset', 'id') },
  jobKeys: 'allowed',
  params,
  responses: { 200: busy },
  throws: [NotFound],
  async handle({ params }, { files, extractions }) {
    const { items } = await files.in(params.id, { limit: 1000 })
    const open = await extractions.openOn(items.map(file => file.id))
    for (const file of items) {
      if (file.status !== 'CREATED' && !open.has(file.id)) continue
      if (isFileBusy(file, (await extractions.of(file)).items)) return { status: 200, body: { isBeingProcessed: 'true' } }
    }
    return { status: 200, body: { isBeingProcessed: 'false' } }
  },
})
