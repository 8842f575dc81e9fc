import { Clock, DocumentStore, eq, Ids, range, wire } from 'pounce/sdk'
import { type AuditRecord, audit, ChainWriter, chains, headOf, headsOf, maxHeads, ownLine, printPoint } from './chain-writer.ts'

/** An idle chain receives no entries after half of this time. */
const settledAfterMs = 24 * 3_600_000
/** Tolerance for clock skew: kernels may still increment a count for this long. */
const graceMs = 5 * 60_000

/** Links the chains: an entry with all their heads reveals a truncated chain. Also fixes the counts of combined entries. */
export class AnchorChains {
  readonly #documents: DocumentStore
  readonly #chain: ChainWriter
  readonly #ids: Ids
  readonly #clock: Clock

  constructor(documents: DocumentStore, chain: ChainWriter, ids: Ids, clock: Clock) {
    this.#documents = documents
    this.#chain = chain
    this.#ids = ids
    this.#clock = clock
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#fixCounts(signal)
    if (!signal.aborted) await this.#anchor()
  }

  async #anchor(): Promise<void> {
    const nowMs = this.#clock.now().getTime()
    // An anchor at the end of a chain needs no anchor of its own: otherwise each would lead to the next.
    const grown = (await headsOf(this.#documents)).filter(({ record, head }) => head.seq > record.anchored && head.type !== 'audit.anchor')
    if (grown.length > 0) {
      await this.#chain.appendOwn('audit.anchor', { heads: grown.map(({ head }) => printPoint(head)) })
      for (const { record, head } of grown) await this.#documents.commit({ update: record.id, in: chains, set: { anchored: head.seq } })
    }
    const { items } = await this.#documents.find(chains, { using: 'bySettled', where: eq('isSettled', false), limit: maxHeads })
    for (const { id, opened } of items) {
      const head = await headOf(this.#documents, id)
      const lastMs = Date.parse(head?.last ?? opened)
      if (nowMs - lastMs > settledAfterMs) await this.#documents.commit({ update: id, in: chains, set: { isSettled: true } })
    }
  }

  async #fixCounts(signal: AbortSignal): Promise<void> {
    const where = range('openUntil', { lt: new Date(this.#clock.now().getTime() - graceMs).toISOString() })
    for (;;) {
      const { items } = await this.#documents.find(audit, { using: 'byOpenUntil', where, limit: 200 })
      if (items.length === 0 || signal.aborted) return
      const at = this.#clock.now().toISOString()
      const fixed = items.map(({ id, count, last }) => ownLine(this.#ids.next(), at, 'audit.counted', { line: id, count, last }))
      await this.#chain.append(fixed)
      const closed = items.map(({ id }) => ({ change: { update: id, in: audit, unset: ['openUntil'] } }))
      for (const each of await this.#documents.commitEach<AuditRecord>(closed)) if (!each.ok) throw each.error
    }
  }
}
wire(AnchorChains, DocumentStore, ChainWriter, Ids, Clock)
