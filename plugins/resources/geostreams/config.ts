import { configPort, s } from 'pounce/sdk'
import { capabilitiesBy } from 'pounce/sdk/kit'

export const config = s.Object({
  latitudeFirst: s.Boolean({
    default: false,
    description: 'Send the coordinates of single streams and datapoints as latitude, longitude, altitude, as Clowder 1.x does',
  }),
  anybodyMayAdd: s.Boolean({
    default: false,
    description: 'Any active account may add streams and datapoints to any sensor, as in Clowder 1.x',
  }),
  csvSeparator: s.String({ default: '|', minLength: 1, maxLength: 10, description: 'Separator of nested property names in CSV headers' }),
  csvHidePrefix: s.Boolean({
    default: true,
    description: 'Use only the last part of nested property names in CSV headers, unless two columns would get the same name',
  }),
  csvIgnore: s.Array(s.String({ maxLength: 1000 }), {
    default: ['type', 'geometry|type'],
    description: 'Properties to omit from CSV, by their full nested name, such as `properties|site`',
  }),
  cacheMaxMiB: s.Integer({
    default: 0,
    minimum: 0,
    maximum: 1_048_576,
    description: 'Maximum size of the response cache, in MiB; responses are cached until a datapoint is added or deleted. 0: no cache',
  }),
  userAgreement: s.String({ default: '', maxLength: 100_000, description: 'User agreement that clients show before they show datapoints' }),
})

/** Checked settings of this plugin. */
export type Settings = s.Static<typeof config>

export const GeostreamsCapability = capabilitiesBy(configPort(config), () => ({ geostreams: true }))
