import type { AnyEvent, NewEvent } from '../events.ts'
import { port } from '../port.ts'
import type { Lines } from './lines.ts'
import type { Outbox } from './outbox.ts'

/** A value that a document can hold: JSON without `undefined`. Dates are ISO 8601 text in UTC with milliseconds. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

/** Every document has an id, unique in its collection, and a revision that each commit raises by one (first: 1). */
export interface Stored {
  readonly id: string
  readonly revision: number
}

/**
 * Index of a collection. `on` lists dotted field paths, most significant first; all ascending, read in either direction, with
 * the id as the last key. At most one of the paths may hold an array: the document then has one entry per element
 * (`array` names that path; two elements alike make one entry). Absent and null fields, empty arrays and objects are indexed as null,
 * so that every document is in every index. An array at a path that is not named as `array` makes a commit throw `Invalid`.
 *
 * A path ending in `~`, such as `name~`, stands for an array too, and is always named as `array`: the pieces of the text at `name`, which are its
 * runs of three characters without blanks, in lower case. `contains('name', 'forest')` implies `isIn('name~', ['for', overlong])`, and so on for each run.
 */
export interface Index<F extends string = string> {
  readonly on: readonly F[]
  readonly array?: F
  /** No two live documents share the key; a second one is refused with `Taken`. Never together with `array`. Keys with a null part are free. */
  readonly unique?: boolean
  /** A path of the index. What has no value there has no entry, so that only queries that compare the path with values can use the index. Never with `unique`. */
  readonly sparse?: F
}

/**
 * The dotted paths of a document, `id` and `revision` included; paths through arrays leave out their places, and those of pieces end in `~`. Where a type says nothing of its members, any
 * path: below records by name, and from the fifth level on.
 */
export type FieldPath<T> = 'id' | 'revision' | PathBelow<T, []> | `${PathBelow<T, []>}~`

type PathBelow<T, Level extends readonly 0[]> = T extends Scalar | undefined
  ? never
  : Level['length'] extends 5
    ? string
    : T extends readonly (infer E)[]
      ? PathBelow<E, [...Level, 0]>
      : [keyof T] extends [never]
        ? string
        : { [K in keyof T & string]: K | `${K}.${PathBelow<T[K], [...Level, 0]>}` }[keyof T & string]

/** Of a condition, query or collection that says nothing of fields or indexes: the compiler checks none. */
// biome-ignore lint/suspicious/noExplicitAny: what is built where the collection is not known must fit every collection
type Unchecked = any

/** A declared collection; `T` is the document without id and revision, `I` the names of its indexes. Made by `collection`, named in `definePlugin`. */
export interface Collection<T extends object, I extends string = Unchecked> {
  /** Lower-case words with dots or dashes, unique in the installation. */
  readonly name: string
  readonly indexes: Readonly<Record<I, Index>>
  /** Only for the compiler. */
  readonly holds?: T
}

/** Declares a collection of documents of a type, by its name and indexes. */
export type DeclareCollection<T extends object> = <const I extends string = never>(
  name: string,
  indexes?: Readonly<Record<I, Index<FieldPath<T>>>>,
) => Collection<T, I>

/**
 * Declares a collection: `collection<FileRecord>()('files', { byDataset: { on: ['places.dataset', 'created'], array: 'places.dataset' } })`. The first call takes
 * the type of its documents, so that the second one can tell the names of indexes: queries that misspell one, or a field, do not compile. In one
 * call, `collection<FileRecord>('files', …)`, only fields are checked.
 */
export function collection<T extends object>(): DeclareCollection<T>
export function collection<T extends object>(name: string, indexes?: Readonly<Record<string, Index<FieldPath<T>>>>): Collection<T>
export function collection<T extends object>(name?: string, indexes: Readonly<Record<string, Index>> = {}) {
  const declare = (of: string, by: Readonly<Record<string, Index>> = {}): Collection<T> => ({ name: of, indexes: by })
  return name === undefined ? declare : declare(name, indexes)
}

type Scalar = string | number | boolean | null

/**
 * A condition as data. `field` is a dotted path, `id` and `revision` included (`places.dataset` looks into each element of an array `places`); on an array,
 * eq, in, range and prefix hold when any element fits. An absent field and an empty array are null; `exists` holds for anything but null.
 * Bounds of a range fit only values of their own type. Values are only ever compared, never interpreted: `prefix` and
 * `contains` take plain text (`contains` ignores case as Unicode lower case does).
 */
