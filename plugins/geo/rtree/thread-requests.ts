import type { GeoStore } from 'pounce/sdk'
import type { GeoBinning, GeoFilter, GeoSort } from 'pounce/sdk/geo'
import type { Opening } from 'pounce/sdk/sqlite'
import type { PackedPoints } from './packed-points.ts'
import type { TrackBox } from './remove-points.ts'

export type FindQuery = Parameters<GeoStore['find']>[0]

/** How a thread opens the file. */
export interface GeoOpening extends Opening {
  /** Maximum number of places shared by the points of a stream. */
  readonly placesPerStream: number
}

/** Requests to a reading thread. Each is answered in pieces; `epoch` is incremented when streams are removed. */
export type GeoReadRequest = { readonly epoch: number } & (
  | { readonly ask: 'find'; readonly query: FindQuery }
  | { readonly ask: 'read'; readonly filter: GeoFilter; readonly sort: GeoSort }
  | { readonly ask: 'count'; readonly filter: GeoFilter; readonly upTo: number }
  | { readonly ask: 'bins'; readonly filter: GeoFilter; readonly binning: GeoBinning }
  | { readonly ask: 'statistics'; readonly streams: readonly number[] }
)

/** Requests to the writing thread. */
export type GeoWriteRequest =
  | { readonly ask: 'insert'; readonly batches: readonly PackedPoints[] }
  | { readonly ask: 'remove'; readonly ids: readonly number[] }
  | { readonly ask: 'remove'; readonly streams: readonly number[] }
  | { readonly ask: 'settle'; readonly boxes: readonly TrackBox[] }

export type ThreadRequest = GeoReadRequest | GeoWriteRequest

export const defaultSort: GeoSort = { by: 'start', order: 'ascending' }
