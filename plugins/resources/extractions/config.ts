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
})
export const Config = configPort(config)
