import { randomBytes } from 'node:crypto'
import { indexFormat } from './index-format.ts'

/**
 * Names on the server. A dot, which the setting `index` cannot contain, separates installations; the format number separates concurrently
 * running programs of different versions.
 */
export class IndexNames {
  /** Alias of the index that is searched. */
  readonly live: string
  /** Alias of the index that a rebuild fills; it also receives changes. */
  readonly building: string
  /** The first index has a fixed name, so that only one kernel creates it. */
  readonly first: string
  /** All indexes of this installation, including those of other formats. */
  readonly all: string
  readonly #prefix: string

  constructor(prefix: string) {
    this.live = `${prefix}.${indexFormat}`
    this.building = `${this.live}.building`
    this.first = `${this.live}.first`
    this.all = `${prefix}.*`
    this.#prefix = `${prefix}.`
  }

  /** A name that was never used. */
  unused(): string {
    return `${this.live}.${Date.now().toString(36)}${randomBytes(6).toString('hex')}`
  }

  /** An alias of this index only: a write to it cannot reach another one, nor create an index. */
  fillOf(index: string): string {
    return `${index}.fill`
  }

  /** Format number of an index; undefined when it is not one of ours. */
  formatOf(index: string): number | undefined {
    const number = index.startsWith(this.#prefix) ? /^(\d+)\./.exec(index.slice(this.#prefix.length))?.[1] : undefined
    return number === undefined ? undefined : Number(number)
  }
}
