import type { After, Find, Page, Where } from './ports/document-store.ts'
import { and, contains, eq, isIn, or, range } from './ports/document-store.ts'
import { Invalid } from './problem.ts'
import * as s from './schema.ts'
import { readTime } from './times.ts'
import { trimEnd } from './trim-end.ts'

/** The query parameter that continues where a page ended. */
export const afterParameter = (maxLength = 200) =>
  s.Optional(s.String({ maxLength, description: 'From a `Link` header: where the page before this one ended' }))

/** Query parameters of the lists of spaces, collections and datasets (reference, api-platform §3). Spread into a route's `query`. */
export const listParameters = {
  when: s.Optional(
    s.String({ description: '`a`, or absent: created before `date`; anything else: created after it. Counts only with `date`' }),
  ),
  date: s.Optional(s.String({ description: 'Such as `2018-06-20T11:40:25.000Z` or `2018-06-20`; UTC without a zone' })),
  title: s.Optional(s.String({ maxLength: 500, description: 'Text anywhere in the name, whatever its case' })),
  exact: s.Boolean({ default: false, description: '`title` is the whole name' }),
  limit: s.Integer({
    default: 12,
    minimum: 0,
    description: 'At most so many; more than 1,000 give 1,000 and a link to the rest, 0 gives all',
  }),
  after: afterParameter(),
}

/** The values of `listParameters`, as far as a list takes them. */
export interface ListQuery {
  readonly when?: string | undefined
  readonly date?: string | undefined
  readonly title?: string | undefined
  readonly exact?: boolean | undefined
  readonly limit: number
  /** From a `Link` or from the page before. */
  readonly after?: string | After | undefined
  /** A stretch of the whole list, which is read from its newest item on, whatever `when` says. */
  readonly isWhole?: boolean
  /** See `Find.maxScanned`. */
  readonly maxScanned?: number
}

/** What `Policy.visibleTo` answers. */
export type Visible = Where | 'all' | 'nothing'

const alternativesOf = (where: Where): readonly Where[] => (where.op === 'or' ? where.any.flatMap(alternativesOf) : [where])

/** What is in one of two visible sets, said as shortly as it can be, so that a store can still read it from its indexes. */
export const eitherOf = (one: Visible, other: Visible): Visible => {
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

/** A visible set as a part of `and(…)`. Check for `'nothing'` before: it has no condition. */
export const conditionsOf = (visible: Exclude<Visible, 'nothing'>): readonly Where[] => (visible === 'all' ? [] : [visible])

const isNewer = ({ when, date }: ListQuery): boolean => date !== undefined && when !== undefined && when !== 'a'

/** Reads `after` of a `Link` of ours: a time and an id; else `Invalid`. */
export const readAfter = (text: string): After => {
  const [created, id, ...rest] = text.split('_')
  if (created === undefined || !s.isId(id) || rest.length > 0 || !/^[0-9TZ:.-]+$/.test(created)) {
    throw new Invalid('after must be a cursor from a Link header')
  }
  return [created, id]
}

/** The same for a list that is sorted by a name. */
export const readNamedAfter = (text: string): After => {
  const at = text.lastIndexOf('_')
  const id = text.slice(at + 1)
  if (at < 1 || !s.isId(id)) throw new Invalid('after must be a cursor from a Link header')
  return [text.slice(0, at), id]
}

/** The page of such parameters; a limit of 0, or above 1,000, is 1,000. `read`: how `after` is read. */
export const pageOf = (
  { limit, after }: { readonly limit: number; readonly after?: string | undefined },
  read: (text: string) => After = readAfter,
): { readonly limit: number; readonly after?: After } => ({
  limit: limit === 0 ? 1000 : Math.min(limit, 1000),
  ...(after === undefined ? {} : { after: read(after) }),
})

/**
 * The query behind a list that is sorted by `created`, for records with `name` and `created`; `where` is what must hold besides.
 * The first index named has to end in `created`. Show its page with `newestFirst`.
 */
export const listing = (query: ListQuery, using: Find['using'], ...where: readonly Where[]): Find => {
  const { date, title, after } = query
  const newer = isNewer(query)
  const bound = date === undefined ? undefined : new Date(readTime(date, 'date')).toISOString()
  const named = title ? [query.exact ? eq('name', title) : contains('name', title)] : []
  // The link to the next page carries the date of the last item besides its place.
  const isDated = bound !== undefined && (after === undefined || query.isWhole === true)
  const dated = isDated ? [range('created', newer ? { gt: bound } : { lt: bound })] : []
  return {
    using,
    where: and(...where, ...dated, ...named),
    sort: { by: 'created', order: newer && !query.isWhole ? 'ascending' : 'descending' },
    ...(after === undefined ? {} : { after: typeof after === 'string' ? readAfter(after) : after }),
    ...(query.maxScanned === undefined ? {} : { maxScanned: query.maxScanned }),
    limit: query.limit === 0 ? 1000 : Math.min(query.limit, 1000),
  }
}

/** The items of a page as v1 orders them, the newest first also where the page was read forwards in time. */
export const newestFirst = <T>(page: Page<T>, query: ListQuery): readonly T[] => (isNewer(query) ? page.items.toReversed() : page.items)

/**
 * The headers of a list: a `Link` to the next page when there is one. `url` is the request's. The link says where to continue from,
 * so that items of the same instant are not skipped, and with `dated` the date of the last item, for people.
 */
export const linkToNext = (
  baseUrl: string,
  url: URL,
  page: { readonly next?: After | string | undefined },
  { dated = true } = {},
): { readonly headers?: Readonly<Record<string, string>> } => {
  if (page.next === undefined) return {}
  const next = new URLSearchParams(url.search)
  if (dated) next.set('date', String(page.next[0]))
  next.set('after', typeof page.next === 'string' ? page.next : page.next.join('_'))
  return { headers: { link: `<${baseUrl}${below(baseUrl, url.pathname)}?${next}>; rel="next"` } }
}

/** The path of a request as routes have it: its address begins with the base URL, which may have a path. */
const below = (baseUrl: string, path: string): string => {
  const base = trimEnd(URL.parse(baseUrl)?.pathname ?? '', '/')
  return base !== '' && path.startsWith(`${base}/`) ? path.slice(base.length) : path
}
