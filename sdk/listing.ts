import { conjunctsOf } from './documents/check-find.ts'
import type { Caller } from './model/caller.ts'
import type { Permission } from './model/permission.ts'
import type { After, Find, Index, Page, Where } from './ports/document-store.ts'
import { and, contains, eq, isIn, ne, or, range } from './ports/document-store.ts'
import { Invalid } from './problem.ts'
import * as s from './schema.ts'
import { readTime } from './times.ts'
import { trimEnd } from './trim-end.ts'

/** The query parameter that continues after a page. */
export const afterParameter = (maxLength = 200) =>
  s.Optional(s.String({ maxLength, description: 'Cursor from a `Link` header: continues after the previous page' }))

/** Query parameters of the lists of spaces, collections and datasets (reference, api-platform §3). Spread them into a route's `query`. */
export const listParameters = {
  when: s.Optional(
    s.String({ description: '`a`, or absent: created before `date`; anything else: created after it. Ignored without `date`' }),
  ),
  date: s.Optional(s.String({ description: 'Such as `2018-06-20T11:40:25.000Z` or `2018-06-20`; UTC without a zone' })),
  title: s.Optional(s.String({ maxLength: 500, description: 'Text anywhere in the name, ignoring case' })),
  exact: s.Boolean({ default: false, description: '`title` must match the whole name' }),
  limit: s.Integer({
    default: 12,
    minimum: 0,
    description: 'Maximum number of items; above 1,000 returns 1,000 and a link to the rest, 0 returns all',
  }),
  after: afterParameter(),
}

/** Query parameters for sorting, filtering by `whose` and counting: additions to v1 that leave its responses unchanged when absent. */
export const sortParameters = {
  sort: s.Optional(
    s.Union([s.Literal('name'), s.Literal('created'), s.Literal('modified')], {
      description: 'Names are sorted in natural order, ignoring case and accents. `date` is for `created` only',
    }),
  ),
  order: s.Optional(s.Union([s.Literal('asc'), s.Literal('desc')], { description: 'Default: `asc` for names, else `desc`' })),
  whose: s.Optional(
    s.Union([s.Literal('mine'), s.Literal('shared'), s.Literal('public')], {
      description: "Only those created by the caller, those of others in the caller's spaces, or public ones",
    }),
  ),
  total: s.Boolean({
    default: false,
    description: 'Count the list in the header `X-Total-Count`: `10000+` beyond 10,000, absent for a `title` that is too common to count',
  }),
}

/** Values of `listParameters` and `sortParameters`; a list may support only some of them. */
export interface ListQuery {
  readonly sort?: 'name' | 'created' | 'modified' | undefined
  readonly order?: 'asc' | 'desc' | undefined
  readonly whose?: 'mine' | 'shared' | 'public' | undefined
  readonly total?: boolean | undefined
  readonly when?: string | undefined
  readonly date?: string | undefined
  readonly title?: string | undefined
  readonly exact?: boolean | undefined
  readonly limit: number
  /** From a `Link` or the previous page. */
  readonly after?: string | After | undefined
  /** Part of a read of the whole list, which always starts at the newest item, regardless of `when`. */
  readonly isWhole?: boolean
  /** See `Find.maxScanned`. */
  readonly maxScanned?: number
}

/** The result of `Policy.visibleTo`. */
export type Visible = Where | 'all' | 'nothing'

const alternativesOf = (where: Where): readonly Where[] => (where.op === 'or' ? where.any.flatMap(alternativesOf) : [where])

/** The union of two visible sets, in its simplest form, so that stores can still use their indexes. */
export const unionOf = (one: Visible, other: Visible): Visible => {
  if (one === 'all' || other === 'all') return 'all'
  if (one === 'nothing') return other
  if (other === 'nothing') return one
  const values = new Map<string, Set<string | number | boolean | null>>()
  const rest = new Map<string, Where>()
  for (const where of [...alternativesOf(one), ...alternativesOf(other)]) {
    if (where.op !== 'in') rest.set(JSON.stringify(where), where)
    else values.set(where.field, new Set([...(values.get(where.field) ?? []), ...where.values]))
  }
  return or(...rest.values(), ...[...values].map(([field, some]) => isIn(field, [...some])))
}

/** A visible set as conditions for `and(…)`. Check for `'nothing'` first: it has no condition. */
export const conditionsOf = (visible: Exclude<Visible, 'nothing'>): readonly Where[] => (visible === 'all' ? [] : [visible])

/**
 * Characters of records after which a page of a list ends early, and a part of a whole list: a record can have a megabyte of tags, but
 * 1,000 usual ones are far below.
 */
const maxCharacters = { page: 16 * 1024 * 1024, part: 2 * 1024 * 1024 } as const

