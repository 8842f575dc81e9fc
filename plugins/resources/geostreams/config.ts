import { s } from 'pounce/sdk'

export const config = s.Object({
  latitudeFirst: s.Boolean({
    default: false,
    description: 'Points of single streams and datapoints are sent as latitude, longitude, altitude, as Clowder 1.x takes them',
  }),
  anybodyMayAdd: s.Boolean({
    default: false,
    description: 'Every active account may add streams and datapoints to any sensor, as in Clowder 1.x',
  }),
  csvSeparator: s.String({ default: '|', minLength: 1, maxLength: 10, description: 'Stands between nested names in headers of CSV' }),
  csvHidePrefix: s.Boolean({
    default: true,
    description: 'Headers of CSV have the last of nested names only, as long as no two columns would be called the same',
  }),
  csvIgnore: s.Array(s.String({ maxLength: 1000 }), {
    default: ['type', 'geometry|type'],
    description: 'What CSV leaves out, by the whole of its nested names, such as `properties|site`',
  }),
  cacheMaxMiB: s.Integer({
    default: 0,
    minimum: 0,
    maximum: 1_048_576,
    description: 'Answers about readings that are kept until a reading comes or goes, in MiB altogether; 0: none are kept',
  }),
  userAgreement: s.String({ default: '', maxLength: 100_000, description: 'Shown by clients before they show readings' }),
})

/** Checked settings of this plugin. */
export type Settings = s.Static<typeof config>
