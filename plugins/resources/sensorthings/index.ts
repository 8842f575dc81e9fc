import { definePlugin } from 'pounce/sdk'
import * as routes from './routes.ts'
export const plugin = definePlugin({
  id: 'resources.sensorthings',
  summary: 'OGC SensorThings 1.1, read-only: sensors, streams and datapoints as Things, Datastreams and Observations.',
  isSwitchable: true,
  routes,
})
