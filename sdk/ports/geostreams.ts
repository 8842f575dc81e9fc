import type { Caller } from '../model/caller.ts'
import type { SensorRecord, StreamRecord } from '../model/geostreams.ts'
import { port } from '../port.ts'
import type { After, Page, Stored } from './document-store.ts'
import type { GeoArea } from './geo-store.ts'
import type { Records } from './records.ts'

/** Selects sensors or streams; all given conditions must hold. Only those that the caller may view are listed or counted. */
export interface GeoListing {
  /** The exact name. */
  readonly name?: string
  /** Intersecting one of these areas; 1 to 100. */
  readonly areas?: readonly GeoArea[]
}

/** A page of a list of sensors or streams: 1 to 1,000, ordered by name and id by default. A page may be short or even empty and still have `next`. */
export interface GeoListPage {
  readonly sort?: { readonly by: 'name' | 'id'; readonly order: 'ascending' | 'descending' }
  /** `next` of a page, or `geoAfter` of any sensor or stream. */
  readonly after?: After
  readonly limit: number
}

/** The position in a list after a sensor or stream, which need not exist any more. */
export const geoAfter = (by: 'name' | 'id', { name, id }: { readonly name: string; readonly id: string }): After =>
  by === 'name' ? [name, id] : ['live', id]

/** Sensors, with ids made by `sensorIdOf`. */
export interface Sensors extends Records<SensorRecord> {
  list(caller: Caller, query: GeoListing, page: GeoListPage): Promise<Page<SensorRecord & Stored>>
  /** Counted up to `upTo`. */
  count(caller: Caller, query: GeoListing, upTo: number): Promise<number>
}
export const Sensors = port<Sensors>('sensors')

/** Selects datapoints by their stream or sensor. */
export interface StreamChoice {
  /** Numbers as sent by clients. Unknown or invisible ones: `NotFound`. */
  readonly stream?: number
  readonly sensor?: number
  /** Sources of sensors (`SensorRecord.source`); matches any of them. */
  readonly sources?: readonly string[]
}

/** Streams of sensors, with ids made by `streamIdOf`. */
export interface Streams extends Records<StreamRecord> {
  list(
    caller: Caller,
    query: GeoListing & {
      /** Streams of any of these sensors, by id; at most 1,000. */
      readonly sensors?: readonly string[]
    },
    page: GeoListPage,
  ): Promise<Page<StreamRecord & Stored>>
  count(caller: Caller, query: GeoListing & { readonly sensors?: readonly string[] }, upTo: number): Promise<number>
  /**
   * The value for `GeoFilter.streams`: the numbers of the selected streams that the caller may view; undefined if those are all existing streams. More than
   * 10,000: `Invalid`, with the advice to select sensors or streams.
   */
  chosen(caller: Caller, choice: StreamChoice): Promise<readonly number[] | undefined>
}
export const Streams = port<Streams>('streams')
