import type { MetadataValue, SearchIndex, SearchQuery } from '../ports/search-index.ts'
import { readRegex } from '../search/read-regex.ts'
import type { ContractTest, TestContext } from './any-runner.ts'
import { day, everything, field, found, put, request, searchId, start, word } from './search-documents.ts'

type MakeIndex = (t: TestContext) => Promise<SearchIndex>

/** Query semantics of SearchIndex. Part of `searchIndexContract`. */
export function searchQueryContract(test: ContractTest, makeIndex: MakeIndex): void {
  wording(test, makeIndex)
  hostileText(test, makeIndex)
  fields(test, makeIndex)
  comparing(test, makeIndex)
}

function wording(test: ContractTest, makeIndex: MakeIndex): void {
  const documents = [
    put(1, { name: 'Soil_moisture-2024.csv', description: 'Weekly readings' }),
    put(2, { tags: ['Prairie Grass', 'soil'] }),
    put(3, { comments: ['The moist samples are best'] }),
    put(4, { metadata: [{ field: 'site.label', value: 'North Prairie' }] }),
    put(5, { text: 'a long text about grass, and the prairie' }),
    put(6, { name: 'Übersicht – 観測データ.md' }),
  ]
  const cases: readonly (readonly [string, SearchQuery, readonly number[]])[] = [
    ['a word in a name, tag, comment, metadata or text', word('prairie'), [2, 4, 5]],
    ['the beginning of a word', word('mois'), [1, 3]],
    ['the beginning of a word, even a single letter', word('g'), [2, 5]],
    ['nothing by the name of the creator', word('ada'), []],
    ['not the middle of a word', word('oist'), []],
    ['words in any case', word('PRAIRIE'), [2, 4, 5]],
    ['the parts of a name', word('2024'), [1]],
    ['a name with its punctuation', word('soil_moisture-2024.csv'), [1]],
    ['words with or without accents', word('ubersicht'), [6]],
    ['words with decomposed accents', word('U\u0308bersicht'), [6]],
    ['words in scripts without spaces', word('データ'), [6]],
    ['a part of a word with *', word('*oist*'), [1, 3]],
    ['a word with * in the middle', word('m*t'), [3]],
    ['a word with ? for one character', word('gr?ss'), [2, 5]],
    ['nothing for a pattern without match', word('q*z'), []],
    ['a phrase', { op: 'phrase', text: 'prairie grass' }, [2]],
    ['no phrase in another word order', { op: 'phrase', text: 'grass prairie' }, []],
    ['no phrase across two values', { op: 'phrase', text: 'grass soil' }, []],
    ['all of several words', { op: 'and', all: [word('prairie'), word('grass')] }, [2, 5]],
    ['any of several words', { op: 'or', any: [word('moist'), word('grass')] }, [1, 2, 3, 5]],
    ['everything without a word', { op: 'not', not: word('prairie') }, [1, 3, 6]],
    [
      'nested conditions',
      {
        op: 'and',
        all: [
          { op: 'or', any: [word('soil'), word('grass')] },
          { op: 'not', not: word('long') },
        ],
      },
      [1, 2],
    ],
    ['everything', { op: 'all' }, [1, 2, 3, 4, 5, 6]],
    ['everything for an empty and', { op: 'and', all: [] }, [1, 2, 3, 4, 5, 6]],
    ['nothing for an empty or', { op: 'or', any: [] }, []],
  ]
  for (const [title, query, expected] of cases) {
    test(`a search finds ${title}`, async t => {
      const index = await makeIndex(t)
      await index.apply(documents)
      t.deepEqual(await found(index, query), expected)
    })
  }
}

