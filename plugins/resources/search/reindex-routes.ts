import { Conflict, type Kind, NotFound, type Permission, type Ref, type Request, ref, routesFor, s } from 'pounce/sdk'
import { IndexRebuilder } from './index-rebuilder.ts'
import type { Reindexing } from './reindex-tasks.ts'

const route = routesFor('search', { rebuilding: IndexRebuilder })

const queued = s.Object({ status: s.String() })
const time = () => s.Union([s.String(), s.Null()], { description: 'ISO 8601' })
const progress = s.model(
  'ReindexProgress',
  s.Object({
    state: s.Union([s.Literal('never'), s.Literal('queued'), s.Literal('running'), s.Literal('done'), s.Literal('failed')]),
    count: s.Integer({ description: 'Number of resources indexed so far' }),
    total: s.Union([s.Integer(), s.Null()], { description: 'Total number of resources; null while counting' }),
    reason: s.Union([s.String(), s.Null()]),
    requested: time(),
    started: time(),
    ended: time(),
    problem: s.Union([s.String(), s.Null()], { description: 'Reason of a failure' }),
  }),
)
const never = { state: 'never', count: 0, total: null, reason: null, requested: null, started: null, ended: null, problem: null } as const

const progressOf = (latest: Reindexing | undefined) => {
  if (!latest) return never
  const { state, count, total, reason, requested, started, ended, problem } = latest
  return { state, count, total, reason, requested, started, ended, problem }
}

export const reindex = route({
  method: 'POST',
  path: '/api/reindex',
  summary: 'Rebuild the search index',
  description:
    'Runs in the background. The old index is used until the new one is complete. Only one rebuild at a time: a request during a rebuild joins it. `GET /api/reindex` returns the progress.',
  permission: 'serverAdmin',
  responses: { 200: queued },
  async handle(_request, { rebuilding }) {
    await rebuilding.request(null, true, 'requested by an admin')
    return { status: 200, body: { status: 'reindex successfully queued' } }
  },
})

export const reindexProgress = route({
  method: 'GET',
  path: '/api/reindex',
  summary: 'Get the progress of the search index rebuild',
  permission: 'serverAdmin',
  responses: { 200: progress },
  async handle(_request, { rebuilding }) {
    return { status: 200, body: progressOf(await rebuilding.latest()) }
  },
})

export const deleteIndex = route({
  method: 'POST',
  path: '/api/deleteindex',
  summary: 'Empty the search index',
  permission: 'serverAdmin',
  responses: { 200: queued },
  throws: [Conflict],
  async handle(_request, { rebuilding }) {
    await rebuilding.clear()
    return { status: 200, body: { status: 'deindex successfully queued' } }
  },
})

const params = s.Object({ id: s.id() })
const contents = s.Object({ recursive: s.Boolean({ default: true, description: 'Include its contents' }) })

const reindexOf = (kind: Kind, plural: string, permission: Permission) =>
  route({
    method: 'POST',
    path: `/api/${plural}/:id/reindex`,
    summary: `Reindex a ${kind}`,
    permission: { right: permission, on: ref(kind, 'id') },
    params,
    query: contents,
    responses: { 200: queued },
    throws: [NotFound],
    async handle({ params: { id }, query }: Request<typeof params, typeof contents, undefined>, { rebuilding }) {
      await rebuilding.request({ kind, id }, query.recursive, `${kind} requested by a user`)
      return { status: 200, body: { status: 'reindex successfully queued' } }
    },
  })

const progressIn = (kind: Kind, plural: string, permission: Permission) =>
  route({
    method: 'GET',
    path: `/api/${plural}/:id/reindex`,
    summary: `Get the progress of reindexing a ${kind}`,
    permission: { right: permission, on: ref(kind, 'id') },
    params,
    responses: { 200: progress },
    throws: [NotFound],
    async handle({ params: { id } }: Request<typeof params, undefined, undefined>, { rebuilding }) {
      const what: Ref = { kind, id }
      return { status: 200, body: progressOf(await rebuilding.latest(what)) }
    },
  })

export const reindexFile = reindexOf('file', 'files', 'AddFile')
export const reindexDataset = reindexOf('dataset', 'datasets', 'CreateDataset')
export const reindexCollection = reindexOf('collection', 'collections', 'CreateCollection')
export const fileReindexProgress = progressIn('file', 'files', 'AddFile')
export const datasetReindexProgress = progressIn('dataset', 'datasets', 'CreateDataset')
export const collectionReindexProgress = progressIn('collection', 'collections', 'CreateCollection')
