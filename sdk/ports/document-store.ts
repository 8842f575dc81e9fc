import type { AnyEvent, NewEvent } from '../events.ts'
import { port } from '../port.ts'
import type { Outbox } from './outbox.ts'
import type { RowFormat } from './row-format.ts'

/** A value in a document: JSON without `undefined`. Dates are ISO 8601 text in UTC with milliseconds. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

/** Every document has an id, unique in its collection, and a revision that starts at 1 and increases by one with each commit. */
export interface Stored {
  readonly id: string
  readonly revision: number
}

/**
 * An index of a collection. `on` lists dotted field paths, most significant first; all are ascending, can be read in either direction, and end with the id as
 * the last key. At most one of the paths may be an array: the document then has one entry per distinct element (`array` names that path). Absent and null
 * fields and empty arrays and objects are indexed as null, so that every document is in every index. A commit with an array at any other path throws `Invalid`.
 *
 * A path ending in `~`, such as `name~`, is also an array and must be named as `array`: the trigrams of the text at `name`, i.e. its runs of three characters
 * without spaces, in lower case. `contains('name', 'forest')` implies `isIn('name~', ['for', overlong])`, and so on for each trigram.
 */
export interface Index<F extends string = string> {
  readonly on: readonly F[]
  readonly array?: F
  /**
   * No two live documents may have the same key; the second one is refused with `Taken`. Not allowed together with `array`. Keys with a null part are exempt.
   */
  readonly unique?: boolean
  /**
   * A path of the index: documents without a value there have no entry, so only queries that compare this path with values can use the index. Not allowed with
   * `unique`.
   */
  readonly sparse?: F
}

/**
 * The dotted paths of a document, including `id` and `revision`; array indexes are left out, and paths of trigrams end in `~`. Where the type does not list its
 * members, any path is allowed: below records, and from the fifth level on.
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

/** Type argument of conditions, queries and collections whose fields or indexes are unknown to the compiler and therefore not checked. */
// biome-ignore lint/suspicious/noExplicitAny: what is built where the collection is not known must fit every collection
type Unchecked = any

/** A declared collection; `T` is the document without id and revision, `I` the names of its indexes. Created by `collection`, listed in `definePlugin`. */
export interface Collection<T extends object, I extends string = Unchecked> {
  /** Lower-case words with dots or dashes; unique in the installation. */
  readonly name: string
  readonly indexes: Readonly<Record<I, Index>>
  /** Exists only at compile time. */
  readonly holds?: T
}

/** Declares a collection, given its name and indexes. */
export type DeclareCollection<T extends object> = <const I extends string = never>(
  name: string,
  indexes?: Readonly<Record<I, Index<FieldPath<T>>>>,
) => Collection<T, I>

/**
 * Declares a collection: `collection<FileRecord>()('files', { byDataset: { on: ['places.dataset', 'created'], array: 'places.dataset' } })`. The first call
 * fixes the document type so that the second can infer index names: queries with misspelt indexes or fields do not compile. In the single-call form
 * `collection<FileRecord>('files', …)` only fields are checked.
 */
export function collection<T extends object>(): DeclareCollection<T>
export function collection<T extends object>(name: string, indexes?: Readonly<Record<string, Index<FieldPath<T>>>>): Collection<T>
export function collection<T extends object>(name?: string, indexes: Readonly<Record<string, Index>> = {}) {
  const declare = (of: string, by: Readonly<Record<string, Index>> = {}): Collection<T> => {
    refuseOddIndexes(of, by)
    return { name: of, indexes: by }
  }
  return name === undefined ? declare : declare(name, indexes)
}

/** Collections are also declared without types. */
const refuseOddIndexes = (of: string, indexes: Readonly<Record<string, { readonly on?: unknown }>>): void => {
  for (const [name, index] of Object.entries(indexes)) {
    const on: unknown = index?.on
    if (!Array.isArray(on) || on.length === 0 || !on.every(field => typeof field === 'string'))
      throw new TypeError(`collection '${of}': the index ${name} must have a list of fields: { on: ['author', 'created'] }`)
  }
}

type Scalar = string | number | boolean | null

