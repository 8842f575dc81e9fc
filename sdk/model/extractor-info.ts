import * as s from '../schema.ts'

const strings = () => s.Array(s.String())

/**
 * An extractor's description of itself: the `extractor_info.json` of Clowder 1.x (reference, extraction §4.3). `process` has patterns for media types such as
 * `image/*` and for dataset and metadata events: see `takesOperation`.
 */
export const ExtractorInfo = s.model(
  'ExtractorInfo',
  s.Object({
    name: s.String({ minLength: 1, maxLength: 200 }),
    version: s.String(),
    description: s.String(),
    author: s.String(),
    contributors: strings(),
    contexts: s.Unknown(),
    repository: s.Array(s.Object({ repType: s.String(), repUrl: s.String() })),
    external_services: strings(),
    libraries: strings(),
    bibtex: strings(),
    maturity: s.String(),
    defaultLabels: strings(),
    process: s.Object({
      dataset: s.Optional(strings()),
      file: s.Optional(strings()),
      metadata: s.Optional(strings()),
    }),
    categories: strings(),
    parameters: s.Record(s.String(), s.Unknown()),
  }),
)
export type ExtractorInfo = s.Static<typeof ExtractorInfo>
