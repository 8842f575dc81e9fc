import { createHash } from 'node:crypto'

/**
 * The visibility of a token. `restricted`, and `person` for user data: visible to members on a private server, to everyone on a public one.
 * `bytes`: requires the permission to download. `trashed`: visible to its author only. `pending`: temporarily hidden, because it is being imported,
 * or because its parent is deleted and the cascade has not reached it. `own`: visible to one account. `secret`: never visible.
 */
export type TokenClass = 'shown' | 'restricted' | 'person' | 'bytes' | 'trashed' | 'pending' | 'own' | 'secret'

/** The class of the tokens in each set. */
export const classes: Readonly<Record<string, TokenClass>> = {
  restricted: 'restricted',
  archived: 'restricted',
  people: 'person',
  trashed: 'trashed',
  gone: 'pending',
  importing: 'pending',
}

/** A word in one field of one resource. */
export interface Token {
  readonly word: string
  /** Such as `dataset.description`. */
  readonly field: string
  readonly of: TokenClass
}

const wordForm = /zq[0-9a-f]{6}x/gi
/** Ids, keys, hashes and names of blobs: compared as a whole. */
const runForm = /[A-Za-z0-9_-]{20,}/g
const base64Form = /[A-Za-z0-9+/]{12,}={0,2}/g

/** Generates words and finds them in responses. */
export class Tokens {
  readonly #byWord = new Map<string, Token>()
  readonly #byRun = new Map<string, Token>()
  #minted = 0

  /** A new word of lower-case letters and digits, valid in names, addresses, keys and queries. */
  mint(field: string, of: TokenClass): string {
    this.#minted += 1
    const word = `zq${createHash('sha256').update(`${of} ${field} ${this.#minted}`).digest('hex').slice(0, 6)}x`
    if (this.#byWord.has(word)) return this.mint(field, of)
    this.#byWord.set(word, { word, field, of })
    return word
  }

  /** Registers a string that the server generated, such as an id, a key or a hash. */
  watch(text: string, field: string, of: TokenClass): void {
    this.#byRun.set(text, { word: text, field, of })
  }

  /** All generated words. */
  get words(): readonly Token[] {
    return [...this.#byWord.values()]
  }

  /** All registered strings. */
  get runs(): readonly Token[] {
    return [...this.#byRun.values()]
  }

  /** The field of a word. */
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

  /** The same for text that may contain Base64, such as upload headers. */
  inHeaders(text: string): ReadonlySet<Token> {
    const decoded = [...text.matchAll(base64Form)].map(([each]) => Buffer.from(each, 'base64').toString('latin1'))
    return this.in([text, ...decoded].join('\n'))
  }
}

const add = (found: Set<Token>, token: Token | undefined): void => {
  if (token) found.add(token)
}
