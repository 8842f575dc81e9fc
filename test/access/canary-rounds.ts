import type { TestFn } from 'ava'
import { isFullRun } from 'pounce/sdk/testing'
import { type DeclaredRoute, declaredRoutes } from '../support/declared-routes.ts'
import { sampleOf, sampleSeed, seededRandom } from '../support/seeded-random.ts'
import { Crawl, type Findings, inTurns, see } from './canary-crawl.ts'
import { type CanaryRequest, changesOf, requestsNaming, requestsWide, requestsWith } from './canary-requests.ts'
import type { Ids } from './canary-things.ts'
import { classes, type Token } from './canary-tokens.ts'
import { type CanaryWorld, makeCanaryWorld, type Observer } from './canary-world.ts'

/** The usual run samples one in this many for callers who must find nothing; a full run executes all. */
const requestsLeftOut = 32
/** The same for lists, which show the most; each list is requested at least once. */
const listsLeftOut = 8
/** The same for routes, for a caller that is not thorough; each route is requested by at least one caller. */
const routesLeftOut = 6
/** The same for requests before and after resources are added, besides one request of each route. */
const looksLeftOut = 12
/** The same for searched words. */
const wordsLeftOut = 16

/** A word that does not occur anywhere. */
const control = 'zq000000x'

const routeOf = ({ route: { method, path } }: CanaryRequest): string => `${method} ${path}`

/** Crawls of a world with planted words, by each caller. */
class Rounds {
  readonly world: CanaryWorld
  readonly #random = seededRandom(sampleSeed)
  readonly #met = new WeakMap<Observer, Set<string>>()
  readonly #metByAny = new Set<string>()
  readonly #thorough: ReadonlySet<Observer>
  readonly #routes: readonly DeclaredRoute[]
  readonly #reading: readonly DeclaredRoute[]

  constructor(world: CanaryWorld, routes: readonly DeclaredRoute[], thorough: readonly string[]) {
    this.world = world
    const { outsiders, insiders } = world
    this.#thorough = new Set(thorough.flatMap(who => outsiders[who] ?? insiders[who] ?? []))
    // Routes with their own token are throttled after a few attempts.
    this.#routes = routes.filter(({ query }) => !query.some(({ name }) => name === 'token'))
    this.#reading = this.#routes.filter(({ method }) => method === 'GET')
  }

  /** All read requests, or a sample. Responses about a resource that the caller may not view must be the same as if it did not exist. */
  async read(crawl: Crawl, observer: Observer, isWhole = false): Promise<void> {
    const wide = this.#reading.flatMap(route => requestsWide(route, this.world.sets['restricted'] ?? {}))
    await crawl.run(isWhole ? wide : this.#some(observer, wide, one => `all of ${routeOf(one)}`, listsLeftOut))
    for (const [name, set] of Object.entries(this.world.sets))
      await crawl.run(isWhole ? this.#naming(set) : this.#some(observer, this.#naming(set), routeOf), {
        likeNothing: isHidden(observer, name),
      })
  }

