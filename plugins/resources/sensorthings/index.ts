import { definePlugin, provide } from 'pounce/sdk'
import * as routes from './routes.ts'
import { SensorThings, SensorThingsService } from './sensor-things.ts'

export const plugin = definePlugin({
  id: 'resources.sensorthings',
  summary: 'OGC SensorThings 1.1, read only: sensors, streams and readings as Things, Datastreams and Observations.',
  provides: [provide(SensorThings, SensorThingsService)],
  routes,
})
