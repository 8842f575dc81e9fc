/*
 * `pounce/sdk/geo`: datapoints, filters and bins, with reference implementations of their semantics, for datapoint stores and for plugins that serve
 * datapoints.
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
export { altitudeOf, boxAround, boxesAcross, boxesAroundPolygon, type GeoBox, type GeoParts, partsOf, positionsOf } from './geometry.ts'
export { intersects, metresBetween } from './intersects.ts'
export { MemoryGeoStore } from './memory-geo-store.ts'
export { BinLimit, maxFurtherBins, spanAt, spansOf, type TimeSpan, tooManyBins } from './time-bins.ts'