function hostileText(test: ContractTest, makeIndex: MakeIndex): void {
  const texts = [
    '"',
    '""',
    '"a',
    'a"b',
    'NEAR(alpha beta)',
    'alpha AND beta',
    'alpha NOT beta',
    '^alpha',
    '-alpha',
    'name:alpha',
    '{name}:x',
    '(',
  ]
  const worse = [
    ')',
    '*',
    '?',
    '**?',
    '[a-z]',
    '%',
    '_',
    '\\',
    "'; DROP TABLE doc; --",
    '\u0000',
    '🙂',
    'a\u0000b',
    '$rid',
    '/.*/',
    '{"$ne":1}',
    '',
  ]
  test('text values are never interpreted', async t => {
    const index = await makeIndex(t)
    await index.apply([put(1, { name: 'alpha', tags: ['beta'], metadata: [{ field: 'colour', value: 'alpha' }] })])
    for (const text of [...texts, ...worse]) {
      const queries: readonly SearchQuery[] = [
        word(text),
        { op: 'phrase', text },
        { op: 'exists', field: text || 'x' },
        { op: 'ids', ids: [text] },
        ...(['name', 'colour', text || 'x'] as const).flatMap(name => [field(name, 'contains', text), field(name, 'equals', text)]),
      ]
      for (const query of queries) {
        if (query.op === 'exists' && query.field === 'in') continue
        await t.notThrowsAsync(index.search(request(query)), JSON.stringify(query))
      }
      await t.notThrowsAsync(index.tags(text, everything, 10))
      await t.notThrowsAsync(index.fields(text, everything, 10))
    }
    t.deepEqual(await found(index, word('^alpha')), [1])
    t.deepEqual(await found(index, word('"alpha"')), [1])
    t.deepEqual(await found(index, word('alpha NOT beta')), [])
  })

  test('a number or date is found by its own words and by those of the text that was written', async t => {
    const index = await makeIndex(t)
    const metadata = [
      { field: 'code', value: 42, written: '0042' },
      { field: 'day', value: new Date('2021-04-19T00:00:00Z'), written: '2021-04-19' },
    ]
    await index.apply([put(1, { metadata }), put(2, { metadata: [{ field: 'code', value: 42 }] })])
    t.deepEqual(await found(index, word('0042')), [1])
    t.deepEqual(await found(index, word('42')), [1, 2])
    t.deepEqual(await found(index, { op: 'phrase', text: '2021-04-19' }), [1])
    t.deepEqual(await found(index, field('code', 'contains', '0042')), [1, 2])
    t.deepEqual(await found(index, { op: 'phrase', text: '42 0042' }), [])
  })

  test('soft hyphens and joiners in words are ignored', async t => {
    const index = await makeIndex(t)
    await index.apply([put(1, { name: 'ground\u00adwater' }), put(2, { text: 'می\u200cخواهم' })])
    for (const text of ['groundwater', 'ground\u00adwater', 'ground\u2060water']) t.deepEqual(await found(index, word(text)), [1], text)
    t.deepEqual(await found(index, word('water')), [])
    t.deepEqual(await found(index, word('میخواهم')), [2])
  })

  test('ranges of a regular expression include characters of two UTF-16 units', async t => {
    const index = await makeIndex(t)
    await index.apply([put(1, { name: '🌱' }), put(2, { name: 'a-b' })])
    t.deepEqual(await found(index, { op: 'regex', regex: readRegex('^[🌀-🫿]$') }), [1])
    t.deepEqual(await found(index, { op: 'regex', regex: readRegex('^[a-c]$') }), [2])
  })

  test('very long words and values are found by their full text', async t => {
    const index = await makeIndex(t)
    const long = 'x'.repeat(10_000)
    await index.apply([
      put(1, { name: long, tags: [long], metadata: [{ field: 'note', value: long }] }),
      put(2, { name: `${long}y`, text: 'a '.repeat(50_000) }),
    ])
    t.deepEqual(await found(index, word(long)), [1, 2])
    t.deepEqual(await found(index, field('note', 'equals', long)), [1])
    t.deepEqual(await found(index, field('note', 'equals', `${long}y`)), [])
  })

  test('fields named like keywords of the language are ordinary fields', async t => {
    const index = await makeIndex(t)
    const names = ['__proto__', 'constructor', 'toString', 'a b', 'a"b', "a'b", 'ö.ü', 'rowid', 'fts', '$rid']
    await index.apply([put(1, { metadata: names.map(name => ({ field: name, value: 'v' })) })])
    for (const name of names) t.deepEqual(await found(index, field(name, 'equals', 'v')), [1], name)
    t.is((await index.fields('', everything, 100)).length, names.length)
  })
}

