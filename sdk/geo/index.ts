/*
 * `pounce/sdk/geo`: datapoints, their filters and bins, and what these mean, for stores of datapoints and for plugins that serve them.
 */

export { geoNumberOf, type SensorRecord, type StreamRecord, sensorIdOf, streamIdOf } from '../model/geostreams.ts'
export type {
  Datapoint,
  GeoAfter,
  GeoArea,
  GeoAttribute,
  GeoBin,
  GeoBinning,
  GeoFilter,
  Geometry,
  GeoPage,
  GeoPosition,
  GeoSort,
  PointInserted,
  StreamStatistics,
  TimeBin,
} from '../ports/geo-store.ts'
export { type GeoListing, type GeoListPage, geoAfter, type StreamChoice } from '../ports/geostreams.ts'
export { checkDatapoint, geometryFault, isGeoId, isGeoTime, propertiesFault } from './check-datapoint.ts'
export { checkBinning, checkGeoFilter, checkGeoIds, maxRadiusMetres } from './check-geo-query.ts'
export { hasAttribute, overlapsMonths } from './filter-matches.ts'
export { altitudeOf, boxAround, boxesAcross, type GeoBox, type GeoParts, partsOf, positionsOf } from './geometry.ts'
export { MemoryGeoStore } from './memory-geo-store.ts'
export { BinLimit, maxFurtherBins, spanAt, spansOf, type TimeSpan, tooManyBins } from './time-bins.ts'
export { metresBetween, touches } from './touches.ts'
