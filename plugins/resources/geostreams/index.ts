import { BlobOwners, definePlugin, on, onBatch, provide, Sensors, SessionSources, Streams } from 'pounce/sdk'
import * as averageRoutes from './aggregates/routes-averages.ts'
import * as binRoutes from './aggregates/routes-bins.ts'
import * as cacheRoutes from './cache/routes.ts'
import { answers, StoredResponseBlobs } from './cache/stored-responses.ts'
import { geoNumbers } from './collections.ts'
import { config, GeostreamsCapability } from './config.ts'
import { DeleteAbandonedDatapoints, DeleteReadingsOnStreamRemoved } from './datapoints/abandoned-datapoints.ts'
import * as datapointRoutes from './datapoints/routes.ts'
import { sensorResource, streamResource } from './resource.ts'
import * as upkeepRoutes from './routes-upkeep.ts'
import {
  DeleteStreamsOnSensorRemoved,
  DetachSensorsOnSpaceRemoved,
  ReconcileNewStream,
  UpdateStreamsOnSensorUpdated,
} from './sensors/handlers.ts'
import * as sensorRoutes from './sensors/routes.ts'
import { StoredSensors } from './sensors/stored-sensors.ts'
import * as streamRoutes from './streams/routes.ts'
import { StoredStreams } from './streams/stored-streams.ts'

export const plugin = definePlugin({
  id: 'resources.geostreams',
  summary: 'Geostreams: sensors, their streams, and datapoints in place and time.',
  config,
  resources: [sensorResource, streamResource],
  provides: [
    provide(Sensors, StoredSensors),
    provide(Streams, StoredStreams),
    provide(BlobOwners, StoredResponseBlobs),
    provide(SessionSources, GeostreamsCapability),
  ],
  routes: {
    ...sensorRoutes,
    ...streamRoutes,
    ...upkeepRoutes,
    ...datapointRoutes,
    ...binRoutes,
    ...averageRoutes,
    ...cacheRoutes,
  },
  handlers: [
    on('sensor.removed', DeleteStreamsOnSensorRemoved, 'remove-streams'),
    on(['sensor.created', 'sensor.updated'], UpdateStreamsOnSensorUpdated, 'follow-sensor'),
    on('space.removed', DetachSensorsOnSpaceRemoved, 'leave-space'),
    on('stream.created', ReconcileNewStream, 'settle-stream'),
    onBatch(['stream.removed'], DeleteReadingsOnStreamRemoved, 'remove-readings'),
    on('stream.datapoints-abandoned', DeleteAbandonedDatapoints, 'remove-abandoned'),
  ],
  collections: [geoNumbers, answers],
})
