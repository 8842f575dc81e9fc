import {
  authorize,
  Conflict,
  Folders,
  Installation,
  Invalid,
  type Json,
  NotFound,
  Policy,
  routesFor,
  type Stored,
  s,
  TooMany,
} from 'pounce/sdk'
import {
  afterParameter,
  type BulkAct,
  type BulkParameters,
  type BulkPlace,
  LicenseBody,
  linkToNext,
  pageOf,
  readAfter,
  readTime,
  toLicense,
} from 'pounce/sdk/kit'
import { BulkJobs, type NewBulkJob } from './bulk-jobs.ts'
import type { BulkJobRecord, BulkSelection } from './collections.ts'

const route = routesFor('bulk', { jobs: BulkJobs, policy: Policy, folders: Folders, installation: Installation })
const params = s.Object({ id: s.id('bulk job') })
const own = { permission: 'signedIn', limitedKeys: 'refused' } as const
const maxResources = 10_000
const type = s.Union([s.Literal('file'), s.Literal('folder'), s.Literal('dataset'), s.Literal('collection')])
const act = s.Union([
  s.Literal('delete'),
  s.Literal('move'),
  s.Literal('copy'),
  s.Literal('tag'),
  s.Literal('untag'),
  s.Literal('describe'),
  s.Literal('license'),
  s.Literal('submit'),
])

const BulkJob = s.model(
  'BulkJob',
  s.Object({
    id: s.String(),
    act: s.String({ description: 'Such as `tag`' }),
    state: s.String({
      description: 'Such as `running`; `collecting` the files that match, `finished`, `cancelled`, or `failed` as a whole',
    }),
    total: s.Union([s.Integer(), s.Null()], { description: 'Number of resources; null until it is known' }),
    done: s.Integer(),
    failed: s.Integer({ description: 'Number of resources that were refused' }),
    created: s.String(),
    ended: s.Union([s.String(), s.Null()]),
    message: s.Optional(s.String({ description: 'Why it failed as a whole' })),
  }),
)

const toItem = ({ id, act, state, total, done, failed, created, ended, message }: BulkJobRecord & Stored): s.Static<typeof BulkJob> => ({
  ...{ id, act, state: state === 'preparing' ? 'collecting' : state, total, done, failed, created, ended },
  ...(message === null ? {} : { message }),
})

/** An id in a body: a malformed one is treated as not found. */
const id = s.String({ maxLength: 100 })
const place = s.Object({ dataset: id, folder: s.Optional(id) })

const NewJob = s.model(
  'NewBulkJob',
  s.Object({
    act,
    resources: s.Optional(
      s.Array(s.Object({ type, id }), {
        minItems: 1,
        maxItems: maxResources,
        description: 'The resources to process; alternatively `select`',
      }),
    ),
    select: s.Optional(
      s.Object(
        {
          dataset: id,
          folder: s.Optional(id),
          recursive: s.Optional(s.Boolean({ description: 'Include files in subfolders; default: false' })),
          filter: s.Optional(s.String({ maxLength: 500, description: 'Substring of the name, case-insensitive' })),
          except: s.Optional(s.Array(id, { maxItems: maxResources, description: 'Files to exclude' })),
        },
        { description: 'All files of a dataset or folder that match when the job begins' },
      ),
    ),
    to: s.Optional(place),
    from: s.Optional(place),
    tags: s.Optional(s.Array(s.line(1000), { minItems: 1, maxItems: 100 })),
    addedSince: s.Optional(
      s.String({
        maxLength: 40,
        description: 'For `untag`: only tags that the caller added from this time on, which undoes a `tag`; ISO 8601',
      }),
    ),
    description: s.Optional(s.prose()),
    license: s.Optional(LicenseBody),
    extractor: s.Optional(s.String({ maxLength: 1000 })),
    parameters: s.Optional(s.Record(s.String(), s.json())),
  }),
)
type Body = s.Static<typeof NewJob>

const required: Partial<Record<BulkAct, readonly (keyof BulkParameters & keyof Body)[]>> = {
  move: ['to'],
  copy: ['to'],
  tag: ['tags'],
  untag: ['tags'],
  describe: ['description'],
  license: ['license'],
  submit: ['extractor'],
}

/** The location that the selected files are removed from. */
const placeOf = ({ select }: Body): BulkPlace | undefined =>
  select && !select.recursive ? { dataset: select.dataset, ...(select.folder === undefined ? {} : { folder: select.folder }) } : undefined

/** Only the parameters of the operation, so that no other field has an effect. */
const parametersIn = (body: Body): BulkParameters => {
  for (const name of required[body.act] ?? [])
    if (body[name] === undefined) throw new Invalid(`${name} is missing: ${body.act} requires it`)
  const { act, select, to, from = placeOf(body), tags, addedSince, description, license, extractor, parameters } = body
  if (act === 'move') return { to, ...(from ? { from } : {}) }
  if (act === 'copy') return { to, ...(select?.recursive ? { from: { dataset: select.dataset, folder: select.folder } } : {}) }
  if (act === 'tag') return { tags }
  if (act === 'untag')
    return { tags, ...(addedSince === undefined ? {} : { addedSince: new Date(readTime(addedSince, '`addedSince`')).toISOString() }) }
  if (act === 'describe') return { description }
  if (act === 'license') return license ? { license: toLicense(license) } : {}
  if (act === 'submit') return { extractor, parameters: (parameters ?? {}) as { readonly [key: string]: Json } }
  return {}
}

