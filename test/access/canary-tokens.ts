import { createHash } from 'node:crypto'

/**
 * Who may not see a token. `restricted`, and `person` for what is of people: what a private server shows to members alone and a public one to all. `bytes`: what takes the right
 * to download. `trashed`: its author's alone. `pending`: hidden from all for now, for it is being imported, or its parent is deleted and the
 * cascade has not come there. `own`: one account's. `secret`: never shown, to no one.
 */
export type TokenClass = 'shown' | 'restricted' | 'person' | 'bytes' | 'trashed' | 'pending' | 'own' | 'secret'

/** The class of what stands in each set. */
export const classes: Readonly<Record<string, TokenClass>> = {
  restricted: 'restricted',
  archived: 'restricted',
  people: 'person',
  trashed: 'trashed',
  gone: 'pending',
  importing: 'pending',
}

/** A word that stands in one field of one resource. */
export interface Token {
  readonly word: string
  /** Such as `dataset.description`. */
  readonly field: string
  readonly of: TokenClass
}

const wordForm = /zq[0-9a-f]{6}x/gi
/** Ids, keys, hashes and names of blobs: runs that are compared as a whole. */
const runForm = /[A-Za-z0-9_-]{20,}/g
const base64Form = /[A-Za-z0-9+/]{12,}={0,2}/g

/** Mints words and finds them again. */
export class Tokens {
  readonly #byWord = new Map<string, Token>()
  readonly #byRun = new Map<string, Token>()
  #minted = 0

  /** A new word, of lower-case letters and digits: it can stand in names, addresses, keys and queries. */
  mint(field: string, of: TokenClass): string {
    this.#minted += 1
    const word = `zq${createHash('sha256').update(`${of} ${field} ${this.#minted}`).digest('hex').slice(0, 6)}x`
    if (this.#byWord.has(word)) return this.mint(field, of)
    this.#byWord.set(word, { word, field, of })
    return word
  }

  /** A text that someone else made, such as an id, a key or a hash. */
  watch(text: string, field: string, of: TokenClass): void {
    this.#byRun.set(text, { word: text, field, of })
  }

  /** All words that were minted. */
  get words(): readonly Token[] {
    return [...this.#byWord.values()]
  }

  /** All texts that are watched. */
  get runs(): readonly Token[] {
    return [...this.#byRun.values()]
  }

  /** What a word stands in. */
  fieldOf(word: string): string {
    const { of = '', field = word } = this.#byWord.get(word) ?? {}
    return `${of} ${field}`
  }

  /** The tokens in a text. */
  in(text: string): ReadonlySet<Token> {
    const found = new Set<Token>()
    for (const [word] of text.matchAll(wordForm)) add(found, this.#byWord.get(word.toLowerCase()))
    for (const [run] of text.matchAll(runForm)) add(found, this.#byRun.get(run))
    return found
  }

  /** The same in text that may hold Base64, such as headers of uploads. */
  inHeaders(text: string): ReadonlySet<Token> {
    const decoded = [...text.matchAll(base64Form)].map(([each]) => Buffer.from(each, 'base64').toString('latin1'))
    return this.in([text, ...decoded].join('\n'))
  }
}

const add = (found: Set<Token>, token: Token | undefined): void => {
  if (token) found.add(token)
}
