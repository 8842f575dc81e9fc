import { type ChainedLine, type ChainPoint, genesis, hashOf } from './chain-writer.ts'

/** A fault found in a chain. */
export interface ChainFault {
  readonly fault: 'changed' | 'removed' | 'inserted' | 'reordered'
  readonly chain: string
  /** Position in the chain. */
  readonly seq: number
  /** Id of the entry, if it exists. */
  readonly id: string | null
  readonly detail: string
}

/** What entries elsewhere claim about a chain. */
export interface ChainClaims {
  /** Hashes by `seq`. */
  readonly heads: ReadonlyMap<number, string>
  /** Entries up to here are deleted or being deleted. */
  readonly forgotten: ChainPoint | undefined
  /** After this point it is unknown which entries were written. */
  readonly abandoned: number
}
export const noClaims: ChainClaims = { heads: new Map(), forgotten: undefined, abandoned: Number.POSITIVE_INFINITY }

/** Number of hashes kept to recognize reordered entries. */
const window = 1000

/** Checks the entries of one chain one by one, in the order of `seq`. */
export class ChainCheck {
  readonly #chain: string
  readonly #claims: ChainClaims
  readonly #report: (fault: ChainFault) => void
  readonly #recent = new Map<string, number>()
  #last: ChainedLine | undefined
  #isLastFaulty = false
  readonly #unmet: Map<number, string>

  constructor(chain: string, claims: ChainClaims, report: (fault: ChainFault) => void) {
    this.#chain = chain
    this.#claims = claims
    this.#report = report
    const from = claims.forgotten?.seq ?? 0
    this.#unmet = new Map([...claims.heads].filter(([seq]) => seq > from))
  }

  get head(): ChainPoint | undefined {
    return this.#last
  }

  next(line: ChainedLine): void {
    const isOwn = hashOf(line) === line.hash
    const isInserted = line.seq === this.#last?.seq
    if (isInserted) this.#fault('inserted', line, 'The chain has more than one line at this place')
    const isReordered = !isInserted && this.#wasMoved(line, isOwn)
    if (isReordered) this.#fault('reordered', line, 'The line stood elsewhere in the chain')
    else if (!isOwn) this.#fault('changed', line, 'The content of the line does not match its hash')
    const claimed = this.#unmet.get(line.seq)
    if (claimed !== undefined && claimed !== line.hash && isOwn && !isReordered)
      this.#fault('changed', line, 'An anchor holds another hash for the line')
    this.#unmet.delete(line.seq)
    this.#recent.set(line.hash, line.seq)
    if (this.#recent.size > window) this.#recent.delete(this.#recent.keys().next().value ?? '')
    this.#isLastFaulty = isReordered || isInserted || !isOwn
    this.#last = line
  }

  /** Called at the end of the chain: entries named by anchors must exist. */
  end(): void {
    const [missing] = [...this.#unmet.keys()].filter(seq => seq > (this.#last?.seq ?? 0)).sort((a, b) => b - a)
    if (missing === undefined) return
    const seq = Math.max(this.#last?.seq ?? 0, this.#claims.forgotten?.seq ?? 0) + 1
    this.#fault('removed', { seq, id: null }, `Entries ${seq} to ${missing} at the end of the chain are missing`)
  }

  /** True when the entry was moved here. Reports missing entries before it, and a different entry directly before it. */
  #wasMoved(line: ChainedLine, isOwn: boolean): boolean {
    const { forgotten, abandoned } = this.#claims
    const last = this.#last ?? (forgotten && line.seq > forgotten.seq ? forgotten : { seq: 0, hash: genesis })
    // While retention is deleting old entries, any of them may be missing.
    const isFree = line.seq > abandoned || (forgotten !== undefined && line.seq <= forgotten.seq)
    if (line.seq > last.seq + 1) {
      if (!isFree) this.#fault('removed', { seq: last.seq + 1, id: null }, `Entries ${last.seq + 1} to ${line.seq - 1} are missing`)
      return false
    }
    if (line.prev === last.hash || (isFree && !this.#last)) return false
    const stood = this.#recent.get(line.prev)
    if (stood !== undefined && stood !== last.seq && !(isOwn && this.#isLastFaulty)) return true
    if (isOwn && !this.#isLastFaulty) {
      const { seq, id } = this.#last ?? line
      this.#fault('changed', { seq, id }, `Line ${line.seq} names another hash for the line before it`)
    }
    return false
  }

  #fault(fault: ChainFault['fault'], { seq, id }: { readonly seq: number; readonly id: string | null }, detail: string): void {
    this.#report({ fault, chain: this.#chain, seq, id, detail })
  }
}
