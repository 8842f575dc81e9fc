import test from 'ava'
import { matcher } from './documents/matcher.ts'
import { conditionsOf, linkToNext, listing, newestFirst, unionOf } from './listing.ts'
import { contains, eq, isIn, or, range } from './ports/document-store.ts'
import { Invalid } from './problem.ts'

const id = 'a'.repeat(24)

test('a list reads older items in descending and newer ones in ascending order, and shows the newest first', t => {
  const date = '2018-06-20T11:40:25.000Z'
  const older = listing({ date, limit: 5 }, 'byCreated', eq('state', 'live'))
  t.deepEqual(older.sort, { by: 'created', order: 'descending' })
  t.deepEqual(older.where, { op: 'and', all: [eq('state', 'live'), range('created', { lt: date })] })
  const newer = listing({ date, when: 'b', limit: 5 }, 'byCreated')
  t.deepEqual(newer.sort, { by: 'created', order: 'ascending' })
  t.deepEqual(newestFirst({ items: [1, 2, 3] }, { date, when: 'b', limit: 5 }), [3, 2, 1])
  t.deepEqual(newestFirst({ items: [3, 2, 1] }, { date, limit: 5 }), [3, 2, 1])
  t.deepEqual(newestFirst({ items: [3, 2, 1] }, { when: 'b', limit: 5 }), [3, 2, 1])
})

test('every list is bounded', t => {
  t.is(listing({ limit: 0 }, 'byCreated').limit, 1000)
  t.is(listing({ limit: 5000 }, 'byCreated').limit, 1000)
  t.is(listing({ limit: 7 }, 'byCreated').limit, 7)
})

test('a title matches a substring of the name, or the whole name', t => {
  const where = (exact: boolean) => listing({ title: 'a.*', exact, limit: 1 }, 'byCreated').where
  t.deepEqual(where(false), { op: 'and', all: [contains('name', 'a.*')] })
  t.deepEqual(where(true), { op: 'and', all: [eq('name', 'a.*')] })
})

test('a link continues where the page ended, under the configured base URL', t => {
  const next = ['2018-06-20T11:40:25.000Z', id] as const
  const url = new URL('http://inside:9000/api/datasets?limit=2&title=a%20b&after=old')
  const { headers } = linkToNext('https://data.example.org/dm', url, { next })
  const [, target] = /^<(.*)>; rel="next"$/.exec(headers?.['link'] ?? '') ?? []
  const link = new URL(target ?? '')
  t.is(link.origin + link.pathname, 'https://data.example.org/dm/api/datasets')
  t.deepEqual(Object.fromEntries(link.searchParams), {
    limit: '2',
    title: 'a b',
    date: '2018-06-20T11:40:25.000Z',
    after: `2018-06-20T11:40:25.000Z_${id}`,
  })
  const query = { limit: 2, date: link.searchParams.get('date') ?? '', after: link.searchParams.get('after') ?? '' }
  t.deepEqual(listing(query, 'byCreated').after, next)
  t.deepEqual(listing(query, 'byCreated').where, { op: 'and', all: [] })
  const own = new URL('https://data.example.org/dm/api/datasets?limit=2')
  t.regex(
    linkToNext('https://data.example.org/dm', own, { next }).headers?.['link'] ?? '',
    /^<https:\/\/data\.example\.org\/dm\/api\/datasets\?/,
  )
  t.deepEqual(linkToNext('', url, {}), {})
})

test('an after that does not come from a link is refused', t => {
  for (const after of ['', 'x', `_${id}`, `2018_${id}_`, `2018_${id.toUpperCase()}`, `{"$gt":1}_${id}`, `2018-01-01_${id}x`]) {
    t.throws(() => listing({ limit: 1, after }, 'byCreated'), { instanceOf: Invalid }, after)
  }
})

test('the union of two visible sets has no redundant condition', t => {
  const author = eq('author', 'me')
  t.is(unionOf('all', 'nothing'), 'all')
  t.is(unionOf('nothing', 'nothing'), 'nothing')
  t.deepEqual(unionOf(author, 'nothing'), author)
  const joined = unionOf(or(author, isIn('spaces', ['a', 'b'])), or(author, isIn('spaces', ['b', 'c'])))
  t.deepEqual(joined, or(author, isIn('spaces', ['a', 'b', 'c'])))
  const test = matcher(joined as Parameters<typeof matcher>[0])
  t.deepEqual([{ author: 'me' }, { spaces: ['c'] }, { spaces: ['d'], author: 'you' }].map(test), [true, true, false])
  t.deepEqual(conditionsOf('all'), [])
  t.deepEqual(conditionsOf(author), [author])
})