function fields(test: ContractTest, makeIndex: MakeIndex): void {
  const other = searchId(901)
  const documents = [
    put(1, { name: 'Rain gauge', contentType: 'text/csv', createdAs: 'gauge_raw.csv', childOf: [searchId(50), searchId(51)] }),
    put(2, {
      kind: 'dataset',
      description: 'All rain of the year',
      creator: other,
      creatorName: 'Charles Babbage',
    }),
    put(3, { kind: 'collection', tags: ['Rain', 'Snow storm'], comments: ['Rain?'], creatorEmail: 'cb@example.com' }),
  ]
  const cases: readonly (readonly [SearchQuery, readonly number[]])[] = [
    [field('name', 'contains', 'rain'), [1]],
    [field('name', 'contains', 'gau*'), [1]],
    [field('name', 'equals', 'rain GAUGE'), [1]],
    [field('name', 'equals', 'rain'), []],
    [field('description', 'contains', 'rain'), [2]],
    [field('tag', 'contains', 'storm'), [3]],
    [field('tag', 'equals', 'snow storm'), [3]],
    [field('tag', 'equals', 'storm'), []],
    [field('tag', 'contains', 's*rm'), [3]],
    [field('comment', 'contains', 'rain'), [3]],
    [field('creator', 'contains', 'babbage'), [2]],
    [field('email', 'equals', 'CB@example.com'), [3]],
    [field('created_as', 'contains', 'raw'), [1]],
    [field('content_type', 'equals', 'text/csv'), [1]],
    [field('content_type', 'contains', 'text/*'), [1]],
    [field('resource_type', 'equals', 'dataset'), [2]],
    [field('resource_type', 'equals', 'dataset', 'collection'), [2, 3]],
    [field('resource_type', 'differs', 'file'), [2, 3]],
    [field('in', 'equals', searchId(51)), [1]],
    [field('in', 'contains', searchId(51)), [1]],
    [field('in', 'equals', searchId(1)), []],
    [field('contains', 'equals', searchId(1)), []],
    [{ op: 'ids', ids: [searchId(3), searchId(1), searchId(77)] }, [1, 3]],
    [{ op: 'ids', ids: [] }, []],
    [{ op: 'not', not: { op: 'ids', ids: [searchId(2)] } }, [1, 3]],
    [{ op: 'and', all: [{ op: 'ids', ids: [searchId(1), searchId(3)] }, field('resource_type', 'equals', 'file')] }, [1]],
    [{ op: 'or', any: [{ op: 'ids', ids: [searchId(1)] }, field('tag', 'contains', 'storm')] }, [1, 3]],
    [field('name', 'differs', 'rain gauge'), []],
    [{ op: 'exists', field: 'tag' }, [3]],
    [{ op: 'missing', field: 'tag' }, [1, 2]],
    [field('created', 'equals', new Date(start + 2 * day)), [2]],
    [field('created', 'less', new Date(start + 2 * day)), [1]],
    [field('created', 'atMost', new Date(start + 2 * day)), [1, 2]],
    [field('created', 'more', new Date(start + 2 * day)), [3]],
    [field('created', 'atLeast', new Date(start + 2 * day)), [2, 3]],
    [{ op: 'and', all: [field('resource_type', 'equals', 'file', 'dataset'), field('created', 'more', new Date(start + day))] }, [2]],
  ]
  test('each field is searched by its words and by its whole value', async t => {
    const index = await makeIndex(t)
    await index.apply(documents)
    for (const [query, expected] of cases) t.deepEqual(await found(index, query), expected, JSON.stringify(query))
  })

  test('only the requested kinds are found', async t => {
    const index = await makeIndex(t)
    await index.apply(documents)
    t.deepEqual(await found(index, word('rain'), { kinds: ['dataset', 'collection'] }), [2, 3])
    t.deepEqual(await found(index, word('rain'), { kinds: [] }), [])
    for (const sort of [
      { by: 'created', order: 'descending' },
      { by: 'score', order: 'descending' },
    ] as const)
      t.deepEqual(await found(index, word('rain'), { kinds: ['dataset', 'collection'], sort }), [2, 3], `sorted by ${sort.by}`)
    t.is((await index.search(request(word('rain'), { kinds: ['dataset'], size: 0 }))).total, 1)
  })
}

