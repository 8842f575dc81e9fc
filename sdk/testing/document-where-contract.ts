import { and, contains, type DocumentStore, eq, exists, isIn, ne, not, or, range, startsWith, type Where } from '../ports/document-store.ts'
import type { ContractTest, TestContext } from './any-runner.ts'
import { type Note, notes } from './notes.ts'

type Open = (t: TestContext) => Promise<DocumentStore>

const documents: Readonly<Record<string, Note>> = {
  plain: { name: 'Plain', rank: 1, isPublic: true, spaces: ['a', 'b'] },
  percent: { name: '100%_done', rank: 2, isPublic: false, spaces: ['b'] },
  quote: { name: `it's "quoted" \\ back`, rank: 10, spaces: [] },
  glob: { name: '*.[a-z]?', rank: -5 },
  umlaut: { name: 'ÄRGER Straße', rank: null },
  greek: { name: 'ΣΊΣΥΦΟΣ', rank: 2.5 },
  astral: { name: '😀 smile', rank: 2 ** 53 },
  prefix: { name: 'Pla', content: 'true' },
  longer: { name: 'Plain and more', content: true },
  number: { name: '1', content: 1 },
  nested: {
    team: { name: 't', seat: 1 },
    places: [{ dataset: 'x', folder: 'f' }, { dataset: 'y' }],
    content: { deep: [{ n: 1 }, { n: 5 }] },
  },
  empty: { name: '', content: {} },
  nothing: {},
}

/** Conditions and the matching documents; each is queried through an index on the field and through an unrelated one. */
const cases: readonly (readonly [title: string, where: Where, ids: readonly string[]])[] = [
  ['eq text', eq('name', 'Plain'), ['plain']],
  ['eq distinguishes strings from numbers and booleans', eq('content', 1), ['number']],
  ['eq distinguishes true from a string', eq('content', true), ['longer']],
  ['eq false is not absent', eq('isPublic', false), ['percent']],
  ['eq null matches absent fields', and(eq('rank', null), ne('name', null)), ['umlaut', 'prefix', 'longer', 'number', 'empty']],
  ['eq matches if any element does', eq('spaces', 'b'), ['plain', 'percent']],
  ['eq matches a member of any element', eq('places.dataset', 'y'), ['nested']],
  ['eq null matches no object', eq('team', null), Object.keys(documents).filter(id => id !== 'nested')],
  ['eq matches no object', or(eq('content.deep', 1), eq('content', '[object Object]')), []],
  ['eq null matches an empty array', and(eq('spaces', null), eq('rank', 10)), ['quote']],
  ['eq null matches if an element lacks the field', eq('places.folder', null), Object.keys(documents)],
  ['ne is the negation of eq', and(ne('spaces', 'a'), exists('spaces')), ['percent']],
  ['in', isIn('name', ['Plain', '1', 'none', '']), ['plain', 'number', 'empty']],
  ['in with null', and(isIn('spaces', [null, 'a']), exists('rank')), ['plain', 'quote', 'glob', 'greek', 'astral']],
  ['in an empty list', isIn('name', []), []],
  ['range of numbers', range('rank', { gte: 2, lt: 10 }), ['percent', 'greek']],
  ['range without an upper bound matches numbers only', range('rank', { gt: 2 }), ['quote', 'greek', 'astral']],
  ['range without a lower bound excludes null', range('rank', { lte: 1 }), ['plain', 'glob']],
  ['range of text', range('name', { gt: 'Pla', lte: 'Plain' }), ['plain']],
  ['range of text matches strings only', range('content', { gte: '' }), ['prefix']],
  ['range of numbers within an array', range('content.deep.n', { gt: 1, lt: 6 }), ['nested']],
  ['range of one element, not of two', range('content.deep.n', { gt: 1, lt: 5 }), []],
  ['prefix', startsWith('name', 'Pla'), ['plain', 'prefix', 'longer']],
  ['prefix is case-sensitive', startsWith('name', 'pla'), []],
  ['empty prefix matches every string', and(startsWith('name', ''), range('rank', { gt: 9 })), ['quote', 'astral']],
  ['prefix matches LIKE wildcards literally', startsWith('name', '100%_'), ['percent']],
  ['prefix % matches nothing else', startsWith('name', '%'), []],
  ['prefix matches GLOB wildcards literally', startsWith('name', '*.[a-z]?'), ['glob']],
  ['prefix of an astral character', startsWith('name', '😀'), ['astral']],
  ['prefix of an array element', startsWith('places.dataset', 'x'), ['nested']],
  ['contains ignores case', contains('name', 'pLAIN'), ['plain', 'longer']],
  ['contains ignores case beyond ASCII', contains('name', 'ärger STR'), ['umlaut']],
  ['contains ignores case of Greek', contains('name', 'ίσυφ'), ['greek']],
  ['contains matches wildcards literally', contains('name', '%_'), ['percent']],
  ['contains matches quotes literally', contains('name', `'s "QUOTED" \\`), ['quote']],
  ['contains matches SQL literally', contains('name', `' OR 1=1 --`), []],
  ['contains matches regular expressions literally', contains('name', '.*'), []],
  ['contains an astral character', contains('name', '😀'), ['astral']],
  ['exists excludes null and empty arrays', and(exists('spaces'), exists('rank')), ['plain', 'percent']],
  ['exists matches objects and empty strings', or(and(exists('content'), eq('name', '')), exists('content.deep')), ['nested', 'empty']],
  ['not exists', and(not(exists('name')), not(exists('places'))), ['nothing']],
  ['empty and matches', and(and(), eq('rank', 1)), ['plain']],
  ['empty or does not match', or(), []],
  ['and, or, not combined', and(or(eq('spaces', 'a'), eq('rank', 2)), not(eq('isPublic', false))), ['plain']],
  ['inherited members do not exist', or(exists('constructor'), exists('__proto__'), exists('name.length')), []],
]

const usable: Readonly<Record<string, string>> = {
  name: 'byName',
  rank: 'byRank',
  team: 'byTeam',
  spaces: 'bySpace',
  'places.dataset': 'byPlace',
}

/** The semantics of all conditions. */
export function documentWhereContract(test: ContractTest, open: Open): void {
  test('every condition matches the right documents, whatever the index', async t => {
    const store = await open(t)
    await Promise.all(Object.entries(documents).map(([id, note]) => store.commit({ insert: { id, ...note }, into: notes })))
    for (const [title, where, ids] of cases) {
      const expected = [...ids].sort()
      const own = 'field' in where ? usable[where.field] : undefined
      for (const using of own ? [own, 'byEmail'] : ['byName', 'byPlace', 'byEmail']) {
        const { items } = await store.find(notes, { using, where, limit: 100 })
        t.deepEqual(
          items.map(({ id }) => id),
          expected,
          `${title}, using ${using}`,
        )
        t.is(await store.count(notes, { using, where, upTo: 100 }), expected.length, `count of ${title}, using ${using}`)
      }
    }
  })

  test('a guard matches the same documents as a query', async t => {
    const store = await open(t)
    await Promise.all(Object.entries(documents).map(([id, note]) => store.commit({ insert: { id, ...note }, into: notes })))
    for (const [title, where, ids] of cases) {
      const results = await store.commitEach<Note>(Object.keys(documents).map(id => ({ change: { update: id, in: notes, where } })))
      const passed = Object.keys(documents).filter((_, at) => results[at]?.ok)
      t.deepEqual(passed.sort(), [...ids].sort(), title)
    }
  })
}
