import { and, Clock, configPort, DocumentStore, eq, range, removeFound, wire } from 'pounce/sdk'
import { audit, chains } from './audit-record.ts'
import { type ChainPoint, isChained } from './chain-hash.ts'
import { ChainWriter } from './chain-writer.ts'
import { config, type Settings } from './config.ts'

const dayMs = 86_400_000
const batch = 200

/** Removes lines that are too old, from the beginning of each chain; a line `audit.forgotten` keeps the last hash that goes. */
export class AuditRetention {
  readonly #settings: Settings
  readonly #documents: DocumentStore
  readonly #chain: ChainWriter
  readonly #clock: Clock

  constructor(settings: Settings, documents: DocumentStore, chain: ChainWriter, clock: Clock) {
    this.#settings = settings
    this.#documents = documents
    this.#chain = chain
    this.#clock = clock
  }

  async run(signal: AbortSignal): Promise<void> {
    const before = new Date(this.#clock.now().getTime() - this.#settings.keptDays * dayMs).toISOString()
    await removeFound(this.#documents, audit, { using: 'byAt', where: and(range('at', { lt: before }), eq('chain', null)), signal })
    for await (const { id, isSettled } of this.#documents.walk(chains)) {
      if (signal.aborted) return
      const { cut, isEmpty } = await this.#cutOf(id, before)
      if (cut) await this.#forget(cut, signal)
      else if (isEmpty && isSettled) await this.#documents.commit({ tombstone: id, in: chains })
    }
  }

  /** The last line before which, it included, all are too old. */
  async #cutOf(chain: string, before: string): Promise<{ readonly cut: ChainPoint | undefined; readonly isEmpty: boolean }> {
    let cut: ChainPoint | undefined
    for (;;) {
      const where = and(eq('chain', chain), range('seq', { gt: cut?.seq ?? 0 }))
      const page = await this.#documents.find(audit, { using: 'byChain', where, sort: { by: 'seq', order: 'ascending' }, limit: batch })
      for (const line of page.items) {
        if (line.at >= before || !isChained(line)) return { cut, isEmpty: false }
        cut = line
      }
      if (!page.next) return { cut, isEmpty: cut === undefined }
    }
  }

  async #forget({ chain, seq, hash }: ChainPoint, signal: AbortSignal): Promise<void> {
    await this.#chain.appendOwn('audit.forgotten', { chain, seq, hash })
    const where = and(eq('chain', chain), range('seq', { lte: seq }))
    await removeFound(this.#documents, audit, { using: 'byChain', where, sort: { by: 'seq', order: 'ascending' }, signal })
  }
}
wire(AuditRetention, configPort(config), DocumentStore, ChainWriter, Clock)
