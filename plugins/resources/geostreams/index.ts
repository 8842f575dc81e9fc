import { definePlugin, provide } from 'pounce/sdk'
import { geoNumbers, sensors, streams } from './collections.ts'
import { config } from './config.ts'
import { GeoNumbers, Numbers } from './numbers.ts'

export const plugin = definePlugin({
  id: 'resources.geostreams',
  summary: 'Geostreams: sensors, their streams, and readings in place and time.',
  config,
  provides: [provide(Numbers, GeoNumbers)],
  collections: [sensors, streams, geoNumbers],
})
