import { definePlugin, provide, RightsOf, Sensors, Streams } from 'pounce/sdk'
import { geoNumbers, sensors, streams } from './collections.ts'
import { config } from './config.ts'
import { GeoNumbers, Numbers } from './numbers.ts'
import * as sensorRoutes from './sensors/routes.ts'
import { SensorLife, SensorLifes } from './sensors/sensor-life.ts'
import { SensorRights } from './sensors/sensor-rights.ts'
import { StoredSensors } from './sensors/stored-sensors.ts'
import { ChosenStreams, StreamChooser } from './streams/chosen-streams.ts'
import * as streamRoutes from './streams/routes.ts'
import { StoredStreams } from './streams/stored-streams.ts'
import { StreamLife, StreamLifes } from './streams/stream-life.ts'
import { StreamRights } from './streams/stream-rights.ts'

export const plugin = definePlugin({
  id: 'resources.geostreams',
  summary: 'Geostreams: sensors, their streams, and readings in place and time.',
  config,
  provides: [
    provide(Numbers, GeoNumbers),
    provide(Sensors, StoredSensors),
    provide(Streams, StoredStreams),
    provide(SensorLifes, SensorLife),
    provide(StreamLifes, StreamLife),
    provide(ChosenStreams, StreamChooser),
    provide(RightsOf, SensorRights),
    provide(RightsOf, StreamRights),
  ],
  routes: { ...sensorRoutes, ...streamRoutes },
  collections: [sensors, streams, geoNumbers],
})
