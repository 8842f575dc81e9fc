import { Conflict, Files, InTrash, isServerAdmin, NotFound, Policy, routesFor, s, signedIn } from 'pounce/sdk'
import { ListedRun, listRun } from './extraction-status.ts'
import { StoredExtractions } from './stored-extractions.ts'
import { mayUse, StoredExtractors } from './stored-extractors.ts'
import { SubmissionService } from './submission-service.ts'
import { TransportRouter } from './transport-router.ts'
import { ExtractorUsage } from './usage.ts'

const route = routesFor('extractions', {
  extractions: StoredExtractions,
  extractors: StoredExtractors,
  submissions: SubmissionService,
  transports: TransportRouter,
  usage: ExtractorUsage,
  files: Files,
  policy: Policy,
})

const maxListed = 100
const runs = s.Array(ListedRun)

export const listNewestExtractions = route({
  method: 'GET',
  path: '/api/extractions',
  summary: 'List the latest 100 extractions',
  description: 'What v1 shows on its page `/admin/extractions`.',
  permission: 'serverAdmin',
  responses: { 200: runs },
  async handle(_request, { extractions }) {
    return { status: 200, body: (await extractions.newest(['open', 'done', 'failed', 'cancelled'], maxListed)).map(listRun) }
  },
})

export const listPendingExtractions = route({
  method: 'GET',
  path: '/api/extractions/pending',
  summary: 'List the latest 100 pending extractions',
  description: 'An addition to Clowder 1.x.',
  permission: 'serverAdmin',
  responses: { 200: runs },
  async handle(_request, { extractions }) {
    return { status: 200, body: (await extractions.newest(['open'], maxListed)).map(listRun) }
  },
})

export const listFailedExtractions = route({
  method: 'GET',
  path: '/api/extractions/failed',
  summary: 'List the latest 100 failed extractions',
  description:
    'An addition to Clowder 1.x. Jobs that are dead letters can be rerun, including those that were interrupted by a server stop too often.',
  permission: 'serverAdmin',
  responses: { 200: runs },
  async handle(_request, { extractions }) {
    return { status: 200, body: (await extractions.newest(['failed'], maxListed)).map(listRun) }
  },
})

export const rerunExtraction = route({
  method: 'POST',
  path: '/api/extractions/jobs/:job/rerun',
  summary: 'Rerun a failed extraction job',
  description: 'An addition to Clowder 1.x. 409 if the job is not a dead letter, or its extraction did not fail.',
  permission: 'serverAdmin',
  params: s.Object({ job: s.id('extraction') }),
  responses: { 200: s.Object({ status: s.Literal('OK'), job_id: s.String() }) },
  throws: [NotFound, Conflict, InTrash],
  async handle({ caller, params }, { submissions, extractions, policy }) {
    const target = (await extractions.get(params.job))?.target
    if (target && (await policy.isInTrash(target))) throw new InTrash(target.kind)
    await submissions.rerun(params.job, signedIn(caller).id)
    return { status: 200, body: { status: 'OK' as const, job_id: params.job } }
  },
})

export const listQueues = route({
  method: 'GET',
  path: '/api/extractions/queues',
  summary: 'List the job queues of extractors',
  description:
    'Waiting and running jobs, dead letters and consumers. An addition to Clowder 1.x. At most 1,000 queues per transport, by name.',
  permission: 'serverAdmin',
  responses: {
    200: s.Array(
      s.model(
        'Queue',
        s.Object({ queue: s.String(), waiting: s.Integer(), running: s.Integer(), consumers: s.Integer(), dead: s.Integer() }),
      ),
    ),
  },
  async handle(_request, { transports }) {
    return { status: 200, body: [...(await transports.queues())] }
  },
})

const MeanDuration = s.Object({ seconds: s.Union([s.Number(), s.Null()]), runs: s.Integer() })