/** Fields by value of `sort`. */
const sortFields = { name: 'nameKey', created: 'created', modified: 'modified' } as const

/** True when an order was requested; otherwise lists are ordered as in v1. */
export const isSorted = ({ sort, order }: ListQuery): boolean => sort !== undefined || order !== undefined

type EachOrder<I extends string, F extends string> = Readonly<
  Record<I | `${I}/${'nameKey' | 'modified'}`, Index<F | 'nameKey' | 'modified'>>
>

/**
 * Indexes that end in `created`, plus variants for lists sorted by `nameKey` and `modified`: `bySpace`, `bySpace/nameKey`, `bySpace/modified`. An index on
 * `isPublic` also serves unfiltered lists, by merging its two values, so those need no index per order.
 */
export const indexesForOrders = <const I extends string, const F extends string>(indexes: Readonly<Record<I, Index<F>>>): EachOrder<I, F> =>
  Object.fromEntries(
    Object.entries<Index<F>>(indexes).flatMap(([name, index]) => [
      [name, index],
      ...(['nameKey', 'modified'] as const).map(by => [`${name}/${by}`, { ...index, on: [...index.on.slice(0, -1), by] }] as const),
    ]),
  ) as EachOrder<I, F>

/** How to read a list in a requested order: the indexes with this order and, for `everything`, a condition that lets the store use them. */
export const sortedBy = (
  indexes: Readonly<Record<string, Index>>,
  query: ListQuery,
  using: Find['using'],
  where: readonly Where[],
): { readonly using: Find['using']; readonly everything: readonly Where[] } => {
  if (query.sort === undefined || query.sort === 'created' || typeof using === 'string') return { using, everything: [] }
  const able = using.filter((name: string) => `${name}/${sortFields[query.sort ?? 'created']}` in indexes)
  const scopes = new Set(able.map((name: string) => indexes[name]?.on.at(-2)))
  const isScoped = where
    .flatMap(conjunctsOf)
    .some(each => each.op === 'or' || ((each.op === 'eq' || each.op === 'in') && scopes.has(each.field)))
  return { using: able, everything: isScoped ? [] : [isIn('isPublic', [false, true])] }
}

/** The indexes of `indexesForOrders` for the order of a query. */
const usingFor = ({ sort = 'created' }: ListQuery, using: Find['using']): Find['using'] => {
  const suffix = sort === 'created' ? '' : `/${sortFields[sort]}`
  return typeof using === 'string' ? `${using}${suffix}` : using.map((name: string) => `${name}${suffix}`)
}

const isWithin = (one: Where, other: Where): boolean => {
  if (one.op === 'and') return one.all.some(each => isWithin(each, other))
  if (one.op === 'in' && other.op === 'in') return one.field === other.field && new Set(one.values).isSubsetOf(new Set(other.values))
  return JSON.stringify(one) === JSON.stringify(other)
}

/**
 * The part of the visible records that a list shows: all of them, or those selected by `whose`. A redundant condition is omitted so that an index alone can
 * answer. `view`: the permission with which members of a space see its content.
 */
export const visibleOf = (caller: Caller, view: Permission, query: ListQuery, visible: Visible): readonly Where[] | 'nothing' => {
  const ownership = whoseCondition(caller, view, query)
  if (visible === 'nothing' || ownership === 'nothing') return 'nothing'
  const isVisible = ownership !== 'all' && visible !== 'all' && alternativesOf(visible).some(each => isWithin(ownership, each))
  return [...conditionsOf(ownership), ...(isVisible ? [] : conditionsOf(visible))]
}

/** The condition for `whose`, if the list supports it. */
const whoseCondition = ({ user }: Caller, view: Permission, { whose }: ListQuery): Visible => {
  if (whose === undefined) return 'all'
  if (whose === 'public') return eq('isPublic', true)
  if (!user) return 'nothing'
  if (whose === 'mine') return eq('author', user.id)
  const spaces = user.memberships.filter(({ permissions }) => permissions.has(view)).map(({ space }) => space)
  return spaces.length === 0 ? 'nothing' : and(isIn('spaces', [...new Set(spaces)]), ne('author', user.id))
}

/** The date that the caller sent: one in a link to the next page may only mark where the page ended. */
const dateOf = ({ date, after }: Pick<ListQuery, 'date' | 'after'>): string | undefined =>
  typeof after === 'string' && after.startsWith(`${date}_`) ? undefined : date

const isNewer = (query: ListQuery): boolean => dateOf(query) !== undefined && query.when !== undefined && query.when !== 'a'

