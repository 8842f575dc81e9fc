import { Invalid, type Kind, type Request, routesFor, type SearchQuery, s, Unavailable } from 'pounce/sdk'
import { compared, readQuery } from './query-text.ts'
import { Rebuild } from './rebuilding.ts'
import { Search } from './searching.ts'

const route = routesFor('search', { searching: Search, rebuilding: Rebuild })

const text = (maxLength: number) => s.Optional(s.String({ maxLength }))
const id = () => s.Optional(s.String({ maxLength: 24 }))
const query = s.Object({
  query: s.String({ default: '', maxLength: 10_000, description: 'Words, "phrases", and fields: `depth>=12 tag:leaf created:2021-04-19`' }),
  resource_type: s.Optional(s.Union([s.Literal('file'), s.Literal('dataset'), s.Literal('collection')])),
  datasetid: id(),
  collectionid: id(),
  spaceid: id(),
  folderid: id(),
  field: text(200),
  tag: text(200),
  created: text(30),
  from: s.Optional(s.Integer({ minimum: 0, maximum: 10_000 })),
  size: s.Integer({ default: 240, minimum: 0, maximum: 1000, description: 'Hits on a page' }),
  page: s.Optional(s.Integer({ minimum: 0, maximum: 10_000, description: 'Page by number, from 0; `from` goes first' })),
  sort: text(200),
  order: s.Optional(s.String({ pattern: '^([aA][sS][cC]|[dD][eE][sS][cC])$' })),
})
const result = s.Object({
  results: s.Array(s.Record(s.String(), s.Unknown())),
  count: s.Integer(),
  size: s.Integer({ description: 'How many came back' }),
  scanned_size: s.Integer(),
  from: s.Integer(),
  total_size: s.Integer({ description: 'Hits before the last check of rights; exact up to 10,000' }),
  newest_first: s.Optional(s.Boolean({ description: 'Set when there were too many hits to rank' })),
  first: s.Optional(s.String()),
  prev: s.Optional(s.String()),
  next: s.Optional(s.String()),
  last: s.Optional(s.String()),
})
type Asked = s.Static<typeof query>

const inside = (container: string | undefined): SearchQuery[] => (container === undefined ? [] : [compared('in', '==', container)])

const toQuery = (asked: Asked): SearchQuery => {
  const isOfField = asked.field !== undefined && asked.query !== ''
  const all: SearchQuery[] = [isOfField && asked.field ? compared(asked.field, ':', asked.query) : readQuery(asked.query)]
  if (asked.tag !== undefined) all.push({ op: 'field', field: 'tag', is: 'contains', values: [asked.tag] })
  if (asked.created !== undefined) all.push(readQuery(`created${/^[<>=!:]/.test(asked.created) ? '' : ':'}${asked.created}`))
  all.push(...inside(asked.datasetid), ...inside(asked.collectionid), ...inside(asked.spaceid), ...inside(asked.folderid))
  return { op: 'and', all: all.filter(part => part.op !== 'all').length > 0 ? all.filter(part => part.op !== 'all') : [{ op: 'all' }] }
}

const kindsOf = (asked: Asked): readonly Kind[] => {
  if (asked.resource_type) return [asked.resource_type]
  return asked.datasetid === undefined ? ['file', 'dataset', 'collection'] : ['file']
}

const sortOf = ({ sort, order }: Asked) => {
  if (sort === undefined && order === undefined) return {}
  const by = sort === undefined || sort === '' ? 'created' : sort.replace(/^metadata\./, '')
  return { sort: { by, order: order?.toLowerCase() === 'desc' ? ('descending' as const) : ('ascending' as const) } }
}

/** Addresses of the neighbouring pages: the same question with another window. */
const linksFor = (url: URL, from: number, size: number, scanned: number, total: number) => {
  const at = (start: number): string => {
    const asked = new URLSearchParams(url.searchParams)
    asked.delete('page')
    asked.set('from', String(start))
    asked.set('size', String(size))
    return `${url.pathname}?${asked}`
  }
  const hasMore = size > 0 && scanned > 0 && from + scanned < total
  return {
    ...(from > 0 ? { first: at(0), prev: at(Math.max(from - size, 0)) } : {}),
    ...(hasMore ? { next: at(from + scanned), last: at(Math.max(total - size, 0)) } : {}),
  }
}

export const search = route({
  method: 'GET',
  path: '/api/search',
  summary: 'Search names, descriptions, tags, comments, metadata and texts',
  description:
    'A word finds terms that equal it or begin with it; `*` and `?` stand for characters. Fields: name, description, creator, email, tag, created, created_as, resource_type, content_type, comment, in, contains; any other name is metadata. Sorting needs `created`, a number or a date.',
  permission: 'reader',
  query,
  responses: { 200: result },
  throws: [Invalid, Unavailable],
  async handle({ query: asked, caller, url }: Request<undefined, typeof query, undefined>, { searching }) {
    const from = asked.from ?? (asked.page ?? 0) * asked.size
    if (from > 10_000) throw new Invalid('Only the first 10,000 hits can be paged through: narrow the query')
    const found = await searching.find({ query: toQuery(asked), kinds: kindsOf(asked), from, size: asked.size, ...sortOf(asked) }, caller)
    const { results, scanned, total, isNewestFirst } = found
    return {
      status: 200,
      body: {
        results: [...results],
        count: results.length,
        size: results.length,
        scanned_size: scanned,
        from,
        total_size: total,
        ...(isNewestFirst ? { newest_first: true } : {}),
        ...linksFor(url, from, asked.size, scanned, total),
      },
    }
  },
})

export const reindex = route({
  method: 'POST',
  path: '/api/reindex',
  summary: 'Build the search index anew, in the background',
  description: 'The old index serves until the new one is complete.',
  permission: 'serverAdmin',
  responses: { 200: s.Object({ status: s.String() }) },
  async handle(_request, { rebuilding }) {
    rebuilding.begin('an admin asked for it')
    return { status: 200, body: { status: 'reindex successfully queued' } }
  },
})

export const deleteIndex = route({
  method: 'POST',
  path: '/api/deleteindex',
  summary: 'Empty the search index',
  permission: 'serverAdmin',
  responses: { 200: s.Object({ status: s.String() }) },
  async handle(_request, { rebuilding }) {
    await rebuilding.clear()
    return { status: 200, body: { status: 'deindex successfully queued' } }
  },
})
