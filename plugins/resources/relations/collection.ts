import { collection, type Kind, type Time } from 'pounce/sdk'

/** What a relation can join (reference, api-data §8). */
export const relatedTypes = ['dataset', 'file', 'collection', 'user', 'sensor', 'stream', 'folder', 'metadata'] as const
export type RelatedType = (typeof relatedTypes)[number]

/** One end of a relation: a thing of this server, or of another place, named by an address. */
export interface RelationEnd {
  readonly id: string
  readonly resourceType: RelatedType
}

/** That one thing has to do with another. Its id follows from the ends and the type, so that there is one such relation at most. */
export interface RelationRecord {
  readonly source: RelationEnd
  readonly target: RelationEnd
  readonly rdfType: string | null
  readonly author: string | null
  readonly created: Time
}

export const relations = collection<RelationRecord>('relations', {
  bySource: { on: ['source.id', 'target.resourceType'] },
  byTarget: { on: ['target.id'] },
})

const ownKinds: ReadonlySet<string> = new Set<Kind>(['dataset', 'file', 'collection', 'user', 'folder', 'metadata'])
const ownId = /^[0-9a-f]{24}$/

/** The thing of this server that an end names; undefined for addresses, and for sensors and streams. */
export const thingOf = ({ id, resourceType }: RelationEnd): { readonly kind: Kind; readonly id: string } | undefined =>
  ownKinds.has(resourceType) && ownId.test(id) ? { kind: resourceType as Kind, id } : undefined
