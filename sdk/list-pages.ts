import { setImmediate as nextTurn } from 'node:timers/promises'
import { overlongPiece, trigramsOf } from './documents/pieces.ts'
import { compareScalars } from './documents/scalars.ts'
import { datesOf, isSorted, type ListQuery, linkToNext, listing, newestFirst, sortedBy } from './listing.ts'
import type { After, Collection, DocumentStore, Find, Page, Stored, Where } from './ports/document-store.ts'
import { and, eq, isIn } from './ports/document-store.ts'

/** Documents scanned without a match before a page ends, and how often that is repeated per request. */
const maxScanned = 1000
const rounds = 8
/** Maximum number of matching names for a substring to be selective. */
const maxSelective = 1000
/** How many substrings of a title are counted. */
const maxCounted = 12
/** Items of an unlimited list that are in memory at a time. */
const streamed = 500

/**
 * A list of live records with `name` and `created`. The collection needs an index `byNamePiece` on `state`, `name~`, `created`, and for `exact` an index
 * `byName` on `state`, `name`, `created`. `where` selects what the caller may view; `using` names an index that serves it.
 */
export interface ListSource<T extends object> {
  readonly documents: DocumentStore
  readonly from: Collection<T>
  readonly using: Find['using']
  readonly where: readonly Where[]
}

const live = eq('state', 'live')

/** Continues where `maxScanned` ended a page, a limited number of times. */
const gather = async <T extends object>({ documents, from }: ListSource<T>, find: Find): Promise<Page<T & Stored>> => {
  const items: (T & Stored)[] = []
  let after = find.after
  for (let round = 1; ; round++) {
    const left = { ...find, limit: find.limit - items.length, maxScanned }
    const page = await documents.find(from, after ? { ...left, after } : left)
    items.push(...page.items)
    if (page.next === undefined) return { items }
    if (items.length === find.limit || round === rounds) return { items, next: page.next }
    after = page.next
    await nextTurn()
  }
}

const evenly = (runs: readonly string[]): readonly string[] => {
  const step = Math.max(1, Math.ceil(runs.length / maxCounted))
  return runs.filter((_, at) => at % step === 0)
}

/** The substring contained in the fewest names, and their number, counted up to `maxSelective`. */
const rarest = async <T extends object>({ documents, from }: ListSource<T>, runs: readonly string[]) => {
  const counted = evenly(runs).map(async run => {
    const where: Where = and(live, eq('name~', run))
    return { run, count: await documents.count(from, { using: 'byNamePiece', where, upTo: maxSelective }) }
  })
  return (await Promise.all(counted)).reduce((least, next) => (next.count < least.count ? next : least))
}

/** Lists are counted up to this number. */
const maxTotal = 10_000

/** A page of a list that can be counted. */
export interface ListPage<T> extends Page<T> {
  /** Size of the whole list, at most 10,001; undefined for a title that is too common. */
  readonly total?: () => Promise<number | undefined>
}

const fieldOf = (document: object, field: string): string | number | null => (document as Readonly<Record<string, string>>)[field] ?? null

/** A page of the few records that match a title, in the requested order. */
const sortedFew = <T extends object>(found: readonly (T & Stored)[], { sort, after, limit }: Find): ListPage<T & Stored> => {
  const by = sort?.by ?? 'created'
  const sign = sort?.order === 'ascending' ? 1 : -1
  const compare = (one: readonly [string | number | null, string], other: After): number =>
    sign * (compareScalars(one[0], other[0] ?? null) || compareScalars(one[1], String(other.at(-1))))
  const keyOf = (each: T & Stored) => [fieldOf(each, by), each.id] as const
  const sorted = found.toSorted((one, other) => compare(keyOf(one), keyOf(other)))
  const rest = after === undefined ? sorted : sorted.filter(each => compare(keyOf(each), after) > 0)
  const items = rest.slice(0, limit)
  const last = items.at(-1)
  return { items, ...(last && rest.length > items.length ? { next: keyOf(last) } : {}), total: async () => found.length }
}

/** All records whose names contain a rare substring of the title. */
const allWithTitle = async <T extends object>(source: ListSource<T>, query: ListQuery, run: string): Promise<readonly (T & Stored)[]> => {
  const whole = { title: query.title, limit: 1000 }
  const find = listing(whole, 'byNamePiece', live, isIn('name~', [run, overlongPiece]), ...datesOf(query), ...source.where)
  const items: (T & Stored)[] = []
  let after: After | undefined
  do {
    const page: Page<T & Stored> = await source.documents.find(source.from, after ? { ...find, after } : find)
    items.push(...page.items)
    after = page.next
  } while (after !== undefined && items.length < maxSelective * 2)
  return items
}

