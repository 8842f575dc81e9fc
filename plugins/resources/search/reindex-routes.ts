import { Conflict, type Kind, NotFound, one, type Permission, type Ref, type Request, routesFor, s } from 'pounce/sdk'
import { Rebuild } from './rebuilding.ts'
import type { Reindexing } from './reindex-board.ts'

const route = routesFor('search', { rebuilding: Rebuild })

const queued = s.Object({ status: s.String() })
const time = () => s.Union([s.String(), s.Null()], { description: 'ISO 8601' })
const progress = s.Object({
  state: s.Union([s.Literal('never'), s.Literal('queued'), s.Literal('running'), s.Literal('done'), s.Literal('failed')]),
  count: s.Integer({ description: 'Resources indexed so far' }),
  total: s.Union([s.Integer(), s.Null()], { description: 'Resources there are; null while they are being counted' }),
  reason: s.Union([s.String(), s.Null()]),
  requested: time(),
  started: time(),
  ended: time(),
  problem: s.Union([s.String(), s.Null()], { description: 'Why it failed' }),
})
const never = { state: 'never', count: 0, total: null, reason: null, requested: null, started: null, ended: null, problem: null } as const

const progressOf = (latest: Reindexing | undefined) => {
  if (!latest) return never
  const { state, count, total, reason, requested, started, ended, problem } = latest
  return { state, count, total, reason, requested, started, ended, problem }
}

export const reindex = route({
  method: 'POST',
  path: '/api/reindex',
  summary: 'Build the search index anew, in the background',
  description:
    'The old index serves until the new one is complete. One at a time: while one is under way it will do. `GET /api/reindex` tells how far it is.',
  permission: 'serverAdmin',
  responses: { 200: queued },
  async handle(_request, { rebuilding }) {
    await rebuilding.request(null, true, 'an admin asked for it')
    return { status: 200, body: { status: 'reindex successfully queued' } }
  },
})

export const reindexProgress = route({
  method: 'GET',
  path: '/api/reindex',
  summary: 'How far the search index is being built anew, and how it ended',
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
const contents = s.Object({ recursive: s.Boolean({ default: true, description: 'With what is in it' }) })

const reindexOf = (kind: Kind, plural: string, permission: Permission) =>
  route({
    method: 'POST',
    path: `/api/${plural}/:id/reindex`,
    summary: `Bring a ${kind} and what is in it into the search index anew, in the background`,
    permission,
    of: one(kind),
    params,
    query: contents,
    responses: { 200: queued },
    throws: [NotFound],
    async handle({ params: { id }, query }: Request<typeof params, typeof contents, undefined>, { rebuilding }) {
      await rebuilding.request({ kind, id }, query.recursive, `somebody asked for this ${kind}`)
      return { status: 200, body: { status: 'reindex successfully queued' } }
    },
  })

const progressIn = (kind: Kind, plural: string, permission: Permission) =>
  route({
    method: 'GET',
    path: `/api/${plural}/:id/reindex`,
    summary: `How far a ${kind} is being indexed anew, and how it ended`,
    permission,
    of: one(kind),
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
