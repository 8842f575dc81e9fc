import { Installation, isServerAdmin, routesFor, s } from 'pounce/sdk'
import { ComponentStatus } from './known-parts.ts'
import { CachedTotals } from './known-totals.ts'

const route = routesFor('status', { totals: CachedTotals, installation: Installation, parts: ComponentStatus })

const untold = { spaces: 0, collections: 0, datasets: 0, files: 0, bytes: 0, users: 0 } as const

const Version = s.model('Version', s.Object({ number: s.String(), build: s.String(), branch: s.String(), gitsha1: s.String() }))

export const getVersion = route({
  method: 'GET',
  path: '/api/version',
  summary: 'Get the version of the server',
  permission: 'anyone',
  responses: { 200: s.Object({ version: Version }) },
  async handle(_request, { installation }) {
    return { status: 200, body: { version: { number: installation.version, build: 'pounce', branch: '', gitsha1: '' } } }
  },
})

export const getStatus = route({
  method: 'GET',
  path: '/api/status',
  summary: 'Get the status of the server',
  description:
    'On a private server the totals are for server admins; others get 0, because totals would reveal hidden resources. Server admins also see the storage locations. An unavailable component is `disconnected` (MongoDB: `false`), and the totals are then the last known ones.',
  permission: 'anyone',
  responses: {
    200: s.model(
      'Status',
      s.Object({
        instance: s.String(),
        version: Version,
        counts: s.Object({
          spaces: s.Integer(),
          collections: s.Integer(),
          datasets: s.Integer(),
          files: s.Integer(),
          bytes: s.Integer(),
          users: s.Integer(),
        }),
        plugins: s.Record(s.String(), s.Unknown()),
        storage: s.Record(s.String(), s.Unknown()),
        extractors: s.Array(s.String()),
      }),
    ),
  },
  async handle({ caller }, { totals, installation, parts }) {
    const isForAdmin = isServerAdmin(caller)
    const [counts, plugins, storage, extractors] = await Promise.all([
      isForAdmin || !installation.isPrivate ? totals.known() : untold,
      parts.plugins(isForAdmin),
      parts.storage(isForAdmin),
      parts.extractors(),
    ])
    return {
      status: 200,
      body: {
        instance: installation.instance,
        version: { number: installation.version, build: 'pounce', branch: '', gitsha1: '' },
        counts: { ...counts },
        plugins,
        storage,
        extractors,
      },
    }
  },
})
