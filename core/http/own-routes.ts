import { type Bytes, isServerAdmin, NotFound, type Route, rawJson, routesFor, s } from 'pounce/sdk'
import { docsFile, docsPage } from './docs-page.ts'
import type { MountedRoute, ReadinessReport } from './types.ts'

/** What the kernel's own routes show. */
export interface OwnRoutesOptions {
  readonly readiness: () => Promise<ReadinessReport>
  readonly isStopping: () => boolean
  /** The text of the OpenAPI document. */
  readonly openapi: () => string
  /** Present when `/metrics` is on. */
  readonly scrape: (() => Promise<{ readonly contentType: string; readonly text: string }>) | undefined
  /** False when a plugin has a page of its own at `/`. */
  readonly takesRoot: boolean
}

const route = routesFor('server', {})

const report = s.Object({
  ready: s.Boolean(),
  plugins: s.Optional(s.Array(s.Object({ id: s.String(), ok: s.Boolean(), message: s.Optional(s.String()) }))),
  waiting: s.Optional(s.Integer()),
  parked: s.Optional(s.Integer()),
})

/** The routes of the kernel itself: health, readiness, measurements and the API's own description. */
export const ownRoutes = (options: OwnRoutesOptions): readonly MountedRoute[] => {
  const routes: Record<string, Route> = {
    getHealth,
    getReadiness: readinessRoute(options),
    getOpenapi: openapiRoute(options),
    getDocs,
    getDocsFile,
  }
  if (options.scrape) routes['getMetrics'] = metricsRoute(options.scrape)
  if (options.takesRoot) routes['getRoot'] = getRoot
  return Object.entries(routes).map(([name, each]) => ({
    plugin: 'core',
    name,
    route: each,
    needs: {},
    isLenient: name === 'getReadiness',
  }))
}

const getHealth = route({
  method: 'GET',
  path: '/healthz',
  summary: 'Whether the server is alive; asks nothing of any store',
  permission: 'anyone',
  ignoresCredentials: true,
  responses: { 200: s.text() },
  handle: async () => ({ status: 200, body: 'healthy' }),
})

const readinessRoute = ({ readiness, isStopping }: OwnRoutesOptions): Route =>
  route({
    method: 'GET',
    path: '/readyz',
    summary: 'Whether the server can do its work',
    description: 'Server admins see each plugin, the events that wait and those that were given up.',
    permission: 'anyone',
    responses: { 200: report, 503: report },
    async handle({ caller }) {
      const { ready, plugins, waiting, parked } = await readiness()
      const isReady = ready && !isStopping()
      const detail = { plugins: [...plugins], ...(waiting === undefined ? {} : { waiting }), ...(parked === undefined ? {} : { parked }) }
      return { status: isReady ? 200 : 503, body: { ready: isReady, ...(isServerAdmin(caller) ? detail : {}) } }
    },
  })

const openapiRoute = ({ openapi }: OwnRoutesOptions): Route =>
  route({
    method: 'GET',
    path: '/openapi.json',
    summary: 'This API as an OpenAPI 3.0.1 document',
    permission: 'anyone',
    ignoresCredentials: true,
    responses: { 200: s.Object({ openapi: s.String() }) },
    handle: async () => ({ status: 200, body: rawJson(openapi()) }),
  })

const metricsRoute = (scrape: () => Promise<{ readonly contentType: string; readonly text: string }>): Route =>
  route({
    method: 'GET',
    path: '/metrics',
    summary: 'Measurements for Prometheus',
    permission: 'anyone',
    ignoresCredentials: true,
    responses: { 200: s.text() },
    async handle() {
      const { contentType, text } = await scrape()
      return { status: 200, body: text, headers: { 'content-type': contentType } }
    },
  })

const getDocs = route({
  method: 'GET',
  path: '/docs',
  summary: 'A page to read and try this API',
  permission: 'anyone',
  ignoresCredentials: true,
  responses: { 200: s.bytes<Bytes>() },
  handle: async () => ({ status: 200, body: docsPage() }),
})

const getDocsFile = route({
  method: 'GET',
  path: '/docs/:file',
  summary: 'A file of the page',
  permission: 'anyone',
  ignoresCredentials: true,
  params: s.Object({ file: s.String() }),
  responses: { 200: s.bytes<Bytes>() },
  throws: [NotFound],
  async handle({ params }) {
    const body = await docsFile(params.file)
    if (!body) throw new NotFound('file')
    return { status: 200, body }
  },
})

const getRoot = route({
  method: 'GET',
  path: '/',
  summary: 'Leads to the page of the API',
  permission: 'anyone',
  ignoresCredentials: true,
  responses: { 302: s.empty() },
  handle: async () => ({ status: 302, body: undefined, headers: { location: 'docs' } }),
})
