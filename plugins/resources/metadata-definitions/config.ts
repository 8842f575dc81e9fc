import { configPort, s } from 'pounce/sdk'

export const config = s.Object({
  validate: s.Union([s.Literal('people'), s.Literal('off')], {
    default: 'people',
    description:
      'Validation of metadata against its definition: `people` validates what people add; `off` validates nothing, as in Clowder 1.x. Metadata of extractors is never validated',
  }),
  uriPrefix: s.String({
    default: '',
    maxLength: 500,
    description:
      'Prefix of the generated URI of a definition (metadata.uri.prefix of Clowder 1.x); empty: the base URL of this server and /metadata',
  }),
  fetchFrom: s.Array(s.String({ maxLength: 500 }), {
    default: [],
    description:
      'URL prefixes that lists of terms may be fetched from, such as https://vocabulary.example.org/api/. Lists of this server are always allowed',
  }),
})

/** Checked settings of this plugin. */
export type Settings = s.Static<typeof config>
export const Config = configPort(config)
