import { Readable } from 'node:stream'
import { type Bytes, NotFound, routesFor, s } from 'pounce/sdk'
import { ContributionJson, WebParts } from './contributions.ts'
import { fileTypes, typeOfFile } from './routes.ts'

const route = routesFor('web', { parts: WebParts })

export const listWebContributions = route({
  method: 'GET',
  path: '/api/web/contributions',
  summary: 'List what plugins add to the web interface',
  description:
    'Viewers of files, pages, and parts of the pages of resources, in the order of the configuration. Pages and parts for server administrators are listed for those who may open them.',
  permission: 'anyone',
  beforeTerms: true,
  query: s.Object({
    language: s.Optional(s.String({ maxLength: 20, description: 'Of titles and texts, such as `de`; English where there are none' })),
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
  description: 'Modules and assets of plugins under a digest of their content.',
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
      headers: { 'cache-control': 'public, max-age=31536000, immutable' },
    }
  },
})