/** A page of the records that match a title, in a requested order, and their number when that is cheap to determine. */
const sortedTitle = async <T extends object>(source: ListSource<T>, query: ListQuery, whole: Find): Promise<ListPage<T & Stored>> => {
  const runs = trigramsOf(query.title ?? '')
  const { run, count } = runs.length === 0 ? { run: '', count: maxSelective } : await rarest(source, runs)
  if (count < maxSelective) return sortedFew(await allWithTitle(source, query, run), whole)
  return { ...(await gather(source, whole)), total: async () => undefined }
}

/**
 * A page of a list. `title` is searched by its rarest substring, so that the cost does not grow with the collection. If every substring is common, or the title
 * is too short to have one, a limited range is scanned and the page may be short and still have `next`.
 */
export const listPage = async <T extends object>(source: ListSource<T>, query: ListQuery): Promise<ListPage<T & Stored>> => {
  const { documents, from, where } = source
  const { using, everything } = sortedBy(from.indexes, query, source.using, where)
  if (query.title && query.exact) {
    const { sort: _sort, ...named } = query
    const page = await gather(source, { ...listing(named, using, live, ...where), using: 'byName' })
    return { ...page, total: async () => undefined }
  }
  const whole = listing(query, using, live, ...where, ...everything)
  if (!query.title) {
    const page = await documents.find(from, whole)
    const counted = () => documents.count(from, { using: source.using, where: and(live, ...where, ...datesOf(query)), upTo: maxTotal + 1 })
    return { ...page, total: counted }
  }
  if (isSorted(query) || query.total) return sortedTitle(source, query, whole)
  const runs = trigramsOf(query.title)
  if (runs.length === 0) return gather(source, whole)
  const { run, count } = await rarest(source, runs)
  if (count === maxSelective && where.length > 0) {
    const seen = await documents.find(from, { ...whole, maxScanned })
    if (seen.next === undefined || seen.items.length === whole.limit) return seen
  }
  return gather(source, { ...listing(query, 'byNamePiece', live, isIn('name~', [run, overlongPiece]), ...where) })
}

/** The response of a list route: an array, or for `limit=0` a stream of all items. */
export interface ListAnswer<V> {
  readonly status: 200
  readonly body: readonly V[] | AsyncIterable<V>
  readonly headers?: Readonly<Record<string, string>>
}

interface Shown<T, V> {
  readonly read: (query: ListQuery) => Promise<ListPage<T>>
  readonly show: (items: readonly T[]) => readonly V[] | Promise<readonly V[]>
  readonly baseUrl: string
  readonly url: URL
  /** Include the last date in the `Link`; for lists with a `date` parameter. */
  readonly dated?: boolean
}

async function* everything<T, V>({ read, show }: Shown<T, V>, query: ListQuery): AsyncGenerator<V> {
  let after: string | After | undefined = query.after
  do {
    const page: Page<T> = await read({ ...query, limit: streamed, isWhole: true, after })
    yield* await show(page.items)
    after = page.next
    await nextTurn()
  } while (after !== undefined)
}

const totalOf = (total: number | undefined): Readonly<Record<string, string>> =>
  total === undefined ? {} : { 'x-total-count': total > maxTotal ? `${maxTotal}+` : `${total}` }

const totalHeader = async <T, V>(
  query: ListQuery,
  { read }: Shown<T, V>,
): Promise<{ readonly headers?: Readonly<Record<string, string>> }> => {
  if (!query.total) return {}
  const { total } = await read({ ...query, limit: 1 })
  return { headers: totalOf(total ? await total() : 0) }
}

/** The response of a list route: one page with a `Link` to the next one, or for `limit=0` all items, streamed. */
export const answerList = async <T, V>(query: ListQuery, shown: Shown<T, V>): Promise<ListAnswer<V>> => {
  if (query.limit === 0) return { status: 200, body: everything(shown, query), ...(await totalHeader(query, shown)) }
  const page = await shown.read(query)
  const body = await shown.show(newestFirst(page, query))
  const { headers } = linkToNext(shown.baseUrl, shown.url, page, { dated: (shown.dated ?? false) && !isSorted(query) })
  if (!query.total) return { status: 200, body, ...(headers ? { headers } : {}) }
  return { status: 200, body, headers: { ...headers, ...totalOf(page.total ? await page.total() : 0) } }
}