export const getExtractorMetrics = route({
  method: 'GET',
  path: '/api/extractors/:name/metrics',
  summary: 'Get usage metrics of an extractor',
  description:
    'What v1 shows on its page `/extractors/{name}/metrics`: mean seconds from SUBMITTED to DONE of the latest ten extractions of a day and of a month, and the number of requests. For server admins also by user.',
  permission: 'signedIn',
  params: s.Object({ name: s.String({ minLength: 1, maxLength: 300, description: 'A name, or `private.<key>.<name>`' }) }),
  responses: {
    200: s.model(
      'ExtractorMetrics',
      s.Object({
        extractor: s.String(),
        last_day: MeanDuration,
        last_month: MeanDuration,
        jobs_last_7_days: s.Integer(),
        jobs_last_month: s.Integer(),
        by_user: s.Optional(s.Array(s.Object({ user_id: s.Union([s.String(), s.Null()]), jobs: s.Integer(), last_job_time: s.v1Date() }))),
      }),
    ),
  },
  throws: [NotFound],
  async handle({ params, caller }, { extractors, usage }) {
    const extractor = await extractors.byQueue(params.name)
    if (!extractor || !mayUse(extractor, caller.user?.id)) throw new NotFound('extractor')
    const { lastDay, lastMonth, jobs, byUser } = await usage.of(extractor.identity)
    const users = byUser.map(({ user, jobs, newest }) => ({ user_id: user, jobs, last_job_time: s.toV1Date(newest) }))
    const shown = { last_day: lastDay, last_month: lastMonth, jobs_last_7_days: jobs.lastSevenDays, jobs_last_month: jobs.lastMonth }
    return { status: 200, body: { extractor: params.name, ...shown, ...(isServerAdmin(caller) ? { by_user: users } : {}) } }
  },
})

const listenersOf = async (transports: TransportRouter) => (await Promise.all(transports.buses().map(bus => bus.listeners()))).flat()

export const listExtractorServers = route({
  method: 'GET',
  path: '/api/extractions/servers_ips',
  summary: 'List the IP addresses of connected extractors',
  permission: 'signedIn',
  responses: { 200: s.Object({ Servers: s.Array(s.String()) }) },
  async handle(_request, { transports }) {
    return { status: 200, body: { Servers: [...new Set((await listenersOf(transports)).map(({ address }) => address))].sort() } }
  },
})

export const listInputTypes = route({
  method: 'GET',
  path: '/api/extractions/supported_input_types',
  summary: 'List the media types bound to extractors',
  permission: 'signedIn',
  responses: { 200: s.Object({ InputTypes: s.Array(s.String()) }) },
  async handle(_request, { transports }) {
    return { status: 200, body: { InputTypes: [...(await transports.inputTypes())] } }
  },
})

export const listExtractorDetails = route({
  method: 'GET',
  path: '/api/extractions/extractors_details',
  summary: 'List connected extractors with their queues and IPs',
  description: 'Private queues are shown to server admins only, because their names contain keys.',
  permission: 'signedIn',
  responses: { 200: s.Array(s.model('ExtractorInstances', s.Object({ ip: s.String(), extractor_name: s.String(), count: s.Integer() }))) },
  async handle({ caller }, { transports }) {
    const all = (await listenersOf(transports)).filter(({ queue }) => isServerAdmin(caller) || !queue.includes('private.'))
    return { status: 200, body: all.map(({ address, queue, count }) => ({ ip: address, extractor_name: queue, count })) }
  },
})

export const listExtractionRequests = route({
  method: 'GET',
  path: '/api/extractions/requests',
  summary: 'List recent extraction requests',
  description:
    "Files that you may view, from the latest 1,000 extractions. v1 shows everyone's requests to everyone; here this requires a server admin. Client addresses are not stored: `clientIP` is empty.",
  permission: 'serverAdmin',
  responses: {
    200: s.Array(
      s.model(
        'ExtractionLogEntry',
        s.Object({
          clientIP: s.String(),
          fileid: s.String(),
          filename: s.String(),
          fileType: s.String(),
          filesize: s.Integer(),
          uploadDate: s.Integer({ description: 'Milliseconds since 1970' }),
          extractors: s.Array(s.String()),
          startTime: s.v1Date(),
          endTime: s.Union([s.v1Date(), s.Null()]),
        }),
      ),
    ),
  },
  async handle({ caller }, { extractions, files, policy }) {
    const newest = await extractions.newest(['open', 'done', 'failed', 'cancelled'], 1000)
    const byFile = Map.groupBy(
      newest.filter(run => run.target.kind === 'file'),
      run => run.target.id,
    )
    const seen = await policy.allowed(caller, 'ViewFile', 'file', [...byFile.keys()])
    const known = await files.getMany([...seen])
    const body = [...known.values()].map(file => {
      const own = byFile.get(file.id) ?? []
      const ends = own.map(({ end }) => end)
      return {
        clientIP: '',
        fileid: file.id,
        filename: file.name,
        fileType: file.contentType,
        filesize: file.sizeBytes,
        uploadDate: Date.parse(file.created),
        extractors: [...new Set(own.map(run => run.extractor))].sort(),
        startTime: s.toV1Date(own.map(({ start }) => start).sort()[0] ?? file.created),
        endTime: ends.includes(null)
          ? null
          : s.toV1Date(
              ends
                .filter(end => end !== null)
                .sort()
                .at(-1) ?? file.created,
            ),
      }
    })
    return { status: 200, body }
  },
})
