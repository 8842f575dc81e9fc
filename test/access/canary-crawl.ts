import { Agent, type IncomingMessage, request } from 'node:http'
import { unzip } from '../support/archives.ts'
import type { DeclaredRoute } from '../support/declared-routes.ts'
import type { CanaryRequest } from './canary-requests.ts'
import type { Token, Tokens } from './canary-tokens.ts'
import type { Observer } from './canary-world.ts'

/** The parts of a response that are compared and searched. */
export interface Seen {
  readonly status: number
  readonly headers: string
  /** The body as Latin-1; for an archive, names and contents of all its entries. */
  readonly text: string
}

/** The results of a crawl. */
export class Findings {
  requests = 0
  answers = 0
  readonly found = new Map<Token, string>()
  /** Tokens that the looker must not find, with the request that returned them. */
  readonly leaks: string[] = []
  /** Words whose search result revealed their existence, with the request. */
  readonly reported = new Set<string>()
  readonly tells: string[] = []
  /** Ids in responses. */
  readonly ids = new Set<string>()
}

const varying = new Set(['date', 'x-request-id', 'connection', 'keep-alive', 'retry-after'])

/** Removes script nonces, which differ in each response. */
const withoutNonces = (text: string): string => text.replace(/nonce(?:-|=")[A-Za-z0-9+/=]{24}/g, 'nonce')

const isArchive = (bytes: Buffer): boolean => bytes.subarray(0, 4).toString('latin1') === 'PK\u0003\u0004'

const textOf = async (bytes: Buffer): Promise<string> => {
  if (!isArchive(bytes)) return bytes.toString('latin1')
  return [...(await unzip(bytes))].map(([name, member]) => `${name}\n${member.toString('latin1')}`).join('\n')
}

/** node:http, because `fetch` takes longer than the server. */
const agent = new Agent({ keepAlive: true, maxSockets: 8 })

interface Sending {
  readonly method?: string
  readonly body?: unknown
}

/** An empty form, for routes with multipart bodies. */
export const emptyForm = Symbol('a form')

const bodyOf = (body: unknown): { readonly text: string; readonly headers: Readonly<Record<string, string>> } => {
  if (body === undefined) return { text: '', headers: {} }
  if (body === emptyForm) return { text: '--a--\r\n', headers: { 'content-type': 'multipart/form-data; boundary=a' } }
  return { text: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
}

/** Number of checks, and the interval between them in milliseconds. */
const [silentLooks, lookMs] = [6, 100]

/**
 * Reads an event stream until it is silent, because it never ends. Checks several times, because a late timer of a busy process runs before data
 * that has arrived meanwhile is read.
 */
const bytesOf = async (answer: IncomingMessage): Promise<Buffer> => {
  if (answer.headers['content-type'] !== 'text/event-stream') return Buffer.concat(await Array.fromAsync(answer as AsyncIterable<Buffer>))
  const pieces: Buffer[] = []
  let looks = 0
  let silence: NodeJS.Timeout | undefined
  await new Promise<void>(resolve => {
    silence = setInterval(() => {
      looks += 1
      if (looks === silentLooks) resolve()
    }, lookMs)
    answer.on('data', (piece: Buffer) => {
      pieces.push(piece)
      looks = 0
    })
    answer.on('end', resolve)
  })
  clearInterval(silence)
  answer.destroy()
  return Buffer.from(
    Buffer.concat(pieces)
      .toString('latin1')
      .replaceAll(/: heartbeat\nid: \d+\n\n/g, ''),
    'latin1',
  )
}

/** Makes an event stream start at the beginning of the log. */
const whole = (path: string): string =>
  path.startsWith('/api/live') && !path.includes('since=') ? `${path}${path.includes('?') ? '&' : '?'}since=2020-01-01` : path

/** Sends a request and reads the whole response. */
export const see = async ({ server, key }: Observer, path: string, { method = 'GET', body }: Sending = {}): Promise<Seen> => {
  const { text, headers } = bodyOf(body)
  const length = text === '' ? {} : { 'content-length': String(Buffer.byteLength(text)) }
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const sending = request(server.url + whole(path), {
      agent,
      method,
      headers: { ...headers, ...length, ...(key === undefined ? {} : { 'x-api-key': key }) },
    })
    sending.on('response', resolve).on('error', reject).end(text)
  })
  const shown = Object.entries(answer.headers).filter(([name]) => !varying.has(name))
  return {
    status: answer.statusCode ?? 0,
    headers: withoutNonces(shown.map(each => each.join(': ')).join('\n')),
    text: withoutNonces(await textOf(await bytesOf(answer))),
  }
}

const sent = (path: string): ReadonlySet<string> => new Set(decodeURIComponent(path.replaceAll('+', ' ')).match(/[\w-]+/g))

/** Tokens of the response that are not in the request. */
const newTokens = (tokens: Tokens, path: string, { headers, text }: Seen): readonly Token[] => {
  const brought = sent(path)
  return [...tokens.in(text), ...tokens.inHeaders(headers)].filter(({ word }) => !brought.has(word))
}

/** Accounts receive the changes of their own memberships, also the removal, with the name of the space. */
const withoutOwnMembership = ({ formerMember }: Observer, path: string, seen: Seen): Seen => {
  if (formerMember === undefined || !path.startsWith('/api/live')) return seen
  const isOwn = (line: string): boolean => line.includes('"type":"space.member-changed"') && line.includes(`"user":"${formerMember}"`)
  return { ...seen, text: linesWithout(seen.text, isOwn) }
}

const linesWithout = (text: string, isLeftOut: (line: string) => boolean): string =>
  text
    .split('\n')
    .filter(line => !isLeftOut(line))
    .join('\n')

/** Processes items with limited concurrency. */
export const inTurns = async <T>(items: readonly T[], work: (item: T) => Promise<void>, atOnce = 8): Promise<void> => {
  const queue = [...items].values()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const item of queue) await work(item)
    }),
  )
}

