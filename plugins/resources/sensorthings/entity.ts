import type { GeoArea } from 'pounce/sdk/geo'
import type { Value, ValueKind } from './values.ts'

/** The entity sets of the standard's sensing part. */
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

/** A way from an entity to others. */
export interface LinkType {
  readonly to: SetName
  readonly isMany: boolean
  /** There is exactly one at any time, so that filters may look through it. Of every link that is not many. */
  readonly isSure: boolean
}

/** Conditions that narrow a scan. Each is necessary, none sufficient: filters are evaluated too. */
export interface Hints {
  readonly key?: EntityKey
  /** Keys of what a link leads to. */
  readonly thing?: EntityKey
  readonly datastream?: EntityKey
  readonly parameter?: string
  readonly name?: string
  readonly areas?: readonly GeoArea[]
  /** Beginning then or later. */
  readonly fromMs?: number
  /** Beginning then or earlier. */
  readonly toMs?: number
  /** Ending then or later. */
  readonly endsFromMs?: number
}

/** How a comparison of a property narrows a scan. */
export type HintOf = 'key' | 'thing' | 'datastream' | 'parameter' | 'name' | 'place' | 'start' | 'end'

/** What is known of all entities of a set. */
export interface EntityType {
  readonly set: SetName
  /** The name of a link that leads to one of them. */
  readonly one: string
  readonly fields: Readonly<Record<string, ValueKind>>
  readonly links: Readonly<Record<string, LinkType>>
  /** By the path of a property: `Locations/location`. */
  readonly hints: Readonly<Record<string, HintOf>>
  /** Properties that lists can be ordered by; the first is the order without a word. */
  readonly orders: readonly string[]
}

export interface Entity {
  readonly type: EntityType
  readonly key: EntityKey
  /** One of `type.fields`; of an observation the key of its datastream too, as `Datastream/id`. */
  field(name: string): Value
  /** One of `type.links` that is not many; undefined when what it led to has gone meanwhile. */
  one(link: string): Promise<Entity | undefined>
  /** One of `type.links` that is many. */
  many(link: string): Entities
}

export interface EntityOrder {
  /** One of `type.orders`. */
  readonly by: string
  readonly isDescending: boolean
}

/** Where a scan continues: the cursor in a list's link. */
export type EntityCursor = readonly (string | number)[]

export interface Walk {
  /** Undefined: whatever is cheapest, as long as it stays the same. */
  readonly order: EntityOrder | undefined
  readonly hints: Hints
  readonly after?: EntityCursor
  /** How many entities are wanted, as far as that is known: so many are read at first. */
  readonly wanted: number
}

/** One thing that was looked at; there is nothing to show when it led to no entity. */
export interface EntityStep {
  show?(): Entity | Promise<Entity>
  /** Where to continue behind it. */
  readonly cursor: EntityCursor
}

/** Entities of one set: all that the caller may view, or those that a link leads to. */
export interface Entities {
  readonly type: EntityType
  /** Reads nothing before it is requested, but for a page ahead; leaving the loop ends it. */
  walk(walk: Walk): AsyncIterable<readonly EntityStep[]>
  /** The one of them with a key. */
  find(key: EntityKey): Promise<Entity | undefined>
  /** How many there are, counted up to `upTo` and while it may look further, where that is cheaper than walking. */
  count?(upTo: number, mayLook: () => boolean): Promise<number | undefined>
}

/** Entities that are available. */
export const these = (type: EntityType, entities: readonly Entity[]): Entities => ({
  type,
  async *walk({ after }) {
    const start = after === undefined ? 0 : Math.max(0, Number(after[0]) || 0)
    yield entities.map((entity, at) => ({ show: () => entity, cursor: [at + 1] })).slice(start)
  },
  find: async key => entities.find(each => each.key === key),
  count: async () => entities.length,
})
