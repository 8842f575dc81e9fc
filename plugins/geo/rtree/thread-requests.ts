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
  | { readonly type: 'find'; readonly query: FindQuery }
  | { readonly type: 'read'; readonly filter: GeoFilter; readonly sort: GeoSort }
  | { readonly type: 'count'; readonly filter: GeoFilter; readonly upTo: number }
  | { readonly type: 'bins'; readonly filter: GeoFilter; readonly binning: GeoBinning }
  | { readonly type: 'statistics'; readonly streams: readonly number[] }
)

/** Requests to the writing thread. */
export type GeoWriteRequest =
  | { readonly type: 'insert'; readonly batches: readonly PackedPoints[] }
  | { readonly type: 'remove'; readonly ids: readonly number[] }
  | { readonly type: 'remove'; readonly streams: readonly number[] }
  | { readonly type: 'settle'; readonly boxes: readonly TrackBox[] }

export type ThreadRequest = GeoReadRequest | GeoWriteRequest

export const defaultSort: GeoSort = { by: 'start', order: 'ascending' }
