import { createReadStream } from 'node:fs'
import { type Bytes, Installation, NotFound, type Request, routesFor, s } from 'pounce/sdk'
import { streamed } from 'pounce/sdk/kit'
import { AppBuild, type BuiltFile } from './app-build.ts'
import { type PageHead, PageHeads, type PageKind } from './page-head.ts'
import { basePath, shellPage } from './shell.ts'

const route = routesFor('web', { build: AppBuild, heads: PageHeads, installation: Installation })

interface PageServices {
  readonly build: AppBuild
  readonly heads: PageHeads
  readonly installation: Installation
}

const page = { 200: s.bytes<Bytes>({ 'text/html': s.bytes() }) }
const pageOrNone = { ...page, 404: s.bytes<Bytes>({ 'text/html': s.bytes() }) }

type AnyRequest = Pick<Request<undefined, undefined, undefined>, 'headers' | 'caller'>

const answer = async ({ headers }: AnyRequest, { build, installation }: PageServices, head?: PageHead) => {
  const shown = shellPage({
    state: await build.state(),
    base: basePath(installation),
    cookie: headers.cookie,
    acceptLanguage: headers['accept-language'],
    head,
  })
  const body: Bytes = { open: () => streamed([Buffer.from(shown.html)]), contentType: 'text/html; charset=utf-8', isTrusted: true }
  return { body, headers: shown.headers }
}

/** A page that is not about one resource. */
const plainPage = async (request: AnyRequest, needs: PageServices) => ({ status: 200, ...(await answer(request, needs)) }) as const

/**
 * The page of a resource. The response is the same for resources that do not exist and those that the caller may not view. For accounts that must accept
 * terms or enrol a second factor first, the page contains nothing about the resource.
 */
const resourcePage = async (kind: PageKind, id: string, request: AnyRequest, needs: PageServices) => {
  const { user } = request.caller
  if (user?.termsPending || user?.secondFactorPending) return plainPage(request, needs)
  const head = await needs.heads.of(request.caller, kind, id)
  const shown = await answer(request, needs, head)
  return head ? ({ status: 200, ...shown } as const) : ({ status: 404, ...shown } as const)
}

const description = 'HTML for browsers. The data is available through the routes below /api.'

/** Common settings of the pages of resources. */
const ofResource = {
  description,
  permission: 'anyone',
  beforeTerms: true,
  params: s.Object({ id: s.String({ maxLength: 100 }) }),
  responses: pageOrNone,
} as const

export const getHomePage = route({
  method: 'GET',
  path: '/',
  summary: 'Show the home page',
  description,
  permission: 'anyone',
  beforeTerms: true,
  responses: page,
  handle: plainPage,
})

export const getPage = route({
  method: 'GET',
  path: '/explore',
  aliases: [
    { path: '/datasets' },
    { path: '/collections' },
    { path: '/spaces' },
    { path: '/search' },
    { path: '/login' },
    { path: '/login/link' },
    { path: '/signup' },
    { path: '/reset' },
    { path: '/welcome' },
    { path: '/admin/access' },
    { path: '/admin/plugins' },
    { path: '/accessibility' },
    { path: '/compare' },
  ],
  summary: 'Show a page of the web interface',
  description,
  permission: 'anyone',
  beforeTerms: true,
  responses: page,
  handle: plainPage,
})

export const getPageByToken = route({
  method: 'GET',
  path: '/signup/:token',
  aliases: [{ path: '/reset/:token' }],
  summary: 'Show the page behind a link sent by email',
  description,
  permission: 'anyone',
  ignoresCredentials: true,
  params: s.Object({ token: s.String({ maxLength: 500 }) }),
  responses: page,
  handle: plainPage,
})

export const getPartPage = route({
  method: 'GET',
  path: '/parts/:id',
  summary: 'Show a page that a plugin adds to the web interface',
  description,
  permission: 'anyone',
  beforeTerms: true,
  params: s.Object({ id: s.String({ maxLength: 100 }) }),
  responses: page,
  handle: plainPage,
})

export const getSpacePage = route({
  method: 'GET',
  path: '/spaces/:id',
  summary: 'Show the page of a space',
  ...ofResource,
  handle: (request, needs) => resourcePage('space', request.params.id, request, needs),
})

export const getCollectionPage = route({
  method: 'GET',
  path: '/collection/:id',
  aliases: [{ path: '/collections/:id' }],
  summary: 'Show the page of a collection',
  ...ofResource,
  handle: (request, needs) => resourcePage('collection', request.params.id, request, needs),
})

export const getDatasetPage = route({
  method: 'GET',
  path: '/datasets/:id',
  summary: 'Show the page of a dataset',
  ...ofResource,
  handle: (request, needs) => resourcePage('dataset', request.params.id, request, needs),
})

export const getFilePage = route({
  method: 'GET',
  path: '/files/:id',
  summary: 'Show the page of a file',
  ...ofResource,
  handle: (request, needs) => resourcePage('file', request.params.id, request, needs),
})

const types = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  json: 'application/json',
  svg: 'image/svg+xml',
  wasm: 'application/wasm',
  woff2: 'font/woff2',
} as const

/** The CSP of scripts that run as workers; pages have their own. */
const workerPolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; img-src 'self' blob: data:"

/** Media types of the files, as routes declare them. */
export const fileTypes = Object.fromEntries(Object.values(types).map(type => [type.split(';')[0] ?? '', s.bytes()]))

/** The media type of a file of the interface, by its extension. */
export const typeOfFile = (file: string): string =>
  types[(file.split('.').at(-1) ?? '') as keyof typeof types] ?? 'application/octet-stream'

/** Frames of parts have no origin, so the files they load must be readable from any origin. The files are public. */
export const forFrames = { 'access-control-allow-origin': '*' } as const

const encodingFor = (header: string | string[] | undefined, { encodings }: BuiltFile): 'br' | 'gzip' | undefined => {
  const accepted = String(header ?? '')
    .split(',')
    .map(part => part.split(';').map(each => each.trim()))
    .filter(([, quality = '']) => !/^q=0(?:\.0*)?$/.test(quality))
    .map(([name]) => name)
  return (['br', 'gzip'] as const).find(encoding => encodings[encoding] && accepted.includes(encoding))
}

export const getWebFile = route({
  method: 'GET',
  path: '/web/assets/:file',
  summary: 'Get a file of the web interface',
  description: 'Scripts, styles and fonts, addressed by a digest of their content.',
  permission: 'anyone',
  ignoresCredentials: true,
  params: s.Object({ file: s.String({ maxLength: 200 }) }),
  responses: { 200: s.bytes<Bytes>(fileTypes) },
  throws: [NotFound],
  async handle({ params, headers }, { build }) {
    const state = await build.state()
    const file = typeof state === 'string' ? undefined : state.files.get(`assets/${params.file}`)
    if (!file) throw new NotFound('file')
    const encoding = encodingFor(headers['accept-encoding'], file)
    const { path, sizeBytes } = (encoding && file.encodings[encoding]) ?? file
    const body: Bytes = {
      open: part => createReadStream(path, part),
      sizeBytes,
      etag: `${params.file.replaceAll(/[^\w-]/g, '_')}${encoding ?? ''}`,
      contentType: typeOfFile(params.file),
      isTrusted: true,
    }
    return {
      status: 200,
      body,
      headers: {
        'cache-control': 'public, max-age=31536000, immutable',
        'content-security-policy': workerPolicy,
        vary: 'Accept-Encoding',
        ...forFrames,
        ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
      },
    }
  },
})
