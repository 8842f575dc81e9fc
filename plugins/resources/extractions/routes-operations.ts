import { Conflict, Files, isServerAdmin, NotFound, Policy, routesFor, s } from 'pounce/sdk'
import { AllTransports, type Carriers } from './carriers.ts'
import { ListedRun, listRun } from './extraction-status.ts'
import { Extractions } from './stored-extractions.ts'
import { KnownExtractors, mayUse } from './stored-extractors.ts'
import { Submissions } from './submission.ts'
import { UsageOfExtractors } from './usage.ts'

const route = routesFor('extractions', {
  extractions: Extractions,
  extractors: KnownExtractors,
  submissions: Submissions,
  carriers: AllTransports,
  usage: UsageOfExtractors,
  files: Files,
  policy: Policy,
})

const shownAtOnce = 100
const runs = s.Array(ListedRun)

export const listNewestExtractions = route({
  method: 'GET',
  path: '/api/extractions',
  summary: 'The newest 100 runs of all',
  description: 'What v1 shows on its page `/admin/extractions`.',
  permission: 'serverAdmin',
  responses: { 200: runs },
  async handle(_request, { extractions }) {
    return { status: 200, body: (await extractions.newest(['open', 'done', 'failed', 'cancelled'], shownAtOnce)).map(listRun) }
  },
})

export const listPendingExtractions = route({
  method: 'GET',
  path: '/api/extractions/pending',
  summary: 'The newest 100 runs that are not over',
  description: 'Our own addition.',
  permission: 'serverAdmin',
  responses: { 200: runs },
  async handle(_request, { extractions }) {
    return { status: 200, body: (await extractions.newest(['open'], shownAtOnce)).map(listRun) }
  },
})

export const listFailedExtractions = route({
  method: 'GET',
  path: '/api/extractions/failed',
  summary: 'The newest 100 runs that failed',
  description:
    'Our own addition. Those whose job was put aside can run again, also those put aside because the server ended during them too often.',
  permission: 'serverAdmin',
  responses: { 200: runs },
  async handle(_request, { extractions }) {
    return { status: 200, body: (await extractions.newest(['failed'], shownAtOnce)).map(listRun) }
  },
})

export const rerunExtraction = route({
  method: 'POST',
  path: '/api/extractions/jobs/:job/rerun',
  summary: 'Have a job that was put aside run again',
  description: 'Our own addition. 409 when no such job is put aside, or its run did not fail.',
  permission: 'serverAdmin',
  params: s.Object({ job: s.id() }),
  responses: { 200: s.Object({ status: s.Literal('OK'), job_id: s.String() }) },
  throws: [NotFound, Conflict],
  async handle({ params }, { submissions }) {
    await submissions.rerun(params.job)
    return { status: 200, body: { status: 'OK' as const, job_id: params.job } }
  },
})

export const listQueues = route({
  method: 'GET',
  path: '/api/extractions/queues',
  summary: 'The queues of extractors: what waits, runs and was put aside, and how many listen',
  description: 'Our own addition. At most 1,000 of each transport, by name.',
  permission: 'serverAdmin',
  responses: {
    200: s.Array(s.Object({ queue: s.String(), waiting: s.Integer(), running: s.Integer(), consumers: s.Integer(), dead: s.Integer() })),
  },
  async handle(_request, { carriers }) {
    return { status: 200, body: [...(await carriers.queues())] }
  },
})

const Pace = s.Object({ seconds: s.Union([s.Number(), s.Null()]), runs: s.Integer() })

export const getExtractorMetrics = route({
  method: 'GET',
  path: '/api/extractors/:name/metrics',
  summary: 'How much an extractor is used, and how long it takes',
  description:
    'What v1 shows on its page `/extractors/{name}/metrics`: mean seconds from SUBMITTED to DONE of the newest ten runs of a day and of a month, and how many were asked for. For server admins also by whom.',
  permission: 'signedIn',
  params: s.Object({ name: s.String({ minLength: 1, maxLength: 300, description: 'A name, or `private.<key>.<name>`' }) }),
  responses: {
    200: s.Object({
      extractor: s.String(),
      last_day: Pace,
      last_month: Pace,
      jobs_last_7_days: s.Integer(),
      jobs_last_month: s.Integer(),
      by_user: s.Optional(s.Array(s.Object({ user_id: s.Union([s.String(), s.Null()]), jobs: s.Integer(), last_job_time: s.v1Date() }))),
    }),
  },
  throws: [NotFound],
  async handle({ params, caller }, { extractors, usage }) {
    const extractor = await extractors.behind(params.name)
    if (!extractor || !mayUse(extractor, caller.user?.id)) throw new NotFound('extractor')
    const { lastDay, lastMonth, jobs, byUser } = await usage.of(extractor.identity)
    const users = byUser.map(({ user, jobs, newest }) => ({ user_id: user, jobs, last_job_time: s.toV1Date(newest) }))
    const shown = { last_day: lastDay, last_month: lastMonth, jobs_last_7_days: jobs.lastSevenDays, jobs_last_month: jobs.lastMonth }
    return { status: 200, body: { extractor: params.name, ...shown, ...(isServerAdmin(caller) ? { by_user: users } : {}) } }
  },
})

const listenersOf = async (carriers: Carriers) => (await Promise.all(carriers.buses().map(bus => bus.listeners()))).flat()

export const listExtractorServers = route({
  method: 'GET',
  path: '/api/extractions/servers_ips',
  summary: 'The addresses from which extractors listen to the bus',
  permission: 'signedIn',
  responses: { 200: s.Object({ Servers: s.Array(s.String()) }) },
  async handle(_request, { carriers }) {
    return { status: 200, body: { Servers: [...new Set((await listenersOf(carriers)).map(({ address }) => address))].sort() } }
  },
})

export const listInputTypes = route({
  method: 'GET',
  path: '/api/extractions/supported_input_types',
  summary: 'The main media types that are bound on the bus in the old way',
  permission: 'signedIn',
  responses: { 200: s.Object({ InputTypes: s.Array(s.String()) }) },
  async handle(_request, { carriers }) {
    return { status: 200, body: { InputTypes: [...(await carriers.inputTypes())] } }
  },
})

export const listExtractorDetails = route({
  method: 'GET',
  path: '/api/extractions/extractors_details',
  summary: 'Who listens to which queue of the bus, and from where',
  description: 'Private queues are left out but for server admins: their names hold keys.',
  permission: 'signedIn',
  responses: { 200: s.Array(s.Object({ ip: s.String(), extractor_name: s.String(), count: s.Integer() })) },
  async handle({ caller }, { carriers }) {
    const all = (await listenersOf(carriers)).filter(({ queue }) => isServerAdmin(caller) || !queue.includes('private.'))
    return { status: 200, body: all.map(({ address, queue, count }) => ({ ip: address, extractor_name: queue, count })) }
  },
})

export const listExtractionRequests = route({
  method: 'GET',
  path: '/api/extractions/requests',
  summary: 'The files on which extractors were asked to run lately, with who was asked',
  description:
    'From the newest 1,000 runs, files that you may see. v1 shows everybody’s to everybody; here it takes a server admin. Addresses of clients are not kept: `clientIP` is empty.',
  permission: 'serverAdmin',
  responses: {
    200: s.Array(
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