export type Where<F extends string = Unchecked> =
  | { readonly op: 'eq'; readonly field: F; readonly value: Scalar }
  | { readonly op: 'ne'; readonly field: F; readonly value: Scalar }
  | { readonly op: 'in'; readonly field: F; readonly values: readonly Scalar[] }
  | {
      readonly op: 'range'
      readonly field: F
      readonly gt?: string | number
      readonly gte?: string | number
      readonly lt?: string | number
      readonly lte?: string | number
    }
  | { readonly op: 'prefix'; readonly field: F; readonly text: string }
  | { readonly op: 'contains'; readonly field: F; readonly text: string }
  | { readonly op: 'exists'; readonly field: F }
  | { readonly op: 'and'; readonly all: readonly Where<F>[] }
  | { readonly op: 'or'; readonly any: readonly Where<F>[] }
  | { readonly op: 'not'; readonly not: Where<F> }

/** What a condition knows of its field: nothing where the name is computed. */
type Known<F extends string> = string extends F ? Unchecked : F

/** The field equals the value. */
export const eq = <const F extends string>(field: F, value: Scalar): Where<Known<F>> => ({ op: 'eq', field, value })
/** The field does not equal the value. */
export const ne = <const F extends string>(field: F, value: Scalar): Where<Known<F>> => ({ op: 'ne', field, value })
/** The field equals one of the values. */
export const isIn = <const F extends string>(field: F, values: readonly Scalar[]): Where<Known<F>> => ({ op: 'in', field, values })
/** The field lies within the bounds. */
export const range = <const F extends string>(
  field: F,
  bounds: Omit<Extract<Where, { op: 'range' }>, 'op' | 'field'>,
): Where<Known<F>> => ({
  op: 'range',
  field,
  ...bounds,
})
/** The field starts with the text. */
export const startsWith = <const F extends string>(field: F, text: string): Where<Known<F>> => ({ op: 'prefix', field, text })
/** The field contains the text, ignoring case. */
export const contains = <const F extends string>(field: F, text: string): Where<Known<F>> => ({ op: 'contains', field, text })
/** The field is neither absent nor null. */
export const exists = <const F extends string>(field: F): Where<Known<F>> => ({ op: 'exists', field })
/** All of the conditions hold. */
export const and = <F extends string>(...all: readonly Where<F>[]): Where<F> => ({ op: 'and', all })
/** At least one of the conditions holds. */
export const or = <F extends string>(...any: readonly Where<F>[]): Where<F> => ({ op: 'or', any })
/** The condition does not hold. */
export const not = <F extends string>(condition: Where<F>): Where<F> => ({ op: 'not', not: condition })

/** Where a page ends: the last row's sort values and id. Opaque to clients, which receive it in a `Link`. */
export type After = readonly [...values: readonly Scalar[], id: string]

/** A page of documents. `F` are the fields that it may name, `I` the indexes. */
export interface Find<F extends string = Unchecked, I extends string = Unchecked> {
  /**
   * Name of the index that yields the order (and usually the first fields of `where`). Further names allow the store to merge
   * the index-ordered streams of an `or`/`in` instead of walking the first one. A name that was not declared throws.
   */
  readonly using: I | readonly I[]
  readonly where?: Where<F>
  /**
   * One field, then the id in the same direction; null first, text by code point. It must be a field of the first index named, and no
   * array; anything else throws. A page is one seek when the field is the last one of the index and `where` fixes those before it by
   * eq or in; otherwise all that fits is sorted for each page. Absent: by id, which is one seek when `where` fixes every field of the index.
   */
  readonly sort?: { readonly by: F; readonly order: 'ascending' | 'descending' }
  readonly after?: After
  /** 1 to 1,000. */
  readonly limit: number
  /**
   * At least 1. A page ends early, with `next`, once so many documents were scanned that did not match, for queries with
   * conditions that no index covers. Absent: a page is only short when it is the last.
   */
  readonly maxScanned?: number
  /** At least 1. A page ends early, with `next`, once its documents have so many characters of JSON; it has at least one. No more than that is read at once. */
  readonly maxCharacters?: number
}

/** A bounded part of a list. */
export interface Page<T> {
  readonly items: readonly T[]
  /** Present when there may be more. A page with it is full, unless `maxScanned` or `maxCharacters` ended it. */
  readonly next?: After
}

/** Changes to fields of one document; values are JSON. Paths are dotted; a path through something that is not an object throws `Invalid`. */
export interface Update {
  readonly set?: Readonly<Record<string, Json | object>>
  readonly unset?: readonly string[]
  /** Adds to a number; an absent field counts as 0. */
  readonly inc?: Readonly<Record<string, number>>
  /** Appends to an array, which is made when absent. `keepLast` drops the oldest beyond that many. */
  readonly push?: Readonly<Record<string, { readonly values: readonly (Json | object)[]; readonly keepLast?: number }>>
  /** Appends those values that no element equals (deeply). */
  readonly addToSet?: Readonly<Record<string, readonly (Json | object)[]>>
  /** Removes the elements that equal a value (deeply), or, for objects, that have all members of it. */
  readonly pull?: Readonly<Record<string, readonly (Json | object)[]>>
}

