import { configPort, s } from 'pounce/sdk'

export const config = s.Object({
  archiveExtractorId: s.String({
    default: 'ncsa.archival.disk',
    minLength: 1,
    maxLength: 300,
    description: 'Name of the extractor that archives and unarchives files, as listed at /api/extractors',
  }),
  maxDocumentBytes: s.Integer({
    default: 65_536,
    minimum: 1024,
    maximum: 200_000,
    description: "Maximum size of a registered extractor_info.json, in bytes of JSON; those of Clowder's extractors have a few kB",
  }),
  maxPerOwner: s.Integer({
    default: 100,
    minimum: 1,
    maximum: 1000,
    description: 'Maximum number of extractors that one account may register; admins may register more',
  }),
  clowderUrl: s.Optional(
    s.String({
      pattern: '^https?://[^/?#][^?#]*$',
      description: 'Base URL of the server for extractors, if it differs from `http.baseUrl`, such as inside a container network',
    }),
  ),
})
export const Config = configPort(config)
