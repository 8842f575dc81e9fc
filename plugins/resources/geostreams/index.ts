import { definePlugin, provide, RightsOf, Sensors, Streams } from 'pounce/sdk'
import { geoNumbers, sensors, streams } from './collections.ts'
import { config } from './config.ts'
import { AddingRights, MayAddTo } from './datapoints/adding-rights.ts'
import * as bulkRoutes from './datapoints/bulk-routes.ts'
import { CsvHeads, HeadsOfCsv } from './datapoints/csv-head.ts'
import { DatapointLife, Life } from './datapoints/datapoint-life.ts'
import { Intake, TakesIn } from './datapoints/intake.ts'
import * as datapointListRoutes from './datapoints/list-route.ts'
import { OwnersOf, OwnersPort } from './datapoints/owners.ts'
import { Readings, ReadingsStore } from './datapoints/readings.ts'
import * as datapointRoutes from './datapoints/routes.ts'
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
    provide(MayAddTo, AddingRights),
    provide(TakesIn, Intake),
    provide(OwnersPort, OwnersOf),
    provide(Readings, ReadingsStore),
    provide(HeadsOfCsv, CsvHeads),
    provide(Life, DatapointLife),
    provide(RightsOf, SensorRights),
    provide(RightsOf, StreamRights),
  ],
  routes: { ...sensorRoutes, ...streamRoutes, ...datapointRoutes, ...bulkRoutes, ...datapointListRoutes },
  collections: [sensors, streams, geoNumbers],
})
