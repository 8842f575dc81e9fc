import { s } from 'pounce/sdk'

export const config = s.Object({
  maxKiB: s.Integer({ default: 2048, minimum: 1, maximum: 65_536, description: 'Maximum size of a logo, in KiB' }),
})
