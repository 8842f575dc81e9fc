import { configPort, s } from 'pounce/sdk'
import { capabilitiesBy } from 'pounce/sdk/kit'

export const config = s.Object({
  expireHours: s.Number({ default: 168, minimum: 0, description: 'Lifetime of an upload without progress, in hours' }),
  finishedHours: s.Number({ default: 24, minimum: 0, description: 'Retention of the status of a finished upload, in hours' }),
  maxOpen: s.Integer({ default: 100, minimum: 1, maximum: 10_000, description: 'Maximum number of unfinished uploads per account' }),
  maxBytes: s.Integer({ default: 10_995_116_277_760, minimum: 1, description: 'Maximum size of a resumable upload, in bytes' }),
  partBytes: s.Integer({
    default: 33_554_432,
    minimum: 65_536,
    maximum: 1_073_741_824,
    description: 'Maximum number of received bytes that are not durable yet, in bytes',
  }),
})
export const Config = configPort(config)
export type Settings = s.Static<typeof config>

export const ResumableCapability = capabilitiesBy(Config, ({ maxBytes, maxOpen, expireHours }) => ({
  uploads: { resumable: { path: '/api/uploads', maxBytes, maxOpen, expireHours } },
}))