/** Whether it is an admin's request of an admin-only route. */
const isTheirs = ({ isAdmin }: Observer, { permission }: DeclaredRoute): boolean => isAdmin === true && permission === 'serverAdmin'

/** A response without the parts that repeat the request. */
const plain = ({ status, headers, text }: Seen, path: string): string =>
  [...new Set(path.match(/[0-9a-f]{24}/g))]
    .reduce((all, id) => all.replaceAll(id, 'an id'), `${status}\n${headers}\n${text}`)
    .replaceAll(/"requestId":"[^"]*"/g, '')

/**
 * Suggestions and search facets come from the index alone, which is updated shortly after a deletion. And users see feed entries of their own
 * actions, with the name of the resource at that time, even after its deletion. Those who could view a dataset receive its id when it is moved to the trash.
 */
const isLate = ({ field }: Token, { path }: DeclaredRoute, requested: string): boolean =>
  (field === 'trashed id of dataset' && path === '/api/live') ||
  (field.startsWith('gone ') &&
    (/^\/api\/(?:tags|search\/fields|search\/values|metadata\/autocompletenames|events)$/.test(path) ||
      /^\/api\/search\?(?:.*&)?facets=/.test(requested)))

/** Sends a list of requests and records the findings. */
export class Crawl {
  readonly findings = new Findings()
  readonly #observer: Observer
  readonly #tokens: Tokens
  readonly #unknown = new Map<string, Promise<Seen>>()

  constructor(observer: Observer, tokens: Tokens) {
    this.#observer = observer
    this.#tokens = tokens
  }

  /** With `likeNothing`, responses must be the same as for resources that do not exist. */
  async run(requested: readonly CanaryRequest[], { likeNothing = false, method = '' } = {}): Promise<void> {
    await inTurns(requested, async ({ route, path, body, unknown }) => {
      const init = { method: method || route.method, body }
      const seen = await see(this.#observer, path, init)
      this.#note(route, path, seen)
      if (!likeNothing || unknown === undefined || isTheirs(this.#observer, route)) return
      const key = `${init.method} ${unknown.path} ${JSON.stringify(unknown.body ?? '')}`
      const nothing = await (this.#unknown.get(key) ??
        this.#remember(key, see(this.#observer, unknown.path, { ...init, body: unknown.body })))
      const [one, other] = [plain(seen, path), plain(nothing, unknown.path)]
      if (one !== other)
        this.findings.leaks.push(
          `${init.method} ${path} responds differently than for unknown ids: ${one.slice(0, 300)} /// ${other.slice(0, 300)}`,
        )
    })
  }

  #remember(key: string, seen: Promise<Seen>): Promise<Seen> {
    this.#unknown.set(key, seen)
    return seen
  }

  #note(route: DeclaredRoute, path: string, seen: Seen): void {
    const { findings } = this
    findings.requests += 1
    if (seen.status < 400) findings.answers += 1
    if (seen.status === 500) findings.leaks.push(`500 ${path} ${seen.text.slice(0, 200)}`)
    for (const id of seen.text.match(/\b[0-9a-f]{24}\b/g) ?? []) findings.ids.add(id)
    for (const token of newTokens(this.#tokens, path, withoutOwnMembership(this.#observer, path, seen))) {
      if (!findings.found.has(token)) findings.found.set(token, `${route.method} ${path}`)
      if (this.#observer.hidden.has(token.of) && !isTheirs(this.#observer, route) && !isLate(token, route, path))
        findings.leaks.push(`${token.of} ${token.field} by ${route.method} ${path}: ${seen.status}`)
    }
  }

  /** Responses to queries of a word must be the same as those for an unused word. */
  async ask(requested: (word: string) => readonly CanaryRequest[], words: readonly string[], control: string): Promise<void> {
    const expected = await Promise.all(requested(control).map(({ path }) => this.#plain(path, control)))
    await inTurns(words, async word => {
      for (const [at, { route, path }] of requested(word).entries()) {
        this.findings.requests += 1
        const answer = await this.#plain(path, word)
        if (answer === expected[at]) continue
        this.findings.reported.add(word)
        if (!isTheirs(this.#observer, route))
          this.findings.tells.push(`${path} reveals ${this.#tokens.fieldOf(word)}: ${answer.slice(0, 300)}`)
      }
    })
  }

  async #plain(path: string, word: string): Promise<string> {
    const { status, text } = await see(this.#observer, path)
    return `${status} ${text}`.replaceAll(word, 'a word').replaceAll(/"requestId":"[^"]*"/g, '')
  }
}
