import { configPort, s } from 'pounce/sdk'

export const config = s.Object({
  archiveExtractorId: s.String({
    default: 'ncsa.archival.disk',
    minLength: 1,
    maxLength: 300,
    description: 'The extractor that moves bytes into the archive and back: a name as listed at /api/extractors',
  }),
  clowderUrl: s.Optional(
    s.String({
      pattern: '^https?://[^/?#]+[^?#]*$',
      description:
        'Address under which extractors reach the server, where it is another than `http.baseUrl`: inside a container network, say',
    }),
  ),
  maxUrlBytes: s.Integer({
    default: 1_073_741_824,
    minimum: 1,
    description: 'Largest file that is fetched from an address (POST /api/extractions/upload_url), in bytes',
  }),
})
export const Config = configPort(config)