function comparing(test: ContractTest, makeIndex: MakeIndex): void {
  const of = (...metadata: readonly (readonly [string, MetadataValue['value']])[]) => ({
    metadata: metadata.map(([name, value]) => ({ field: name, value })),
  })
  const june = new Date('2025-06-15T12:00:00.000Z')
  const documents = [
    put(1, of(['image.width', 640], ['Label', 'Corn field'])),
    put(2, of(['image.width', 6400], ['Label', 'corn'])),
    put(3, of(['width', 9], ['taken', june], ['blurred', true])),
    put(4, of(['thewidth', 640], ['Label', 'Wheat'])),
    put(5, of(['width', 'wide'], ['levels', 1], ['levels', 10], ['Label', 'Corn'], ['Label', 'Rye'])),
    put(6),
  ]
  const cases: readonly (readonly [SearchQuery, readonly number[]])[] = [
    [field('width', 'equals', 640), [1]],
    [field('image.width', 'equals', 640), [1]],
    [field('metadata.image.width', 'equals', 640), [1]],
    [field('width', 'contains', 640), [1]],
    [field('width', 'equals', 'wide'), [5]],
    [field('width', 'more', 9), [1, 2]],
    [field('width', 'atLeast', 9), [1, 2, 3]],
    [field('width', 'less', 640), [3]],
    [field('width', 'atMost', 640), [1, 3]],
    [field('width', 'equals', 9, 6400), [2, 3]],
    [field('levels', 'equals', 10), [5]],
    [field('levels', 'more', 5), [5]],
    [field('levels', 'more', 10), []],
    [field('taken', 'equals', june), [3]],
    [field('taken', 'more', new Date('2025-01-01T00:00:00.000Z')), [3]],
    [field('taken', 'less', new Date('2025-01-01T00:00:00.000Z')), []],
    [field('blurred', 'equals', 'true'), [3]],
    [field('Label', 'equals', 'CORN'), [2, 5]],
    [field('Label', 'contains', 'corn'), [1, 2, 5]],
    [field('Label', 'contains', 'field corn'), [1]],
    [field('Label', 'contains', 'c*n'), [1, 2, 5]],
    [field('Label', 'contains', '?ye'), [5]],
    [field('Label', 'differs', 'corn'), [1, 4]],
    [field('Nowhere', 'differs', 'corn'), []],
    [{ op: 'exists', field: 'Label' }, [1, 2, 4, 5]],
    [{ op: 'exists', field: 'width' }, [1, 2, 3, 5]],
    [{ op: 'missing', field: 'Label' }, [3, 6]],
    [{ op: 'missing', field: 'Nowhere' }, [1, 2, 3, 4, 5, 6]],
    [{ op: 'not', not: field('width', 'more', 9) }, [3, 4, 5, 6]],
    [{ op: 'or', any: [field('width', 'less', 10), field('Label', 'equals', 'wheat')] }, [3, 4]],
    [{ op: 'and', all: [field('width', 'more', 9), field('Label', 'equals', 'corn')] }, [2]],
    [{ op: 'and', all: [field('levels', 'more', 5), field('levels', 'less', 5)] }, [5]],
    [{ op: 'and', all: [field('taken', 'atLeast', june), field('taken', 'atMost', june)] }, [3]],
    [{ op: 'and', all: [field('taken', 'more', june), field('taken', 'atMost', june)] }, []],
    [{ op: 'and', all: [field('width', 'more', 9), { op: 'not', not: field('width', 'more', 640) }] }, [1]],
  ]
  test('metadata is compared by type, on the whole path or its end', async t => {
    const index = await makeIndex(t)
    await index.apply(documents)
    for (const [query, expected] of cases) t.deepEqual(await found(index, query), expected, JSON.stringify(query))
  })

  test('replaced metadata is no longer found', async t => {
    const index = await makeIndex(t)
    await index.apply(documents)
    await index.apply([put(1, { ...of(['image.width', 1]), revision: 2 })])
    t.deepEqual(await found(index, field('width', 'equals', 640)), [])
    t.deepEqual(await found(index, field('width', 'less', 2)), [1])
    t.deepEqual(await found(index, { op: 'exists', field: 'Label' }), [2, 4, 5])
  })
}
