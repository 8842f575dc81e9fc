import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Command, Conflict, DocumentStore, eq, type Stored, wire } from 'pounce/sdk'
import { ChainCheck, type ChainClaims, type ChainFault, noClaims } from './chain-check.ts'
import { type AuditDetails, type AuditRecord, audit, type ChainPoint, isChained, parsePoint } from './chain-writer.ts'

const maxFaults = 100

const maxHeadsShown = 100

const batchSize = 200

/** The result of a verification. */
export interface Verification {
  readonly isIntact: boolean
  /** Entries in chains. */
  readonly lines: number
  readonly chains: number
  /** Entries of versions without chains, which are not protected; `until` is the time of the last of them. */
  readonly unchained: { readonly lines: number; readonly until: string | null }
  /** The first faults; `faultCount` counts all. */
  readonly faults: readonly ChainFault[]
  readonly faultCount: number
  /** The heads of the newest chains: copies kept elsewhere can later prove that nothing was truncated. */
  readonly heads: readonly ChainPoint[]
}

interface Gathered {
  readonly heads: Map<number, string>
  forgotten: ChainPoint | undefined
  abandoned: number
}

const pointsOf = (value: AuditDetails[string] | undefined): readonly ChainPoint[] =>
  Array.isArray(value) ? value.flatMap((text: string) => parsePoint(text) ?? []) : []

/** What entries claim about other entries, by chain. */
const claimsOf = async (documents: DocumentStore): Promise<ReadonlyMap<string, Gathered>> => {
  const found = new Map<string, Gathered>()
  const of = (chain: string): Gathered => {
    const known = found.get(chain) ?? { heads: new Map(), forgotten: undefined, abandoned: noClaims.abandoned }
    found.set(chain, known)
    return known
  }
  for (const type of ['audit.anchor', 'audit.chain-opened', 'audit.forgotten'])
    for await (const { about } of documents.scan(audit, { using: 'byType', where: eq('type', type) })) {
      const { heads, abandoned, chain, seq, hash } = about
      for (const point of pointsOf(heads)) of(point.chain).heads.set(point.seq, point.hash)
      for (const point of pointsOf(abandoned)) of(point.chain).abandoned = Math.min(point.seq, of(point.chain).abandoned)
      if (typeof chain !== 'string' || typeof seq !== 'number' || typeof hash !== 'string') continue
      if (seq > (of(chain).forgotten?.seq ?? 0)) of(chain).forgotten = { chain, seq, hash }
    }
  return found
}

/** Reads the whole log and detects entries that were changed, removed, inserted or reordered since they were written. */
export class AuditVerifier {
  readonly #documents: DocumentStore
  readonly #faults: ChainFault[] = []
  #faultCount = 0
  #lines = 0
  #unchained = 0
  #until: string | null = null
  readonly #heads: ChainPoint[] = []
  #counted: (AuditRecord & Stored)[] = []

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async verify({ signal, progress }: { readonly signal?: AbortSignal; progress?(lines: number): void } = {}): Promise<Verification> {
    const claims = await claimsOf(this.#documents)
    const seen = new Set<string>()
    let check: ChainCheck | undefined
    let chain: string | undefined
    for await (const line of this.#documents.scan(audit, { using: 'byChain' })) {
      if (!isChained(line)) {
        this.#passUnchained(line)
        continue
      }
      if (line.chain !== chain) {
        this.#end(check)
        chain = line.chain
        seen.add(chain)
        check = this.#checkOf(chain, claims.get(chain))
      }
      check?.next(line)
      this.#lines += 1
      if (line.type === 'audit.counted') await this.#passCounted(line)
      if (this.#lines % batchSize !== 0) continue
      signal?.throwIfAborted()
      progress?.(this.#lines)
      await nextTurn()
    }
    this.#end(check)
    await this.#checkCounts()
    for (const [gone, claimed] of claims) if (!seen.has(gone)) this.#checkOf(gone, claimed).end()
    return {
      ...{ isIntact: this.#faultCount === 0, lines: this.#lines, chains: seen.size },
      unchained: { lines: this.#unchained, until: this.#until },
      ...{ faults: this.#faults, faultCount: this.#faultCount, heads: this.#heads.slice(-maxHeadsShown) },
    }
  }

  #checkOf(chain: string, claims: ChainClaims = noClaims): ChainCheck {
    return new ChainCheck(chain, claims, fault => this.#report(fault))
  }

  #end(check: ChainCheck | undefined): void {
    check?.end()
    if (!check?.head) return
    const { chain, seq, hash } = check.head
    this.#heads.push({ chain, seq, hash })
  }

  #report(fault: ChainFault): void {
    this.#faultCount += 1
    if (this.#faults.length < maxFaults) this.#faults.push(fault)
  }

  #passUnchained({ at, chain, seq = 0, id }: AuditRecord & Stored): void {
    this.#unchained += 1
    if (this.#until === null || at > this.#until) this.#until = at
    if (chain !== undefined) this.#report({ fault: 'changed', chain, seq, id, detail: 'The line has lost its place in the chain' })
  }

  async #passCounted(line: AuditRecord & Stored): Promise<void> {
    this.#counted.push(line)
    if (this.#counted.length >= batchSize) await this.#checkCounts()
  }

  /** Counts are not part of an entry's hash while they grow; a later entry fixes them. */
  async #checkCounts(): Promise<void> {
    const lines = await this.#documents.getMany(
      audit,
      this.#counted.map(({ about }) => String(about['line'])),
    )
    for (const { about } of this.#counted) {
      const line = lines.get(String(about['line']))
      if (!line || (line.count === about['count'] && line.last === about['last'])) continue
      const { id, chain = '', seq = 0 } = line
      this.#report({ fault: 'changed', chain, seq, id, detail: 'The count of the line is not the one that was fixed' })
    }
    this.#counted = []
  }
}

const maxPrinted = 20

/** `pounce audit verify` */
export class VerifyCommand implements Command {
  readonly name = 'audit verify'
  readonly summary = 'Verify the hash chains of the audit log'
  readonly #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async run(_input: unknown, progress: (message: string) => void): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const found = await new AuditVerifier(this.#documents).verify({ progress: lines => progress(`${lines} lines verified`) })
    if (!found.isIntact) {
      const named = found.faults.slice(0, maxPrinted).map(({ fault, chain, seq, id, detail }) => {
        const line = id === null ? '' : ` (line ${id})`
        return `  ${fault}: chain ${chain}, place ${seq}${line}: ${detail}`
      })
      const more = found.faultCount > named.length ? [`  and ${found.faultCount - named.length} more`] : []
      throw new Conflict(['The audit log was tampered with:', ...named, ...more].join('\n'))
    }
    const { lines, chains, unchained, heads } = found
    const before =
      unchained.lines === 0
        ? []
        : [{ what: 'lines without a chain, from before the upgrade', value: `${unchained.lines}, until ${unchained.until}` }]
    return [
      { what: 'intact lines', value: lines },
      { what: 'chains', value: chains },
      ...before,
      ...heads.map(({ chain, seq, hash }) => ({ what: `head of chain ${chain}`, value: `${seq} ${hash}` })),
    ]
  }
}
wire(VerifyCommand, DocumentStore)
