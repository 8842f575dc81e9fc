import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type Bytes, isServerAdmin, NotFound, NotSignedIn, type Route, routesFor, s } from 'pounce/sdk'
import { pagePolicy, rawJson, streamed } from 'pounce/sdk/kit'
import type { AbsentConsumer } from 'pounce/sdk/store-kit'
import type { PluginRoute } from './http/router.ts'

type Scrape = () => Promise<{ readonly contentType: string; readonly text: string }>

/** Used by monitoring, so it is not deferred under load. */
export const healthPath = '/healthz'

/** The readiness of the kernel, for `/readyz`. */
export interface ReadinessReport {
  readonly ready: boolean
  readonly plugins: readonly { readonly id: string; readonly ok: boolean; readonly message?: string }[]
  /** Number of waiting events. */
  readonly waiting?: number
  /** Number of dead letters. */
  readonly parked?: number
  /** Consumers of plugins that are not running, for which events are kept. */
  readonly absent?: readonly AbsentConsumer[]
}

/** Dependencies of the kernel's own routes. */
export interface SystemRoutesOptions {
  readonly readiness: () => Promise<ReadinessReport>
  readonly isStopping: () => boolean
  /** The serialized OpenAPI document. */
  readonly openapi: () => Promise<string>
  /** Present if `/metrics` is enabled. */
  readonly scrape: Scrape | undefined
  /** Bearer token for `/metrics`; if absent, only server admins have access. */
  readonly metricsToken: string | undefined
}

const route = routesFor('server', {})

/** The report of `/readyz`. */
export const readinessSchema = s.model(
  'Readiness',
  s.Object({
    ready: s.Boolean(),
    plugins: s.Optional(s.Array(s.Object({ id: s.String(), ok: s.Boolean(), message: s.Optional(s.String()) }))),
    waiting: s.Optional(s.Integer()),
    parked: s.Optional(s.Integer()),
    absentConsumers: s.Optional(
      s.Array(s.Object({ consumer: s.String(), waiting: s.Integer(), oldest: s.Union([s.String(), s.Null()]) }), {
        description: 'Consumers of plugins that are not running; their events are kept',
      }),
    ),
  }),
)

/** The kernel's own routes: health, readiness, metrics and API documentation. */
export const systemRoutes = (options: SystemRoutesOptions): readonly PluginRoute[] => {
  const routes: Record<string, Route> = {
    getHealth,
    getReadiness: readinessRoute(options),
    getOpenapi: openapiRoute(options),
    getDocs,
    getDocsFile,
  }
  if (options.scrape) routes['getMetrics'] = metricsRoute(options.scrape, options.metricsToken)
  return Object.entries(routes).map(([name, each]) => systemRoute(name, each))
}

const systemRoute = (name: string, route: Route): PluginRoute => ({
  plugin: 'core',
  name,
  route,
  needs: {},
  isLenient: name === 'getReadiness',
})

const getHealth = route({
  method: 'GET',
  path: healthPath,
  summary: 'Check that the server is running',
  permission: 'anyone',
  ignoresCredentials: true,
  responses: { 200: s.text() },
  handle: async () => ({ status: 200, body: 'healthy' }),
})

const readinessRoute = ({ readiness, isStopping }: SystemRoutesOptions): Route =>
  route({
    method: 'GET',
    path: '/readyz',
    summary: 'Check that the server is ready',
    description:
      'Server admins also get the state of each plugin, waiting events, dead letters, and events kept for plugins that are not running.',
    permission: 'anyone',
    responses: { 200: readinessSchema, 503: readinessSchema },
    async handle({ caller }) {
      const { ready, plugins, waiting, parked, absent } = await readiness()
      const isReady = ready && !isStopping()
      const detail = {
        plugins: [...plugins],
        ...(waiting === undefined ? {} : { waiting }),
        ...(parked === undefined ? {} : { parked }),
        ...(absent === undefined || absent.length === 0 ? {} : { absentConsumers: absent.map(one => ({ ...one })) }),
      }
      return { status: isReady ? 200 : 503, body: { ready: isReady, ...(isServerAdmin(caller) ? detail : {}) } }
    },
  })

