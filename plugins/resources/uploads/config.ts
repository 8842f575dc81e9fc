import { configPort, s } from 'pounce/sdk'

export const config = s.Object({
  expireHours: s.Number({ default: 168, minimum: 0, description: 'An upload to which nothing came for so long is given up, in hours' }),
  finishedHours: s.Number({ default: 24, minimum: 0, description: 'How long a finished upload still tells of itself, in hours' }),
  maxOpen: s.Integer({ default: 100, minimum: 1, maximum: 10_000, description: 'Unfinished uploads that one account may have' }),
  maxBytes: s.Integer({ default: 10_995_116_277_760, minimum: 1, description: 'Largest file that is taken in pieces, in bytes' }),
  partBytes: s.Integer({
    default: 33_554_432,
    minimum: 65_536,
    maximum: 1_073_741_824,
    description: 'After so many bytes what came is made durable and counts, in bytes',
  }),
})
export const Config = configPort(config)
export type Settings = s.Static<typeof config>