/**
 * A condition. `field` is a dotted path, including `id` and `revision` (`places.dataset` matches any element of an array `places`); on arrays, eq, in, range
 * and prefix hold if any element matches. Absent fields and empty arrays are treated as null; `exists` holds for anything but null. Range bounds only match
 * values of their own type. Values are compared, never interpreted: `prefix` and `contains` take literal text (`contains` ignores case, by Unicode
 * lower-casing).
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

/** The field name as known to the compiler; unchecked if it is computed. */
type Known<F extends string> = string extends F ? Unchecked : F

/** The field equals the value. */
export const eq = <const F extends string>(field: F, value: Scalar): Where<Known<F>> => ({ op: 'eq', field, value })
/** The field does not equal the value. */
export const ne = <const F extends string>(field: F, value: Scalar): Where<Known<F>> => ({ op: 'ne', field, value })
/** The field equals one of the values. */
export const isIn = <const F extends string>(field: F, values: readonly Scalar[]): Where<Known<F>> => ({ op: 'in', field, values })
/** The field is within the bounds. */
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

/** The position after which a page continues: the sort values and id of the last row. Opaque to clients, which receive it in a `Link`. */
export type After = readonly [...values: readonly Scalar[], id: string]

/** A query for one page of documents. `F` are the fields and `I` the indexes that it may name. */
export interface Find<F extends string = Unchecked, I extends string = Unchecked> {
  /**
   * Name of the index that provides the order (and usually the first fields of `where`). With further names the store can merge the ordered streams of an
   * `or`/`in` instead of scanning the first index. Unknown names throw.
   */
  readonly using: I | readonly I[]
  readonly where?: Where<F>
  /**
   * One field, then the id in the same direction; null first, strings by code point. Must be a non-array field of the first index named, otherwise the query
   * throws. A page is a single seek if the field is the last one of the index and `where` fixes all preceding ones by eq or in; otherwise all matches are
   * sorted for each page. Absent: by id, which is a single seek if `where` fixes every field of the index.
   */
  readonly sort?: { readonly by: F; readonly order: 'ascending' | 'descending' }
  readonly after?: After
  /** 1 to 1,000. */
  readonly limit: number
  /**
   * At least 1. Ends a page early, with `next`, once this many non-matching documents have been scanned; for queries with conditions that no index covers.
   * Absent: only the last page is short.
   */
  readonly maxScanned?: number
  /**
   * At least 1. Ends a page early, with `next`, once its documents exceed this many characters of JSON; a page has at least one document. No more than that is
   * read at once.
   */
  readonly maxCharacters?: number
}

/** A bounded part of a list. */
export interface Page<T> {
  readonly items: readonly T[]
  /** Present if there may be more. A page with `next` is full, unless `maxScanned` or `maxCharacters` ended it. */
  readonly next?: After
}

/** Changes to fields of one document. Paths are dotted; a path through something that is not an object throws `Invalid`. */
export interface Update {
  readonly set?: Readonly<Record<string, Json | object>>
  readonly unset?: readonly string[]
  /** Adds to a number; an absent field is treated as 0. */
  readonly inc?: Readonly<Record<string, number>>
  /** Appends to an array, which is created if absent. `keepLast` drops the oldest elements beyond that number. */
  readonly push?: Readonly<Record<string, { readonly values: readonly (Json | object)[]; readonly keepLast?: number }>>
  /** Appends the values that are not (deeply) equal to any element. */
  readonly addToSet?: Readonly<Record<string, readonly (Json | object)[]>>
  /** Removes elements that are deeply equal to a value or, if it is an object, have all of its members. */
  readonly pull?: Readonly<Record<string, readonly (Json | object)[]>>
}

/** One atomic change of one document. */
export type Change<T extends object = object> =
  | { readonly insert: T & { readonly id: string }; readonly into: Collection<T> }
  | { readonly replace: T & Stored; readonly in: Collection<T> }
  | ({ readonly update: string; readonly in: Collection<T>; readonly where?: Where<FieldPath<T>> } & Update)
  | { readonly tombstone: string; readonly in: Collection<T>; readonly where?: Where<FieldPath<T>> }

/** The results of `commitEach`, in the order of the changes. */
export type Committed<T extends object> =
  | { readonly ok: true; readonly document: T & Stored }
  | { readonly ok: false; readonly error: Error }

