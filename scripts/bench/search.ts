import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { SearchIndex } from 'pounce/sdk'
import type { SearchDocument, SearchQuery, SearchScope } from 'pounce/sdk/search'
import { bootForTest } from 'pounce/sdk/testing'
import { percentile } from './load.ts'
import { newKey, type Server, startPounce } from './servers.ts'
import { type Row, round } from './table.ts'

const hex = (n: number): string => n.toString(16).padStart(24, '0')
const vocabulary = 50_000
const spaces = 400

/** The n-th word of an artificial language; low numbers are common words. */
const wordOf = (n: number): string => `${'lmnrstvk'[n % 8]}${'aeiou'[(n >> 3) % 5]}${n.toString(36)}`

/** Deterministic random numbers below `vocabulary`, strongly skewed towards low ones. */
const draws = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor(vocabulary ** (state / 2 ** 32)) - 1
  }
}

/** Every second document contains `common`, one in a hundred thousand `rarest`. */
async function* documents(count: number): AsyncGenerator<SearchDocument> {
  const draw = draws(7)
  const some = (length: number): string => Array.from({ length }, () => wordOf(draw())).join(' ')
  for (let n = 1; n <= count; n += 1) {
    yield {
      id: hex(n),
      kind: n % 3 === 0 ? 'dataset' : 'file',
      revision: 1,
      name: `${some(3)}${n % 2 === 0 ? ' common' : ''}${n % 100_000 === 0 ? ' rarest' : ''}`,
      description: some(12),
      creator: hex(n % 500),
      creatorName: `Person ${n % 500}`,
      creatorEmail: `p${n % 500}@example.org`,
      created: new Date(1_600_000_000_000 + n * 1000),
      tags: [wordOf(draw())],
      comments: [],
      metadata: [
        { field: 'site.depth', value: n % 1000 },
        { field: 'site.label', value: wordOf(draw()) },
      ],
      childOf: [],
      spaces: [hex(0x500000 + (n % spaces))],
      isPublic: n % 10 === 0,
      isListed: true,
    }
  }
}

const word = (text: string): SearchQuery => ({ op: 'word', text })

/** Typical queries, including the most common words. */
const questions: readonly (readonly [name: string, make: (draw: () => number) => SearchQuery])[] = [
  ['a common word', () => word('common')],
  ['a rare word', () => word('rarest')],
  ['a word of the texts', draw => word(wordOf(draw()))],
  ['two words', draw => ({ op: 'and', all: [word(wordOf(draw() % 2000)), word(wordOf(draw()))] })],
  ['a common word and another', draw => ({ op: 'and', all: [word('common'), word(wordOf(draw()))] })],
  ['the first three letters of words', draw => word(wordOf(draw()).slice(0, 3))],
  ['a range of a number', draw => ({ op: 'field', field: 'site.depth', is: 'atLeast', values: [990 + (draw() % 10)] })],
  ['a tag', draw => ({ op: 'field', field: 'tag', is: 'contains', values: [wordOf(draw())] })],
]
const member: SearchScope = { all: false, spaces: Array.from({ length: 30 }, (_, n) => hex(0x500000 + n * 13)), includePublic: true }

/** Milliseconds of each query; the queries are repeated round-robin for a while. */
const ask = async (index: SearchIndex, seconds: number): Promise<ReadonlyMap<string, readonly number[]>> => {
  const draw = draws(11)
  const times = new Map(questions.map(([name]) => [name, [] as number[]]))
  const run = async (isCounted: boolean): Promise<void> => {
    for (const [name, make] of questions) {
      for (const scope of [{ all: true } as const, member]) {
        const query = make(draw)
        const at = performance.now()
        await index.search({ query, scope, from: 0, size: 20 })
        if (isCounted) times.get(name)?.push(performance.now() - at)
        await setImmediate()
      }
    }
  }
  for (let n = 0; n < 5; n += 1) await run(false)
  for (const end = performance.now() + seconds * 1000; performance.now() < end; ) await run(true)
  return times
}

const call = async (server: Server, key: string, method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  const answer = await fetch(server.url + path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`)
  const text = await answer.text()
  return text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {}
}

const warmUps = 20

/** Milliseconds from the response to a metadata write until a search finds it. */
const writeToFound = async (server: Server, writes: number): Promise<readonly number[]> => {
  const key = await newKey(server)
  const { id } = await call(server, key, 'POST', '/api/datasets/createempty', { name: 'found', description: 'soon' })
  const times: number[] = []
  for (let n = 0; n < warmUps + writes; n += 1) {
    const token = `needle${n}x`
    const document = { '@context': {}, agent: { '@type': 'cat:user', user_id: 'http://example.org/u' }, content: { token } }
    await call(server, key, 'POST', `/api/datasets/${id}/metadata.jsonld`, document)
    const at = performance.now()
    while ((await call(server, key, 'GET', `/api/search?query=${token}&size=1`))['count'] === 0) await setImmediate()
    if (n >= warmUps) times.push(performance.now() - at)
  }
  return times
}

const sorted = (times: readonly number[]): readonly number[] => [...times].sort((a, b) => a - b)
const at = (times: readonly number[], share: number): number => percentile(sorted(times), share)
const figure = (times: readonly number[]): string => `${round(at(times, 0.5))} ms, p99 ${round(at(times, 0.99))} ms`

/** Workloads 7 and 4: search in an index of `count` documents, and the time until a write is searchable. */
export const search = async (count: number, seconds: number, writes: number): Promise<readonly Row[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'pounce-bench-'))
  const size = `${count.toLocaleString('en')} documents`
  try {
    const kernel = await bootForTest({ folder, plugins: ['search.fts'] })
    const index = kernel.get(SearchIndex)
    const began = performance.now()
    await index.rebuild(documents(count))
    const rate = (count / (performance.now() - began)) * 1000
    const times = await ask(index, seconds)
    await kernel.stop()
    const server = await startPounce({ folder })
    const found = await writeToFound(server, writes)
    await server.stop()
    const all = [...times.values()].flat()
    const workload = '7 · search, common words among them'
    return [
      { workload: '7 · index built', subject: size, figure: `${round(rate)} documents/s` },
      ...[...times].map(([name, some]) => ({ workload: '7 · search', subject: name, figure: figure(some) })),
      { workload, subject: `${size}, p50`, figure: `${round(at(all, 0.5))} ms`, ratio: at(all, 0.5), goal: 5, isCeiling: true },
      { workload, subject: `${size}, p99`, figure: `${round(at(all, 0.99))} ms`, ratio: at(all, 0.99), goal: 30, isCeiling: true },
      {
        workload: '4 · answered metadata write until a search finds it',
        subject: `${size}, one client, p99`,
        figure: figure(found),
        ratio: at(found, 0.99),
        goal: 15,
        isCeiling: true,
      },
    ]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