/** One atomic change of one document. */
export type Change<T extends object = object> =
  | { readonly insert: T & { readonly id: string }; readonly into: Collection<T> }
  | { readonly replace: T & Stored; readonly in: Collection<T> }
  | ({ readonly update: string; readonly in: Collection<T>; readonly where?: Where<FieldPath<T>> } & Update)
  | { readonly tombstone: string; readonly in: Collection<T>; readonly where?: Where<FieldPath<T>> }

/** What `commitEach` reports, in the order of the changes. */
export type Committed<T extends object> =
  | { readonly ok: true; readonly document: T & Stored }
  | { readonly ok: false; readonly error: Error }

/**
 * Documents, each changed atomically together with the events that say what the change means.
 *
 * Every promise here resolves only when the change is durable (power cut included) and visible to every later read.
 * No call waits longer than the configured time-out: then, and when the server behind it is unavailable, it rejects with
 * `Unavailable`; with `NoSpace` when the disk is full. Do not change returned documents: those of `get` and `getMany` may be
 * frozen, and the same for all readers.
 * Ids are 1 to 200 characters without control characters; another one makes an insert throw `Invalid`.
 */
export interface DocumentStore {
  /** Creates the collections and their indexes if they are new, and adds new indexes to existing collections. The kernel calls it before plugins start. Idempotent. */
  declare(collections: readonly Collection<object>[]): Promise<void>

  get<T extends object>(from: Collection<T>, id: string): Promise<(T & Stored) | undefined>
  /** Those that exist, by id. At most 1,000 ids. */
  getMany<T extends object>(from: Collection<T>, ids: readonly string[]): Promise<ReadonlyMap<string, T & Stored>>
  find<T extends object, I extends string>(from: Collection<T, I>, query: Find<FieldPath<T>, I>): Promise<Page<T & Stored>>
  /** The number of matches, counted up to `upTo` (then `upTo` is returned), so that the cost is bounded. */
  count<T extends object, I extends string>(
    from: Collection<T, I>,
    query: Pick<Find<FieldPath<T>, I>, 'using' | 'where'> & { readonly upTo: number },
  ): Promise<number>
  /**
   * The place of one match in the order of `sort` or of the id, to be given as `after`: with `position` 5,000 a page begins with the 5,001st match. Reads index
   * entries, not documents, and only up to that position. Undefined when there are fewer matches. `where` must be answered by the indexes alone; anything else throws.
   */
  seek<T extends object, I extends string>(
    from: Collection<T, I>,
    query: Pick<Find<FieldPath<T>, I>, 'using' | 'where' | 'sort'> & { readonly position: number },
  ): Promise<After | undefined>
  /** All matches, each once, in the order of `sort` or of the first index, read in pages during the iteration: for jobs and exports. Concurrent changes may or may not be included. */
  scan<T extends object, I extends string>(
    from: Collection<T, I>,
    query: Omit<Find<FieldPath<T>, I>, 'limit' | 'after'>,
  ): AsyncIterable<T & Stored>

  /** Every document of a collection once, by id from `after` (exclusive) on, read in chunks during the iteration. Needs no index: for migrations and checks. */
  walk<T extends object>(from: Collection<T>, after?: string): AsyncIterable<T & Stored>

  /**
   * Documents written as lines, in chunks of UTF-8, without blocking other operations: for reports over whole collections. Lines of a piece, and one piece and
   * the next, belong apart by `betweenLines`; no piece is empty. Without `query` every document once, in no order; else the matches, as `scan` returns them.
   */
  lines<T extends object, I extends string>(
    from: Collection<T, I>,
    lines: Lines,
    query?: Pick<Find<FieldPath<T>, I>, 'using' | 'where'>,
  ): AsyncIterable<Uint8Array>

  /**
   * One change and its events, all or nothing. Resolves to the document after the change (for a tombstone: before it).
   * Insert of an existing id, replace with an outdated revision, update or tombstone whose `where` does not hold or whose document
   * is absent: `Conflict` with `reason` `exists`, `revision`, `guard` or `absent`. A unique key in use: `Taken`.
   * A tombstoned document is invisible to all reads immediately; its id may be inserted again.
   */
  commit<T extends object>(change: Change<T>, events?: readonly NewEvent[]): Promise<T & Stored>
  /** Many changes, each atomic by itself, in order, in as few transactions as possible. Does not reject when single items fail. At most 1,000. */
  commitEach<T extends object>(
    items: readonly { readonly change: Change<T>; readonly events?: readonly NewEvent[] }[],
  ): Promise<readonly Committed<T>[]>

  /** The events of commits, until their consumers have processed them. */
  readonly outbox: Outbox
}
export const DocumentStore = port<DocumentStore>('documentStore')

export type { AnyEvent }