/**
 * Stores documents; each change is atomic, together with the events that describe it.
 *
 * Every promise resolves only when the change is durable (even after a power failure) and visible to all later reads. No call takes longer than the configured
 * timeout: then, and when the backing server is unavailable, it rejects with `Unavailable`; with `NoSpace` when the disk is full. Do not modify returned
 * documents: those of `get` and `getMany` may be frozen and shared. Ids are 1 to 200 characters without control characters; otherwise an insert throws
 * `Invalid`.
 */
export interface DocumentStore {
  /** Creates new collections and indexes, including new indexes of existing collections. Called by the kernel before plugins start. Idempotent. */
  declare(collections: readonly Collection<object>[]): Promise<void>

  get<T extends object>(from: Collection<T>, id: string): Promise<(T & Stored) | undefined>
  /** The documents that exist, by id. At most 1,000 ids. */
  getMany<T extends object>(from: Collection<T>, ids: readonly string[]): Promise<ReadonlyMap<string, T & Stored>>
  find<T extends object, I extends string>(from: Collection<T, I>, query: Find<FieldPath<T>, I>): Promise<Page<T & Stored>>
  /** The number of matches, counted up to `upTo`, which bounds the cost. */
  count<T extends object, I extends string>(
    from: Collection<T, I>,
    query: Pick<Find<FieldPath<T>, I>, 'using' | 'where'> & { readonly upTo: number },
  ): Promise<number>
  /**
   * The position of a match in the order of `sort` or of the id, for use as `after`: with `position` 5,000 a page begins with the 5,001st match. Reads only
   * index entries up to that position. Undefined if there are fewer matches. Throws unless the indexes alone can answer `where`.
   */
  seek<T extends object, I extends string>(
    from: Collection<T, I>,
    query: Pick<Find<FieldPath<T>, I>, 'using' | 'where' | 'sort'> & { readonly position: number },
  ): Promise<After | undefined>
  /**
   * All matches exactly once, in the order of `sort` or of the first index, read page by page: for jobs and exports. Pages of large documents are short.
   * Concurrent changes may or may not be included.
   */
  scan<T extends object, I extends string>(
    from: Collection<T, I>,
    query: Omit<Find<FieldPath<T>, I>, 'limit' | 'after'>,
  ): AsyncIterable<T & Stored>

  /** Every document of a collection once, ordered by id and starting after `after`, read in chunks. Needs no index: for migrations and checks. */
  walk<T extends object>(from: Collection<T>, after?: string): AsyncIterable<T & Stored>

  /**
   * Documents formatted as lines, in chunks of UTF-8, without blocking other operations: for reports over whole collections. `rowSeparator` has to be inserted
   * between chunks as well as between the lines in them; chunks are never empty. Without `query` every document once, unordered; otherwise the matches, as for
   * `scan`.
   */
  formattedRows<T extends object, I extends string>(
    from: Collection<T, I>,
    format: RowFormat,
    query?: Pick<Find<FieldPath<T>, I>, 'using' | 'where'>,
  ): AsyncIterable<Uint8Array>

  /**
   * Commits one change and its events atomically. Resolves to the document after the change (for a tombstone: before it). Insert of an existing id, replace of
   * an outdated revision, update or tombstone of an absent document or with a `where` that does not hold: `CommitConflict` with `reason` `exists`, `revision`,
   * `absent` or `guard`. Unique key in use: `Taken`. A tombstoned document is immediately invisible to all reads; its id may be inserted again.
   */
  commit<T extends object>(change: Change<T>, events?: readonly NewEvent[]): Promise<T & Stored>
  /**
   * Commits many changes in order, each atomic by itself, in as few transactions as possible. Failures of single changes do not reject the promise. At most
   * 1,000.
   */
  commitEach<T extends object>(
    items: readonly { readonly change: Change<T>; readonly events?: readonly NewEvent[] }[],
  ): Promise<readonly Committed<T>[]>

  /**
   * Writes a durable copy of all documents and resolves to its location; undefined if the settings disable it. Called before migrations change documents.
   * Absent in stores on servers, which have backup tools of their own.
   */
  backUp?(): Promise<string | undefined>

  /** The events of commits until their consumers have handled them. */
  readonly outbox: Outbox
}
export const DocumentStore = port<DocumentStore>('documentStore')

export type { AnyEvent }
