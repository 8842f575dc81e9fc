import { Readable } from 'node:stream'
import { type Bytes, Installation, NotFound, Previewers, routesFor, s } from 'pounce/sdk'
import { streamed } from 'pounce/sdk/kit'
import { AppBuild } from './app-build.ts'
import { ContributionJson, WebParts } from './contributions.ts'
import { fileTypes, forFrames, typeOfFile } from './routes.ts'
import { basePath } from './shell.ts'

const route = routesFor('web', { parts: WebParts, build: AppBuild, installation: Installation, previewers: Previewers })

/**
 * The CSP of frames with untrusted parts. The sandbox removes their origin, and with it access to cookies, storage and the API; only public scripts, style
 * sheets and fonts of this server may be loaded.
 */
const framePolicy = [
  'sandbox allow-scripts',
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self' 'unsafe-inline'",
  'img-src blob: data:',
  'media-src blob: data:',
  "font-src 'self' data:",
  'worker-src blob:',
  "connect-src 'none'",
  "frame-src 'none'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'self'",
  "webrtc 'block'",
].join('; ')

export const getPartFrame = route({
  method: 'GET',
  path: '/web/frame',
  summary: 'Show the frame that a contribution runs in',
  description:
    'A sandboxed HTML page without an origin and without network access. The embedding page sends it the module to load, and the bytes of the file.',
  permission: 'anyone',
  ignoresCredentials: true,
  responses: { 200: s.bytes<Bytes>({ 'text/html': s.bytes() }) },
  throws: [NotFound],
  async handle(_, { build, installation }) {
    const state = await build.state()
    const files = typeof state === 'string' ? undefined : state.modules.get('frame/main.ts')
    if (!files) throw new NotFound('page')
    const at = (file: string): string => `${basePath(installation)}/web/${file}`
    // Without an origin, everything is loaded cross-origin.
    const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Pounce</title>
${files.styles.map(file => `<link rel="stylesheet" href="${at(file)}" crossorigin>`).join('\n')}
<script type="module" src="${at(files.script)}"></script>
</head>
<body></body>
</html>
`
    const body: Bytes = { open: () => streamed([Buffer.from(html)]), contentType: 'text/html; charset=utf-8', isTrusted: true }
    return { status: 200, body, headers: { 'content-security-policy': framePolicy, 'x-dns-prefetch-control': 'off' } }
  },
})

export const listWebContributions = route({
  method: 'GET',
  path: '/api/web/contributions',
  summary: 'List what plugins add to the web interface',
  description:
    'Viewers of files, pages, and parts of the pages of resources, in the order of the configuration. Pages and administration parts are listed only for callers who may open them.',
  permission: 'anyone',
  beforeTerms: true,
  query: s.Object({
    language: s.Optional(
      s.String({ maxLength: 20, description: 'Language of titles and texts, such as `de`; English if a text is missing' }),
    ),
  }),
  responses: { 200: s.Array(ContributionJson) },
  async handle({ query, caller }, { parts }) {
    return { status: 200, body: [...(await parts.listFor(caller, query.language ?? 'en'))] }
  },
})

export const getWebPart = route({
  method: 'GET',
  path: '/web/parts/:digest/:file',
  summary: 'Get a file of a contribution to the web interface',
  description: 'Modules and assets of plugins, addressed by a digest of their content.',
  permission: 'anyone',
  ignoresCredentials: true,
  params: s.Object({ digest: s.String({ maxLength: 64 }), file: s.String({ maxLength: 100 }) }),
  responses: { 200: s.bytes<Bytes>(fileTypes) },
  throws: [NotFound],
  async handle({ params }, { parts }) {
    const file = await parts.file(params.digest, params.file)
    if (!file) throw new NotFound('file')
    const body: Bytes = {
      open: range => Readable.from([range ? file.bytes.subarray(range.start, range.end + 1) : file.bytes]),
      sizeBytes: file.bytes.length,
      etag: params.digest,
      contentType: typeOfFile(params.file),
      isTrusted: true,
    }
    return {
      status: 200,
      body,
      headers: { 'cache-control': 'public, max-age=31536000, immutable', ...forFrames },
    }
  },
})

export const getPreviewerModule = route({
  method: 'GET',
  path: '/previewers/:name/:file',
  summary: 'Get the script of a previewer',
  description: 'Redirects to the module of the viewer for the same media types. `p_path` and `p_main` of a previewer point here.',
  permission: 'anyone',
  ignoresCredentials: true,
  params: s.Object({ name: s.String({ maxLength: 100 }), file: s.String({ maxLength: 100 }) }),
  responses: { 302: s.empty() },
  throws: [NotFound],
  async handle({ params }, { parts, previewers, installation }) {
    const previewer = previewers.all().find(({ path, main }) => path === `/previewers/${params.name}` && main === params.file)
    const module = previewer && (await parts.moduleFor(previewer))
    if (module === undefined) throw new NotFound('file')
    return { status: 302, body: undefined, headers: { location: `${basePath(installation)}${module}`, 'cache-control': 'no-cache' } }
  },
})
