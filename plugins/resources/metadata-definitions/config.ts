import { configPort, s } from 'pounce/sdk'

export const config = s.Object({
  validate: s.Union([s.Literal('people'), s.Literal('off')], {
    default: 'people',
    description:
      '`people`: what people add must be what the definition of the field takes; `off`: nothing is checked, as in Clowder 1.x. Extractors are never checked',
  }),
  uriPrefix: s.String({
    default: '',
    maxLength: 500,
    description:
      'What the address of a definition without one begins with (metadata.uri.prefix of Clowder 1.x); empty: the address of this server and /metadata',
  }),
  fetchFrom: s.Array(s.String({ maxLength: 500 }), {
    default: [],
    description:
      'Addresses below which lists of words may be fetched for people who fill in forms, such as https://vocabulary.example.org/api/. The lists of this server need none',
  }),
})

/** Checked settings of this plugin. */
export type Settings = s.Static<typeof config>
export const Config = configPort(config)
