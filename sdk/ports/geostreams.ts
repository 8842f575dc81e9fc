import type { Caller } from '../model/caller.ts'
import type { SensorRecord, StreamRecord } from '../model/geostreams.ts'
import { port } from '../port.ts'
import type { After, Page, Stored } from './document-store.ts'
import type { GeoArea } from './geo-store.ts'
import type { Records } from './records.ts'

/** Which sensors or streams; all conditions that are given hold. Only what the caller may view is ever listed or counted. */
export interface GeoListing {
  /** The whole name. */
  readonly name?: string
  /** Touching one of these areas; 1 to 100. */
  readonly areas?: readonly GeoArea[]
}

/** A page of a list of sensors or streams: by name, then id, by default; 1 to 1,000 of them. It may be short, and even empty, and yet have a next one. */
export interface GeoListPage {
  readonly sort?: { readonly by: 'name' | 'id'; readonly order: 'ascending' | 'descending' }
  /** `next` of a page, or `geoAfter` of any sensor or stream. */
  readonly after?: After
  readonly limit: number
}

/** Where a list continues behind a sensor or stream, also behind one that is gone. */
export const geoAfter = (by: 'name' | 'id', { name, id }: { readonly name: string; readonly id: string }): After =>
  by === 'name' ? [name, id] : ['live', id]

/** Sensors. Ids are those of `sensorIdOf`. */
export interface Sensors extends Records<SensorRecord> {
  list(caller: Caller, query: GeoListing, page: GeoListPage): Promise<Page<SensorRecord & Stored>>
  /** Counted up to `upTo`. */
  count(caller: Caller, query: GeoListing, upTo: number): Promise<number>
}
export const Sensors = port<Sensors>('sensors')

/** Which readings someone requests, by what they belong to. */
export interface StreamChoice {
  /** Numbers as clients send them. An unknown or invisible one: `NotFound`. */
  readonly stream?: number
  readonly sensor?: number
  /** Sources of sensors (`SensorRecord.source`); any of them. */
  readonly sources?: readonly string[]
}

/** Streams of sensors. Ids are those of `streamIdOf`. */
export interface Streams extends Records<StreamRecord> {
  list(
    caller: Caller,
    query: GeoListing & {
      /** In one of these sensors, by id; at most 1,000. */
      readonly sensors?: readonly string[]
    },
    page: GeoListPage,
  ): Promise<Page<StreamRecord & Stored>>
  count(caller: Caller, query: GeoListing & { readonly sensors?: readonly string[] }, upTo: number): Promise<number>
  /**
   * What to put into `GeoFilter.streams`: the numbers of the streams that were chosen and that the caller may view; undefined when that is every
   * stream there is. More than 10,000: `Invalid`, which says to choose sensors or streams.
   */
  chosen(caller: Caller, choice: StreamChoice): Promise<readonly number[] | undefined>
}
export const Streams = port<Streams>('streams')