/** The condition of `date` and `when`, if any. */
export const datesOf = (query: ListQuery): readonly Where[] => {
  const date = dateOf(query)
  if (date === undefined) return []
  const bound = new Date(readTime(date, 'date')).toISOString()
  return [range('created', isNewer(query) ? { gt: bound } : { lt: bound })]
}

/** Parses `after` of a `Link`: a time and an id; throws `Invalid` otherwise. */
export const readAfter = (text: string): After => {
  const [created, id, ...rest] = text.split('_')
  if (created === undefined || !s.isId(id) || rest.length > 0 || !/^[0-9TZ:.-]+$/.test(created)) {
    throw new Invalid('after must be a cursor from a Link header')
  }
  return [created, id]
}

/** The same for a list sorted by name. */
export const readNamedAfter = (text: string): After => {
  const at = text.lastIndexOf('_')
  const id = text.slice(at + 1)
  if (at < 1 || !s.isId(id)) throw new Invalid('after must be a cursor from a Link header')
  return [text.slice(0, at), id]
}

const readSortedAfter = (text: string, sort: ListQuery['sort']): After => {
  if (sort !== 'name') return readAfter(text)
  const at = text.lastIndexOf('_')
  const id = text.slice(at + 1)
  if (at < 0 || !s.isId(id)) throw new Invalid('after must be a cursor from a Link header')
  return [text.slice(0, at), id]
}

/** The page that the query parameters describe; a limit of 0 or above 1,000 means 1,000. `read` parses `after`. */
export const pageOf = (
  { limit, after }: { readonly limit: number; readonly after?: string | undefined },
  read: (text: string) => After = readAfter,
): { readonly limit: number; readonly after?: After } => ({
  limit: limit === 0 ? 1000 : Math.min(limit, 1000),
  ...(after === undefined ? {} : { after: read(after) }),
})

/** Without a requested order, newer items are read in ascending order and shown in descending order, as in v1. */
const isAscending = (query: ListQuery): boolean => {
  if (isSorted(query)) return (query.order ?? (query.sort === 'name' ? 'asc' : 'desc')) === 'asc'
  return isNewer(query) && !query.isWhole
}

/**
 * The query for a list of records with `name` and `created`, sorted by `created` or as requested; `where` adds conditions. The first index must end in
 * `created`. Show the page with `newestFirst`.
 */
export const listing = (query: ListQuery, using: Find['using'], ...where: readonly Where[]): Find => {
  const { date, title, after, sort = 'created' } = query
  if (date !== undefined && sort !== 'created') throw new Invalid('date is for lists that are sorted by created')
  const named = title ? [query.exact ? eq('name', title) : contains('name', title)] : []
  return {
    using: usingFor(query, using),
    where: and(...where, ...datesOf(query), ...named),
    sort: { by: sortFields[sort], order: isAscending(query) ? 'ascending' : 'descending' },
    ...(after === undefined ? {} : { after: typeof after === 'string' ? readSortedAfter(after, sort) : after }),
    ...(query.maxScanned === undefined ? {} : { maxScanned: query.maxScanned }),
    limit: query.limit === 0 ? 1000 : Math.min(query.limit, 1000),
    maxCharacters: query.isWhole ? maxCharacters.part : maxCharacters.page,
  }
}

/** The items of a page in the order of v1: newest first, even if the page was read in ascending order. */
export const newestFirst = <T>(page: Page<T>, query: ListQuery): readonly T[] =>
  isNewer(query) && !isSorted(query) ? page.items.toReversed() : page.items

/**
 * The headers of a list response: a `Link` to the next page, if any. `url` is the request's URL. The link contains the position to continue from, so that items
 * with the same time are not skipped, and with `dated` the date of the last item, for people, unless the request has one.
 */
export const linkToNext = (
  baseUrl: string,
  url: URL,
  page: { readonly next?: After | string | undefined },
  { dated = true } = {},
): { readonly headers?: Readonly<Record<string, string>> } => {
  if (page.next === undefined) return {}
  const next = new URLSearchParams(url.search)
  const sent = dateOf({ date: next.get('date') ?? undefined, after: next.get('after') ?? undefined })
  if (dated && sent === undefined) {
    next.set('date', String(page.next[0]))
    next.delete('when')
  }
  next.set('after', typeof page.next === 'string' ? page.next : page.next.join('_'))
  return { headers: { link: `<${baseUrl}${below(baseUrl, url.pathname)}?${next}>; rel="next"` } }
}

/** The request path as routes declare it, without the path of the base URL. */
const below = (baseUrl: string, path: string): string => {
  const base = trimEnd(URL.parse(baseUrl)?.pathname ?? '', '/')
  return base !== '' && path.startsWith(`${base}/`) ? path.slice(base.length) : path
}
