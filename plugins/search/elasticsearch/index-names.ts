import { randomBytes } from 'node:crypto'
import { indexFormat } from './index-format.ts'

/**
 * Names on the server. A dot, which `index` in the settings cannot have, keeps installations apart; the number of the form keeps programs of
 * different versions apart that run at the same time.
 */
export class IndexNames {
  /** Alias of the index that is searched. */
  readonly live: string
  /** Alias of the index that a rebuild fills; changes go there too. */
  readonly building: string
  /** The index that is made when there is none: a fixed name, so that only one kernel makes it. */
  readonly first: string
  /** All indexes of this installation, those of other forms as well. */
  readonly all: string
  readonly #prefix: string

  constructor(prefix: string) {
    this.live = `${prefix}.${indexFormat}`
    this.building = `${this.live}.building`
    this.first = `${this.live}.first`
    this.all = `${prefix}.*`
    this.#prefix = `${prefix}.`
  }

  /** A name that no index has had. */
  unused(): string {
    return `${this.live}.${Date.now().toString(36)}${randomBytes(6).toString('hex')}`
  }

  /** Alias that only this index ever has: a write to it cannot land elsewhere, nor make an index. */
  fillOf(index: string): string {
    return `${index}.fill`
  }

  /** Number of the form that the index is of; undefined when it is none of ours. */
  formatOf(index: string): number | undefined {
    const number = index.startsWith(this.#prefix) ? /^(\d+)\./.exec(index.slice(this.#prefix.length))?.[1] : undefined
    return number === undefined ? undefined : Number(number)
  }
}
