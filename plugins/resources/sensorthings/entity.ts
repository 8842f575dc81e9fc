import type { GeoArea } from 'pounce/sdk/geo'
import type { Value, ValueKind } from './values.ts'

/** The entity sets of the standard's sensing profile. */
export type SetName =
  | 'Things'
  | 'Locations'
  | 'HistoricalLocations'
  | 'Datastreams'
  | 'Sensors'
  | 'ObservedProperties'
  | 'Observations'
  | 'FeaturesOfInterest'

export type EntityKey = number | string

/** A link from an entity to others. */
export interface LinkType {
  readonly to: SetName
  readonly isMany: boolean
  /** There is exactly one target at any time, so that filters may follow the link. True for every single-valued link. */
  readonly isSure: boolean
}

/** Conditions that narrow a scan. Each is necessary, none is sufficient: filters are evaluated as well. */
export interface Hints {
  readonly key?: EntityKey
  /** Keys of link targets. */
  readonly thing?: EntityKey
  readonly datastream?: EntityKey
  readonly parameter?: string
  readonly name?: string
  readonly areas?: readonly GeoArea[]
  /** Starting at or after this time. */
  readonly fromMs?: number
  /** Starting at or before this time. */
  readonly toMs?: number
  /** Ending at or after this time. */
  readonly endsFromMs?: number
}

/** How a comparison of a property narrows a scan. */
export type HintOf = 'key' | 'thing' | 'datastream' | 'parameter' | 'name' | 'place' | 'start' | 'end'

/** The description of an entity set. */
export interface EntityType {
  readonly set: SetName
  /** The name of a link to one of its entities. */
  readonly one: string
  readonly fields: Readonly<Record<string, ValueKind>>
  readonly links: Readonly<Record<string, LinkType>>
  /** By the path of a property: `Locations/location`. */
  readonly hints: Readonly<Record<string, HintOf>>
  /** Properties that lists can be sorted by; the first is the default. */
  readonly orders: readonly string[]
}

export interface Entity {
  readonly type: EntityType
  readonly key: EntityKey
  /** One of `type.fields`; for an observation also the key of its datastream, as `Datastream/id`. */
  field(name: string): Value
  /** A single-valued link of `type.links`; undefined when its target was deleted meanwhile. */
  one(link: string): Promise<Entity | undefined>
  /** A multi-valued link of `type.links`. */
  many(link: string): Entities
}

export interface EntityOrder {
  /** One of `type.orders`. */
  readonly by: string
  readonly isDescending: boolean
}

/** Where a scan continues: the cursor in a list's next link. */
export type EntityCursor = readonly (string | number)[]

export interface Walk {
  /** Undefined: the cheapest stable order. */
  readonly order: EntityOrder | undefined
  readonly hints: Hints
  readonly after?: EntityCursor
  /** The number of entities needed, if known: the first read has this size. */
  readonly wanted: number
}

/** One scanned record; without an entity if it did not produce one. */
export interface EntityStep {
  show?(): Entity | Promise<Entity>
  /** Where to continue after it. */
  readonly cursor: EntityCursor
}

/** Entities of one set: all that the caller may view, or the targets of a link. */
export interface Entities {
  readonly type: EntityType
  /** Reads lazily, at most one page ahead; leaving the loop ends the scan. */
  walk(walk: Walk): AsyncIterable<readonly EntityStep[]>
  /** The entity with a key. */
  find(key: EntityKey): Promise<Entity | undefined>
  /** The number of entities, counted up to `upTo` and while `mayLook` allows, if that is cheaper than walking. */
  count?(upTo: number, mayLook: () => boolean): Promise<number | undefined>
}

/** Entities that are already loaded. */
export const these = (type: EntityType, entities: readonly Entity[]): Entities => ({
  type,
  async *walk({ after }) {
    const start = after === undefined ? 0 : Math.max(0, Number(after[0]) || 0)
    yield entities.map((entity, at) => ({ show: () => entity, cursor: [at + 1] })).slice(start)
  },
  find: async key => entities.find(each => each.key === key),
  count: async () => entities.length,
})
