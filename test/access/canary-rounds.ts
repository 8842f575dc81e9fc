import type { ExecutionContext, TestFn } from 'ava'
import { type DeclaredRoute, declaredRoutes } from '../support/declared-routes.ts'
import { Crawl, type Findings } from './canary-crawl.ts'
import { changesOf, requestsNaming, requestsWide, requestsWith } from './canary-requests.ts'
import type { Token } from './canary-tokens.ts'
import { type CanaryWorld, classes, type Looker, makeCanaryWorld } from './canary-world.ts'

/** A word that stands nowhere. */
const control = 'zq000000x'

/** Rounds through a world full of words, by one caller after the other. */
class Rounds {
  readonly world: CanaryWorld
  readonly #routes: readonly DeclaredRoute[]
  readonly #reading: readonly DeclaredRoute[]

  constructor(world: CanaryWorld, routes: readonly DeclaredRoute[]) {
    this.world = world
    // Behind /setup stands a token of the first start, which is tried only a few times by whomever.
    this.#routes = routes.filter(({ path }) => path !== '/setup')
    this.#reading = this.#routes.filter(({ method }) => method === 'GET')
  }

  /** Everything that can be read, and whatever names something that the caller may not see must be answered as if it did not exist. */
  async read(crawl: Crawl, looker: Looker, method = ''): Promise<void> {
    const { sets } = this.world
    await crawl.run(this.#reading.flatMap(route => requestsWide(route, sets['restricted'] ?? {})))
    for (const [name, set] of Object.entries(sets))
      await crawl.run(
        this.#reading.flatMap(route => requestsNaming(route, set)),
        { likeNothing: isHidden(looker, name), method },
      )
  }

  /** Every change of what the caller may not see, which must be refused as if it did not exist. */
  async change(crawl: Crawl, looker: Looker): Promise<void> {
    const writing = this.#routes.filter(({ method }) => method !== 'GET')
    for (const [name, set] of Object.entries(this.world.sets))
      if (isHidden(looker, name))
        await crawl.run(
          writing.flatMap(route => changesOf(route, set)),
          { likeNothing: true },
        )
  }

  /** Questions with each word in every place where a text can stand; all in those of searches, names and the like in the others. */
  async ask(crawl: Crawl, words: readonly Token[]): Promise<void> {
    const set = this.world.sets['restricted'] ?? {}
    const isSearch = ({ path }: DeclaredRoute): boolean => /search|tags|autocomplete/.test(path)
    const ask = (routes: readonly DeclaredRoute[], about: readonly Token[]): Promise<void> =>
      crawl.ask(
        word => routes.flatMap(route => requestsWith(route, set, word)),
        about.map(({ word }) => word),
        control,
      )
    await ask(this.#reading.filter(isSearch), words)
    await ask(
      this.#reading.filter(route => !isSearch(route)),
      words.filter(({ field }) => /^(?:private|trashed|own|person).*(?:name|person|extractor)/.test(field)),
    )
  }
}

const isHidden = ({ hidden }: Looker, set: string): boolean => {
  const of = classes[set]
  return of !== undefined && hidden.has(of)
}

/** How much of a list is shown when a test fails. */
const most = 40
const clean = (t: ExecutionContext, who: string, { leaks, tells }: Findings): void => {
  t.deepEqual(
    { leaks: leaks.slice(0, most), tells: tells.slice(0, most), count: leaks.length + tells.length },
    { leaks: [], tells: [], count: 0 },
    who,
  )
}

/** The tests of one world. The callers named `thorough` also ask for each word, look at heads, and try to change things. */
export const canaryTests = (test: TestFn, isPrivate: boolean, thorough: readonly string[]): void => {
  const place = `a ${isPrivate ? 'private' : 'public'} server`
  let rounds: Rounds
  let total = { requests: 0, answers: 0 }
  const done = ({ requests, answers }: Findings): void => {
    total = { requests: total.requests + requests, answers: total.answers + answers }
  }

  test.before(async () => {
    const world = await makeCanaryWorld(isPrivate)
    rounds = new Rounds(world, await declaredRoutes(world.server))
  })
  test.after.always(() => rounds?.world.server.stop())

  test.serial(`the author finds every word on ${place} before anything is taken away`, async t => {
    const { author, tokens } = rounds.world
    const crawl = new Crawl(author, tokens)
    await rounds.read(crawl, author)
    const missed = tokens.words.filter(
      token => !crawl.findings.found.has(token) && /^(?:own|restricted|person|bytes|trashed|pending)$/.test(token.of),
    )
    await rounds.ask(crawl, missed)
    const unfound = missed.filter(({ word, field }) => !crawl.findings.told.has(word) && !field.startsWith('importing'))
    t.deepEqual(unfound, [])
    t.deepEqual(crawl.findings.leaks, [])
    done(crawl.findings)
    t.log(`${tokens.words.length} words, ${tokens.runs.length} ids, keys and hashes`)
  })

  test.serial(`nobody finds a word that is not for them on ${place}`, async t => {
    const { world } = rounds
    await world.darken()
    const bad: unknown[] = []
    for (const [who, looker] of Object.entries({ ...world.outsiders, ...world.insiders, author: world.author })) {
      const start = performance.now()
      const crawl = new Crawl(looker, world.tokens)
      await rounds.read(crawl, looker)
      if (thorough.includes(who)) {
        await rounds.read(crawl, looker, 'HEAD')
        // What is just being deleted is still in the index, which tells of no name but may count it for a moment.
        await rounds.ask(
          crawl,
          world.tokens.words.filter(({ of, field }) => looker.hidden.has(of) && !field.startsWith('gone ')),
        )
        await rounds.change(crawl, looker)
      }
      const all = crawl.findings
      if (all.leaks.length + all.tells.length)
        bad.push([who, all.leaks.length, all.leaks.slice(0, 50), all.tells.length, all.tells.slice(0, 30)])
      done(crawl.findings)
      t.log(`${who}: ${crawl.findings.requests} requests, ${crawl.findings.answers} answered ${Math.round(performance.now() - start)}`)
    }
    t.deepEqual(bad, [])
  })

  test.serial(`what nobody could see is still there on ${place}`, async t => {
    const { world } = rounds
    await world.reveal()
    const crawl = new Crawl(world.author, world.tokens)
    await rounds.read(crawl, world.author)
    const missed = world.tokens.words.filter(token => !crawl.findings.found.has(token) && /^(?:restricted|pending|own)$/.test(token.of))
    await rounds.ask(crawl, missed)
    t.deepEqual(
      missed.filter(({ word, field }) => !crawl.findings.told.has(word) && !field.startsWith('gone')),
      [],
    )
    done(crawl.findings)
    t.log(`all in all ${total.requests} requests, ${total.answers} answered`)
  })
}
