import type { ElasticsearchIndexes } from './elasticsearch-indexes.ts'
import type { OlderIndexes } from './index-format.ts'

/**
 * During a rolling update to a version with another index format, kernels of the older version write the changes that they handle to their
 * own index only.
 */
export class OlderWrites {
  readonly #indexes: ElasticsearchIndexes
  readonly #keepMs: number
  #seen: OlderIndexes = {}
  #since = performance.now()

  constructor(indexes: ElasticsearchIndexes, keepMs: number) {
    this.#indexes = indexes
    this.#keepMs = keepMs
  }

  /**
   * Whether the index in use lacks changes that are in older ones. False while they are being written: each call compares with the one
   * before. Drops older indexes without writes for a while. `known`: their state when the rebuild of the index in use began.
   */
  async areMissing(known: OlderIndexes = {}): Promise<boolean> {
    const older = await this.#indexes.older()
    const isQuiet = isSame(older, this.#seen)
    if (!isQuiet) this.#since = performance.now()
    this.#seen = older
    if (Object.keys(older).length === 0) return false
    if (Object.entries(older).some(([index, writes]) => writes > (known[index] ?? 0))) return isQuiet
    if (isQuiet && performance.now() > this.#since + this.#keepMs) await this.#indexes.dropOlderForms()
    return false
  }
}

function isSame(one: OlderIndexes, other: OlderIndexes): boolean {
  return Object.keys(one).length === Object.keys(other).length && Object.entries(one).every(([index, writes]) => other[index] === writes)
}
