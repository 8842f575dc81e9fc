import { BlobOwners, definePlugin, on, onBatch, provide, RightsOf, Searchables, Sensors, Streams } from 'pounce/sdk'
import { AnswerCache, Answers } from './cache/answer-cache.ts'
import { answers } from './cache/collection.ts'
import { AnswerBlobs, Kept, KeptAnswers } from './cache/kept-answers.ts'
import * as cacheRoutes from './cache/routes.ts'
import { StateOfStreams, StreamsState } from './cache/streams-state.ts'
import { geoNumbers, sensors, streams } from './collections.ts'
import { config } from './config.ts'
import { RemoveAbandoned } from './datapoints/abandoned.ts'
import { AddingRights, MayAddTo } from './datapoints/adding-rights.ts'
import * as bulkRoutes from './datapoints/bulk-routes.ts'
import { CsvHeads, HeadsOfCsv } from './datapoints/csv-head.ts'
import { DatapointLife, Life } from './datapoints/datapoint-life.ts'
import { Intake, TakesIn } from './datapoints/intake.ts'
import * as datapointListRoutes from './datapoints/list-route.ts'
import { OwnersOf, OwnersPort } from './datapoints/owners.ts'
import { Readings, ReadingsStore } from './datapoints/readings.ts'
import * as datapointRoutes from './datapoints/routes.ts'
import { Counting, GeoCounts } from './geo-counts.ts'
import { GeoNumbers, Numbers } from './numbers.ts'
import * as upkeepRoutes from './routes-upkeep.ts'
import { FollowSensor, LeaveSpace, RemoveStreams, SettleStream } from './sensors/handlers.ts'
import * as sensorRoutes from './sensors/routes.ts'
import { SearchableSensors } from './sensors/searchable-sensors.ts'
import { SensorLife, SensorLifes } from './sensors/sensor-life.ts'
import { SensorRights } from './sensors/sensor-rights.ts'
import { SensorView, SensorViews } from './sensors/sensor-view.ts'
import { StoredSensors } from './sensors/stored-sensors.ts'
import { ReadingStatistics, Statistics } from './statistics.ts'
import { ChosenStreams, StreamChooser } from './streams/chosen-streams.ts'
import { RemoveReadings } from './streams/remove-readings.ts'
import * as streamRoutes from './streams/routes.ts'
import { SearchableStreams } from './streams/searchable-streams.ts'
import { StoredStreams } from './streams/stored-streams.ts'
import { StreamLife, StreamLifes } from './streams/stream-life.ts'
import { StreamRights } from './streams/stream-rights.ts'
import { BinDesk, Bins } from './sums/bin-desk.ts'
import { ChosenSensors, SensorsAsked } from './sums/chosen-sensors.ts'
import { FigureDesk, Figures } from './sums/figure-desk.ts'
import * as binRoutes from './sums/routes-bins.ts'
import * as figureRoutes from './sums/routes-figures.ts'

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
    provide(Statistics, ReadingStatistics),
    provide(SensorViews, SensorView),
    provide(Counting, GeoCounts),
    provide(MayAddTo, AddingRights),
    provide(TakesIn, Intake),
    provide(OwnersPort, OwnersOf),
    provide(Readings, ReadingsStore),
    provide(HeadsOfCsv, CsvHeads),
    provide(Life, DatapointLife),
    provide(SensorsAsked, ChosenSensors),
    provide(Bins, BinDesk),
    provide(Figures, FigureDesk),
    provide(StreamsState, StateOfStreams),
    provide(Kept, KeptAnswers),
    provide(Answers, AnswerCache),
    provide(BlobOwners, AnswerBlobs),
    provide(RightsOf, SensorRights),
    provide(RightsOf, StreamRights),
    provide(Searchables, SearchableSensors),
    provide(Searchables, SearchableStreams),
  ],
  routes: {
    ...sensorRoutes,
    ...streamRoutes,
    ...upkeepRoutes,
    ...datapointRoutes,
    ...bulkRoutes,
    ...datapointListRoutes,
    ...binRoutes,
    ...figureRoutes,
    ...cacheRoutes,
  },
  handlers: [
    on('sensor.removed', RemoveStreams),
    on(['sensor.created', 'sensor.updated'], FollowSensor),
    on('space.removed', LeaveSpace),
    on('stream.created', SettleStream),
    onBatch(['stream.removed'], RemoveReadings),
    on('stream.datapoints-abandoned', RemoveAbandoned),
  ],
  collections: [sensors, streams, geoNumbers, answers],
})
