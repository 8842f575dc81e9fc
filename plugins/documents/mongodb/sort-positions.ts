import type { Document, Filter } from 'mongodb'
import type { Scalar } from 'pounce/sdk/store-kit'
import type { StoredRecord } from './record-format.ts'

/** A sort order of documents: by these fields, then the ID, all in one direction. */
export interface SortOrder {
  /** MongoDB's names of fields that contain no arrays, without `_id`. */
  readonly fields: readonly string[]
  readonly isDescending: boolean
}

/** Where to continue: the encoded values of the sort fields and of the ID. */
export type SortPosition = readonly Scalar[]

export const sortOf = ({ fields, isDescending }: SortOrder): Document =>
  Object.fromEntries([...fields, '_id'].map(field => [field, isDescending ? -1 : 1]))

/** Each type except null as a range, since MongoDB compares only values of the same type. */
const types = [{ $gte: Number.NEGATIVE_INFINITY }, { $gte: '' }, { $gte: false }]

const rankOf = (value: Scalar): number => (value === null ? 0 : typeof value === 'number' ? 1 : typeof value === 'string' ? 2 : 3)

/** Ranges after a value: the rest of its own type, then the types beyond. */
const beyond = (field: string, value: Scalar, isDescending: boolean): readonly Filter<StoredRecord>[] => {
  const rank = rankOf(value)
  const same: Filter<StoredRecord>[] = value === null ? [] : [{ [field]: { [isDescending ? '$lt' : '$gt']: value } }]
  if (field === '_id') return same
  const others = isDescending ? types.slice(0, Math.max(0, rank - 1)) : types.slice(rank)
  const ranges: Filter<StoredRecord>[] = others.map(bounds => ({ [field]: bounds }))
  if (isDescending && value !== null) ranges.push({ [field]: null })
  if (ranges.length === 0) return same
  return [...same, ranges.length > 1 ? { $or: ranges } : (ranges[0] as Filter<StoredRecord>)]
}

/**
 * What comes after a position, as ranges to be read one after the other, each of which is one seek in an index over the sort
 * fields: first the rows equal to the position in all fields, then those that differ in the last field, and so on.
 */
export const rangesAfter = ({ fields, isDescending }: SortOrder, position: SortPosition | undefined): readonly Filter<StoredRecord>[] => {
  if (position === undefined) return [{}]
  const all = [...fields, '_id']
  return all
    .map((field, at): readonly Filter<StoredRecord>[] => {
      const level: Filter<StoredRecord> = Object.fromEntries(all.slice(0, at).map((name, number) => [name, position[number] ?? null]))
      return beyond(field, position[at] ?? null, isDescending).map(filter => (at === 0 ? filter : { $and: [level, filter] }))
    })
    .reverse()
    .flat()
}
