import {
  type After,
  type Caller,
  type Collection,
  type DocumentStore,
  eq,
  type Find,
  isIn,
  type Page,
  type Policy,
  type Stored,
  s,
  type Where,
} from 'pounce/sdk'
import type { GeoListing, GeoListPage, SensorRecord, StreamRecord } from 'pounce/sdk/geo'
import { intersects } from 'pounce/sdk/geo'
import { afterParameter, conditionsOf, type ListQuery, readNamedAfter, type Visible } from 'pounce/sdk/kit'
import { cellsToSearch } from './cells.ts'

/** Maximum number of non-matching records per page of the store, and number of such pages per request. */
const maxScanned = 1000

const rounds = 8

/** With an area, some records do not match, so more are read than requested. */
const atLeast = 200

const pageSize = 500

/** Sensors themselves are never public: that alternative would only make the store scan all of them. */
const withoutPublic = (where: Where): Where | undefined => {
  if (where.op === 'eq') return where.field === 'isPublic' ? undefined : where
  if (where.op === 'or') {
    const any = where.any.flatMap(each => withoutPublic(each) ?? [])
    return any.length === 0 ? undefined : any.length === 1 ? any[0] : { op: 'or', any }
  }
  if (where.op !== 'and') return where
  const all = where.all.flatMap(each => withoutPublic(each) ?? [])
  return all.length === where.all.length ? { op: 'and', all } : undefined
}

/** The sensors, and streams of sensors, that the caller may view according to their records. */
export const seenBy = (policy: Policy, caller: Caller): Visible => {
  const visible = policy.visibleTo(caller, 'ViewGeoStream')
  return typeof visible === 'string' ? visible : (withoutPublic(visible) ?? 'nothing')
}

/** Indexes that end in the name, and indexes in order of age. */
const byName = ['byName', 'byAuthor', 'bySpace', 'byCell']

const byAge = ['byAge', 'byName', 'ageByAuthor', 'ageBySpace', 'ageByCell']

/** The source of a list. */
export interface GeoSource<T extends SensorRecord | StreamRecord> {
  readonly documents: DocumentStore
  readonly from: Collection<T>
  readonly visible: Visible
  /** Further conditions, and the indexes for them: ending in the name, and by age. */
  readonly more?: { readonly where: Where; readonly byName: string; readonly byAge: string }
}

const conditions = <T extends SensorRecord | StreamRecord>(
  { visible, more }: GeoSource<T>,
  { name, areas }: GeoListing,
): readonly Where[] => [
  eq('state', 'live'),
  ...(name === undefined ? [] : [eq('name', name)]),
  ...(areas === undefined ? [] : [isIn('cells', cellsToSearch(areas))]),
  ...(more ? [more.where] : []),
  ...(visible === 'nothing' ? [] : conditionsOf(visible)),
]

/** A page of the requested list; short, with `next`, when many records did not match. */
export const listGeo = async <T extends SensorRecord | StreamRecord>(
  source: GeoSource<T>,
  listing: GeoListing,
  { sort, after, limit }: GeoListPage,
): Promise<Page<T & Stored>> => {
  const { documents, from, visible, more } = source
  if (visible === 'nothing') return { items: [] }
  const isByAge = sort?.by === 'id'
  const using = isByAge ? [...byAge, ...(more ? [more.byAge] : [])] : [...byName, ...(more ? [more.byName] : [])]
  const where: Where = { op: 'and', all: conditions(source, listing) }
  const by = isByAge ? 'state' : 'name'
  const order: Find['sort'] = { by, order: sort?.order ?? 'ascending' }
  const isWanted = (one: T): boolean => listing.areas?.some(area => intersects(one.geometry, area)) ?? true
  const items: (T & Stored)[] = []
  let place = after
  for (let round = 0; round < rounds; round += 1) {
    const left = limit - items.length
    const wide = listing.areas ? Math.max(left, atLeast) : left
    const page = await documents.find(from, { using, where, sort: order, limit: wide, maxScanned, ...(place ? { after: place } : {}) })
    for (const [at, one] of page.items.entries()) {
      if (isWanted(one)) items.push(one)
      if (items.length < limit) continue
      const isEnd = at === page.items.length - 1 && page.next === undefined
      return isEnd ? { items } : { items, next: [one[by], one.id] }
    }
    place = page.next
    if (place === undefined) return { items }
  }
  return place === undefined ? { items } : { items, next: place }
}

/** The number of matches, counted up to `upTo`. */
export const countGeo = async <T extends SensorRecord | StreamRecord>(
  source: GeoSource<T>,
  listing: GeoListing,
  upTo: number,
): Promise<number> => {
  const { documents, from, visible, more } = source
  if (visible === 'nothing') return 0
  if (listing.areas === undefined) {
    const using = [...byAge, ...(more ? [more.byAge] : [])]
    return documents.count(from, { using, where: { op: 'and', all: conditions(source, listing) }, upTo })
  }
  let count = 0
  for await (const items of eachPage(page => listGeo(source, listing, page))) {
    count += items.length
    if (count >= upTo) return upTo
  }
  return count
}

/** All pages of a list, by name, read during iteration. */
export async function* eachPage<T>(
  list: (page: GeoListPage) => Promise<Page<T>>,
  limit = pageSize,
): AsyncGenerator<readonly T[], void, undefined> {
  let after: Page<T>['next']
  do {
    const page: Page<T> = await list({ limit, ...(after ? { after } : {}) })
    yield page.items
    after = page.next
  } while (after)
}

/** Query parameters of lists by name. Spread into a route's `query`. */
export const namedListParameters = {
  limit: s.Integer({
    default: 0,
    minimum: 0,
    description: 'Page size, with a link to the next page; values above 1,000 are reduced to 1,000; 0 or absent: all, as in Clowder 1.x',
  }),
  after: afterParameter(600),
}

/** The requested page of a list by name. */
export const namedPage = ({ limit, after }: ListQuery): GeoListPage => {
  const from: After | undefined = typeof after === 'string' ? readNamedAfter(after) : after
  return { limit: Math.min(Math.max(limit, 1), 1000), ...(from ? { after: from } : {}) }
}