  /** All requests that refer to a resource, and a sample of the others: sufficient to find everything that is visible. */
  async readMost(crawl: Crawl): Promise<void> {
    const wide = this.#reading.flatMap(route => requestsWide(route, this.world.sets['restricted'] ?? {}))
    await crawl.run(sampleOf(wide, one => [routeOf(one)], listsLeftOut))
    for (const set of Object.values(this.world.sets)) await crawl.run(this.#naming(set))
  }

  /** Only the requests of a whole round with the given names, which are those in `found` of its findings. */
  async readThose(crawl: Crawl, named: ReadonlySet<string>): Promise<void> {
    const wide = this.#reading.flatMap(route => requestsWide(route, this.world.sets['restricted'] ?? {}))
    const all = [...wide, ...Object.values(this.world.sets).flatMap(set => this.#naming(set))]
    await crawl.run(all.filter(({ route: { method }, path }) => named.has(`${method} ${path}`)))
  }

  get seed(): number {
    return this.#random.seed
  }

  /** A sample that covers each part (such as each route) for a thorough caller, and some of the parts for others. */
  #some<T>(observer: Observer, all: readonly T[], partOf: (one: T) => string, leftOut = requestsLeftOut): readonly T[] {
    if (isFullRun) return all
    const met = this.#met.get(observer) ?? new Set<string>()
    this.#met.set(observer, met)
    return all.filter(one => {
      const part = partOf(one)
      const isFirst = !met.has(part) && (this.#thorough.has(observer) || !this.#metByAny.has(part) || this.#random.oneIn(routesLeftOut))
      met.add(part)
      this.#metByAny.add(part)
      return isFirst || this.#random.oneIn(leftOut)
    })
  }

  /** HEAD requests of resources that the caller may not view. */
  async readHeads(crawl: Crawl, observer: Observer): Promise<void> {
    for (const [name, set] of Object.entries(this.world.sets))
      if (isHidden(observer, name)) await crawl.run(this.#some(observer, this.#naming(set), routeOf), { likeNothing: true, method: 'HEAD' })
  }

  /** All responses to a caller about public resources, and to requests without a resource. */
  async outlook(observer: Observer): Promise<ReadonlyMap<string, string>> {
    const shown = this.world.sets['shown'] ?? {}
    const all = this.#reading.flatMap(route => [...requestsWide(route, shown), ...requestsNaming(route, shown)])
    const requested = sampleOf(all, one => [routeOf(one)], looksLeftOut)
    const seen = new Map<string, string>()
    await inTurns(requested, async ({ path }) => {
      const { status, headers, text } = await see(observer, path)
      const reported = this.#comparable(path, text)
      const comparedHeaders = reported === text ? headers : headers.replace(/^etag: .*$/m, '')
      seen.set(path, `${status}\n${comparedHeaders}\n${reported}`)
    })
    return seen
  }

  /** A response without what changes by itself: ids of requests, the time, and that of last use of the caller's own key (once a minute). */
  #comparable(path: string, text: string): string {
    const steady = text.replaceAll(/"(?:requestId|lastUsed)":"[^"]*"/g, '')
    if (/^\/api\/session(?:\?|$)/.test(path)) return steady.replace(/"time":"[^"]*"/, '')
    // Those who could view a dataset receive the event of its move to the trash.
    if (path.startsWith('/api/live')) return steady.replaceAll(/id: [\d.]+\ndata: [^\n]*"type":"dataset\.trashed"[^\n]*\n\n/g, '')
    // The totals of a public server include the bytes of the trash until it is purged.
    if (isPublicTotals(path, this.world)) return steady.replace(/"files":\d+,"bytes":\d+/, '')
    return path.startsWith('/api/search') ? unordered(steady) : steady
  }

  #naming(set: Ids): readonly CanaryRequest[] {
    return this.#reading.flatMap(route => requestsNaming(route, set))
  }

  /** All changes of resources that the caller may not view. They must be refused as if the resource did not exist. */
  async change(crawl: Crawl, observer: Observer): Promise<void> {
    const writing = this.#routes.filter(({ method }) => method !== 'GET')
    for (const [name, set] of Object.entries(this.world.sets))
      if (isHidden(observer, name))
        await crawl.run(
          this.#some(
            observer,
            writing.flatMap(route => changesOf(route, set)),
            routeOf,
          ),
          { likeNothing: true },
        )
  }

  /** One word of each field that the caller must not find: in restricted resources or, for members, in the trash. */
  wordsFor(observer: Observer): readonly Token[] {
    const { hidden } = observer
    const kept = hidden.has('restricted') ? /^(?:private|own|person|photo|mixed|trashed dataset)/ : /^(?:own|trashed)/
    const words = this.world.tokens.words.filter(({ of, field }) => hidden.has(of) && kept.test(field))
    return this.#some(observer, words, ({ of }) => of, wordsLeftOut)
  }

  /** Queries with each word in every string parameter: all words in those of searches, names and mail addresses in the others. */
  async ask(crawl: Crawl, words: readonly Token[]): Promise<void> {
    const set = this.world.sets['restricted'] ?? {}
    const isSearch = ({ path }: DeclaredRoute): boolean => /search|tags|autocomplete/.test(path)
    const ask = (routes: readonly DeclaredRoute[], about: readonly string[]): Promise<void> =>
      crawl.ask(word => routes.flatMap(route => requestsWith(route, set, word)), about, control)
    const texts = words.map(({ word }) => word)
    const names = words.filter(({ field }) => /^(?:private|own|person|trashed dataset).*(?:name|person|extractor)/.test(field))
    await ask(this.#reading.filter(isSearch), texts)
    const addresses = names.some(({ of }) => of === 'person') ? this.world.addresses : []
    await ask(
      this.#reading.filter(route => !isSearch(route)),
      [...names.map(({ word }) => word), ...addresses],
    )
  }
}

/** Sorts hits: relevance depends on the frequency of words in the whole index, which can change the order of equal hits. */
const unordered = (text: string): string =>
  text
    .split('},{')
    .map(each => each.replaceAll(/^\{"results":\[\{|\}\].*$/g, ''))
    .sort()
    .join()

const isPublicTotals = (path: string, { outsiders }: CanaryWorld): boolean =>
  path === '/api/status' && outsiders['stranger']?.hidden.has('restricted') === false

const isHidden = ({ hidden }: Observer, set: string): boolean => {
  const of = classes[set]
  return of !== undefined && hidden.has(of)
}

/** Maximum number of findings in a failure message. */
const most = 40

/** The tests of one world. Callers in `thorough` also search each word, send HEAD requests, and try to change resources. */
export const canaryTests = (test: TestFn, isPrivate: boolean, thorough: readonly string[]): void => {
  const place = `a ${isPrivate ? 'private' : 'public'} server`
  let rounds: Rounds
  let stop: (() => Promise<void>) | undefined
  let total = { requests: 0, answers: 0 }
  let foundFirst: Findings['found'] = new Map()
  const done = ({ requests, answers }: Findings): void => {
    total = { requests: total.requests + requests, answers: total.answers + answers }
  }

  test.before(async () => {
    const world = await makeCanaryWorld(isPrivate, end => {
      stop = end
    })
    rounds = new Rounds(world, await declaredRoutes(world.server), thorough)
  })
  test.after.always(() => stop?.())

  test.serial(`the author finds every word on ${place} before resources are removed`, async t => {
    const { author, tokens } = rounds.world
    const crawl = new Crawl(author, tokens)
    const missing = () =>
      tokens.words.filter(token => !crawl.findings.found.has(token) && /^(?:own|restricted|person|bytes|trashed|pending)$/.test(token.of))
    const unfound = () => missing().filter(({ word, field }) => !crawl.findings.reported.has(word) && !field.startsWith('importing'))
    await rounds.readMost(crawl)
    await rounds.ask(crawl, missing())
    if (unfound().length > 0) await rounds.read(crawl, author, true)
    foundFirst = new Map(crawl.findings.found)
    t.deepEqual(unfound(), [])
    t.deepEqual(crawl.findings.leaks, [])
    done(crawl.findings)
    t.log(`${tokens.words.length} words, ${tokens.runs.length} ids, keys and hashes`)
  })

  test.serial(`no caller finds a word that it may not see on ${place}`, async t => {
    const { world } = rounds
    await world.darken()
    t.log(`seed ${rounds.seed}`)
    const bad: string[] = []
    for (const [who, observer] of Object.entries({ ...world.outsiders, ...world.insiders, author: world.author })) {
      const crawl = new Crawl(observer, world.tokens)
      await rounds.read(crawl, observer)
      if (thorough.includes(who)) {
        await rounds.readHeads(crawl, observer)
        await rounds.ask(crawl, rounds.wordsFor(observer))
        await rounds.change(crawl, observer)
      }
      const { leaks, tells } = crawl.findings
      bad.push(...[...leaks, ...tells].map(each => `${who}: ${each}`))
      done(crawl.findings)
      t.log(`${who}: ${crawl.findings.requests} requests, ${crawl.findings.answers} answered`)
    }
    t.deepEqual(bad.slice(0, most), [])
    t.is(bad.length, 0)
  })

  test.serial(`adding hidden resources changes no list, count or header that others see on ${place}`, async t => {
    const { world } = rounds
    const looked = async () =>
      Promise.all(
        [world.outsiders['anonymous'], world.outsiders['stranger']].map(observer =>
          observer ? rounds.outlook(observer) : new Map<string, string>(),
        ),
      )
    await looked()
    const before = await looked()
    await world.addMore()
    const after = await looked()
    const moved = before.flatMap((all, at) =>
      [...all]
        .filter(([path, seen]) => after[at]?.get(path) !== seen)
        .map(([path, seen]) => `${path}: ${seen} /// ${after[at]?.get(path)}`),
    )
    t.deepEqual(moved.slice(0, most), [])
    t.true((before[1]?.size ?? 0) > 200)
  })

  test.serial(`hidden resources still exist on ${place}`, async t => {
    const { world } = rounds
    await world.reveal()
    const crawl = new Crawl(world.author, world.tokens)
    const missing = () =>
      world.tokens.words.filter(
        token => !crawl.findings.found.has(token) && /^(?:restricted|pending|own)$/.test(token.of) && !/^(?:gone|added) /.test(token.field),
      )
    const unfound = () => missing().filter(({ word }) => !crawl.findings.reported.has(word))
    await rounds.readThose(crawl, new Set(foundFirst.values()))
    if (missing().some(token => foundFirst.has(token))) await rounds.readMost(crawl)
    await rounds.ask(crawl, missing())
    if (unfound().length > 0) await rounds.read(crawl, world.author, true)
    t.deepEqual(unfound(), [])
    done(crawl.findings)
    t.log(`all in all ${total.requests} requests, ${total.answers} answered`)
  })
}
