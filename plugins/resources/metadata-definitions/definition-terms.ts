import { Clock, Fetch, Forbidden, Installation, Invalid, StandardVocabularies, Unreachable, wire } from 'pounce/sdk'
import { defaultJsonLimits, parseJson } from 'pounce/sdk/kit'
import { Config, type Settings } from './config.ts'

const maxBytes = 1024 * 1024
const timeoutMs = 10_000
const freshMs = 600_000
const maxCached = 50
const maxCachedLength = 256 * 1024

const local = /^\/api\/standardvocab\/([0-9a-f]{24})\/terms$/

/** True for a URL of the same server whose path begins with that of the allowed one. */
const isBelow = (url: URL, allowed: string): boolean => {
  if (!URL.canParse(allowed)) return false
  const base = new URL(allowed)
  return url.origin === base.origin && url.pathname.startsWith(base.pathname)
}

/** Reads the terms that a definition of a list accepts, from this server or another one. */
export class DefinitionTerms {
  #fetchFrom: readonly string[]
  #baseUrl: string
  #vocabularies: StandardVocabularies
  #fetch: Fetch
  #clock: Clock
  #cache = new Map<string, { readonly json: string; readonly until: number }>()
  #coming = new Map<string, Promise<string>>()

  constructor({ fetchFrom }: Settings, { baseUrl }: Installation, vocabularies: StandardVocabularies, fetch: Fetch, clock: Clock) {
    this.#fetchFrom = fetchFrom
    this.#baseUrl = baseUrl
    this.#vocabularies = vocabularies
    this.#fetch = fetch
    this.#clock = clock
  }

  /** The id of the standard vocabulary of this server that a URL refers to. */
  vocabularyOf(address: string): string | undefined {
    return local.exec(address.startsWith(this.#baseUrl) ? address.slice(this.#baseUrl.length) : address)?.[1]
  }

  /**
   * The terms as JSON text. Throws `Invalid` without a URL or when a vocabulary of this server is deleted, `Forbidden` for a URL that the
   * configuration does not allow, `Unreachable` when the other server does not return JSON.
   */
  async of(address: string | null): Promise<string> {
    if (address === null) throw new Invalid('This definition has no definitions_url')
    const vocabulary = this.vocabularyOf(address)
    if (vocabulary !== undefined) {
      const terms = await this.#vocabularies.terms(vocabulary)
      if (!terms) throw new Invalid(`The vocabulary of this definition does not exist: ${address}`)
      return JSON.stringify(terms)
    }
    if (!URL.canParse(address)) throw new Invalid('The definitions_url of this definition is not a URL')
    const url = new URL(address)
    if (!this.#fetchFrom.some(allowed => isBelow(url, allowed))) {
      throw new Forbidden(`${url.origin} is not allowed by resources.metadata-definitions.fetchFrom`)
    }
    return this.#cached(url.href)
  }

  async #cached(url: string): Promise<string> {
    const known = this.#cache.get(url)
    if (known && known.until > this.#clock.now().getTime()) return known.json
    let coming = this.#coming.get(url)
    if (!coming) {
      coming = this.#ask(url).finally(() => this.#coming.delete(url))
      this.#coming.set(url, coming)
    }
    const json = await coming
    this.#cache.delete(url)
    if (json.length <= maxCachedLength) this.#cache.set(url, { json, until: this.#clock.now().getTime() + freshMs })
    const [oldest] = this.#cache.keys()
    if (this.#cache.size > maxCached && oldest !== undefined) this.#cache.delete(oldest)
    return json
  }

  async #ask(url: string): Promise<string> {
    const { status, body } = await this.#fetch.get(url, { maxBytes, timeoutMs, headers: { accept: 'application/json' } })
    const chunks: Buffer[] = []
    for await (const chunk of body) chunks.push(chunk as Buffer)
    if (status !== 200) throw new Unreachable(`The server of the definition's list answered ${status}`)
    return asJson(Buffer.concat(chunks))
  }
}
wire(DefinitionTerms, Config, Installation, StandardVocabularies, Fetch, Clock)

const asJson = (bytes: Buffer): string => {
  try {
    return JSON.stringify(parseJson(bytes, { ...defaultJsonLimits, maxBytes }, 'The answer'))
  } catch (error) {
    throw new Unreachable("The server of the definition's list did not send JSON", { cause: error })
  }
}