const openapiRoute = ({ openapi }: SystemRoutesOptions): Route =>
  route({
    method: 'GET',
    path: '/openapi.json',
    // The paths of Clowder 1.x.
    aliases: [{ path: '/swagger.json' }, { path: '/swagger' }],
    summary: 'Get the OpenAPI document',
    permission: 'anyone',
    ignoresCredentials: true,
    responses: { 200: s.Object({ openapi: s.String() }) },
    handle: async () => ({ status: 200, body: rawJson(await openapi()) }),
  })

const metricsRoute = (scrape: Scrape, token: string | undefined): Route =>
  route({
    method: 'GET',
    path: '/metrics',
    summary: 'Get metrics in Prometheus format',
    description: 'Requires a server admin, or, if `metrics.token` is set, this bearer token.',
    // A scraper must get metrics even while accounts are unavailable.
    ...(token === undefined ? { permission: 'serverAdmin' } : { permission: 'anyone', ignoresCredentials: true }),
    responses: { 200: s.text() },
    throws: [NotSignedIn],
    async handle({ headers }) {
      if (token !== undefined && !isSameSecret(String(headers.authorization), `Bearer ${token}`))
        throw new NotSignedIn('Send the value of metrics.token in the header Authorization: Bearer …')
      const { contentType, text } = await scrape()
      return { status: 200, body: text, headers: { 'content-type': contentType } }
    },
  })

/** Compares digests, which have equal length, in constant time. */
const isSameSecret = (one: string, other: string): boolean =>
  timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'))

const getDocs = route({
  method: 'GET',
  path: '/docs',
  summary: 'Open the API documentation',
  permission: 'anyone',
  ignoresCredentials: true,
  responses: { 200: s.bytes<Bytes>() },
  handle: async () => ({ status: 200, ...docsPage() }),
})

const getDocsFile = route({
  method: 'GET',
  path: '/docs/:file',
  summary: 'Get a file of the API documentation',
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

/** The route for `/` if no plugin has a page there. */
export const rootRoute = (base: () => string): PluginRoute => systemRoute('getRoot', redirectToDocs(base))

const redirectToDocs = (base: () => string): Route =>
  route({
    method: 'GET',
    path: '/',
    summary: 'Redirect to the API documentation',
    permission: 'anyone',
    ignoresCredentials: true,
    responses: { 302: s.empty() },
    // Relative, because a proxy may remove a base path that is not configured.
    handle: async () => ({ status: 302, body: undefined, headers: { location: base() === '' ? 'docs' : `${base()}/docs` } }),
  })

const pageWith = (nonce: string): string => `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pounce API</title>
<link rel="icon" type="image/png" href="docs/favicon-32x32.png">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="api"></div>
<script nonce="${nonce}" src="docs/swagger-ui-bundle.js"></script>
<script nonce="${nonce}" src="docs/start.js"></script>
</body>
</html>
`

const script = `SwaggerUIBundle({ url: 'openapi.json', dom_id: '#api', deepLinking: true, docExpansion: 'none', tagsSorter: 'alpha' })
`

const types = new Map([
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['favicon-32x32.png', 'image/png'],
])

const bytesOf = (text: string, contentType: string): Bytes => ({
  open: () => streamed([Buffer.from(text)]),
  contentType,
  isTrusted: true,
})

/** The interactive API documentation, with a Content-Security-Policy for its scripts. */
const docsPage = (): { readonly body: Bytes; readonly headers: Readonly<Record<string, string>> } => {
  const nonce = randomBytes(16).toString('base64')
  const headers = { 'content-security-policy': pagePolicy({ scripts: [`'nonce-${nonce}'`] }), 'cache-control': 'no-store' }
  return { body: bytesOf(pageWith(nonce), 'text/html; charset=utf-8'), headers }
}

/** A file of the documentation page; undefined for unknown names. */
const docsFile = async (name: string): Promise<Bytes | undefined> => {
  if (name === 'start.js') return bytesOf(script, 'text/javascript; charset=utf-8')
  const contentType = types.get(name)
  if (contentType === undefined) return undefined
  const path = join(dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json')), name)
  const { size, mtime } = await stat(path)
  return { open: range => createReadStream(path, range), sizeBytes: size, lastModified: mtime, contentType, isTrusted: true }
}