const resourcesIn = ({ act, resources, select }: Body): NewBulkJob['of'] & object => {
  if ((resources === undefined) === (select === undefined)) throw new Invalid('Send either resources or select')
  if (act === 'copy' && resources?.some(({ type }) => type === 'folder'))
    throw new Invalid('copy takes files: to copy a folder, select its files by select.folder and select.recursive')
  if (select === undefined) return (resources ?? []).map(({ type, id }) => ({ kind: type, id }))
  const { dataset, folder, recursive = false, filter, except = [] } = select
  return { dataset, recursive, except, ...(folder === undefined ? {} : { folder }), ...(filter === undefined ? {} : { filter }) }
}

export const createBulkJob = route({
  method: 'POST',
  path: '/api/bulk',
  summary: 'Start a bulk job',
  description:
    'Deletes, moves, copies, tags, untags, describes, licenses or submits many resources in the background, each as its own route does, with its own right and outcome. Either up to 10,000 `resources`, or with `select` all files ' +
    'of a dataset or folder that match. `move` and `copy` require `to`, `tag` and `untag` `tags`, `describe` `description`, `license` `license`, `submit` `extractor`. Rights are those that the account has when a resource is processed. ' +
    'Survives restarts. Progress: `GET /api/bulk/:id`, and `bulk.progressed` of the live stream.',
  ...own,
  body: NewJob,
  maxBodyBytes: 3 * 1024 * 1024,
  responses: { 202: BulkJob },
  throws: [Invalid, NotFound, Conflict, TooMany],
  async handle({ body, caller, url }, { jobs, policy, folders }) {
    const parameters = parametersIn(body)
    const of = resourcesIn(body)
    if ('dataset' in of)
      await requireSelection(of, dataset => authorize(policy, caller, 'ViewDataset', { kind: 'dataset', id: dataset }), folders)
    const job = await jobs.create(caller, { act: body.act, parameters, of })
    return { status: 202, body: toItem(job), headers: { location: `${url.pathname}/${job.id}` } }
  },
})

const requireSelection = async (
  { dataset, folder }: BulkSelection,
  mayView: (dataset: string) => Promise<void>,
  folders: Folders,
): Promise<void> => {
  await mayView(dataset)
  if (folder !== undefined && (await folders.get(folder))?.dataset !== dataset) throw new NotFound('folder')
}

export const listBulkJobs = route({
  method: 'GET',
  path: '/api/bulk',
  summary: 'List my bulk jobs, newest first',
  description: 'Jobs are kept for a week after their end. Paginated by the `Link` header.',
  ...own,
  query: s.Object({ limit: s.Integer({ default: 20, minimum: 1, maximum: 200 }), after: afterParameter() }),
  responses: { 200: s.Array(BulkJob) },
  throws: [Invalid],
  async handle({ query, caller, url }, { jobs, installation }) {
    const page = await jobs.of(caller, pageOf(query))
    return { status: 200, body: page.items.map(toItem), ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
  },
})

export const getBulkJob = route({
  method: 'GET',
  path: '/api/bulk/:id',
  summary: 'Get the progress of a bulk job',
  description: 'Only for its creator. Counted in steps of 100 resources.',
  ...own,
  params,
  responses: { 200: BulkJob },
  throws: [NotFound],
  async handle({ params, caller }, { jobs }) {
    return { status: 200, body: toItem(await jobs.get(params.id, caller)) }
  },
})

export const cancelBulkJob = route({
  method: 'DELETE',
  path: '/api/bulk/:id',
  summary: 'Cancel a bulk job',
  description:
    'Only for its creator. What was done stays; a few resources that are being processed may still be done. The others stay `waiting`. A job that has ended is unchanged.',
  ...own,
  params,
  responses: { 200: BulkJob },
  throws: [NotFound],
  async handle({ params, caller }, { jobs }) {
    return { status: 200, body: toItem(await jobs.cancel(params.id, caller)) }
  },
})

const outcome = s.Union([s.Literal('waiting'), s.Literal('done'), s.Literal('failed')])

export const listBulkOutcomes = route({
  method: 'GET',
  path: '/api/bulk/:id/outcomes',
  summary: 'List the outcomes of a bulk job',
  description:
    'Only for its creator. One item per resource, in the order of the request; with `state` only some of them. `code` and `message` say why a resource was refused. Paginated by the `Link` header; a page can be shorter than `limit`.',
  ...own,
  params,
  query: s.Object({ state: s.Optional(outcome), limit: s.Integer({ default: 1000, minimum: 1, maximum: 1000 }), after: afterParameter() }),
  responses: {
    200: s.Array(
      s.model(
        'BulkOutcome',
        s.Object({ type: s.String(), id: s.String(), state: outcome, code: s.Optional(s.String()), message: s.Optional(s.String()) }),
      ),
    ),
  },
  throws: [NotFound, Invalid],
  async handle({ params, query: { state, limit, after }, caller, url }, { jobs, installation }) {
    const job = await jobs.get(params.id, caller)
    const from = after === undefined ? 0 : Number(readAfter(after)[0])
    if (!Number.isSafeInteger(from)) throw new Invalid('after must be a cursor from a Link header')
    const page = await jobs.outcomes(job, { state, from, limit })
    return { status: 200, body: [...page.items], ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
  },
})
