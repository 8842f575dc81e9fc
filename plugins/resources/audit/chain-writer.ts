import { type AuditReceiver, AuditReceivers, Clock, CommitConflict, type Contributions, DocumentStore, Ids, Log, wire } from 'pounce/sdk'
import { type AuditContent, audit, chains } from './audit-record.ts'
import { type ChainPoint, genesis, hashOf, printPoint } from './chain-hash.ts'
import { headsOf, maxHeads } from './chain-heads.ts'

const maxBatch = 200
/** Shorter than the time after which an idle chain counts as settled. */
const maxIdleMs = 12 * 3_600_000

/** A line before it has a place in a chain. */
export interface NewLine extends AuditContent {
  readonly id: string
  readonly openUntil?: string
  /** The id was made for this line; otherwise a line that has it already is left as it is. */
  readonly hasFreshId: boolean
}

interface Pending {
  readonly lines: readonly NewLine[]
  resolve(added: readonly boolean[]): void
  reject(error: unknown): void
}

interface Outcome {
  readonly added: ReadonlySet<NewLine>
  readonly errors: ReadonlyMap<NewLine, Error>
}

/** Lines of the server itself about the log. */
export const ownLine = (id: string, at: string, type: string, about: AuditContent['about']): NewLine => ({
  ...{ id, at, type, actor: null, user: null, subject: null, about, address: null, count: 1, last: at },
  hasFreshId: true,
})

/**
 * Appends lines to this kernel's hash chain, several per commit. When a commit fails nobody knows what it wrote, so the chain is abandoned: the next one's
 * first line says where.
 */
export class ChainWriter {
  readonly #documents: DocumentStore
  readonly #ids: Ids
  readonly #clock: Clock
  readonly #receivers: Contributions<AuditReceiver>
  readonly #log: Log
  readonly #waiting: Pending[] = []
  #isWriting = false
  #head: ChainPoint | undefined
  #lastMs = 0
  #abandoned: ChainPoint[] = []

  constructor(documents: DocumentStore, ids: Ids, clock: Clock, receivers: Contributions<AuditReceiver>, log: Log) {
    this.#documents = documents
    this.#ids = ids
    this.#clock = clock
    this.#receivers = receivers
    this.#log = log
  }

  /** Resolves, when all of them are durable, to whether each was added; false: there was a line with its id. */
  append(lines: readonly NewLine[]): Promise<readonly boolean[]> {
    if (lines.length === 0) return Promise.resolve([])
    const { promise, resolve, reject } = Promise.withResolvers<readonly boolean[]>()
    this.#waiting.push({ lines, resolve, reject })
    if (!this.#isWriting) void this.#writeAll()
    return promise
  }

  /** Appends a line about the log itself. */
  async appendOwn(type: string, about: AuditContent['about']): Promise<void> {
    await this.append([ownLine(this.#ids.next(), this.#clock.now().toISOString(), type, about)])
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true
    while (this.#waiting.length > 0) {
      const batch = this.#nextBatch()
      try {
        const { added, errors } = await this.#write(batch.flatMap(({ lines }) => lines))
        for (const { lines, resolve, reject } of batch) {
          const failed = lines.find(line => errors.has(line))
          if (failed) reject(errors.get(failed))
          else resolve(lines.map(line => added.has(line)))
        }
      } catch (error) {
        this.#abandon(error)
        for (const { reject } of batch) reject(error)
      }
    }
    this.#isWriting = false
  }

  #nextBatch(): Pending[] {
    let size = 0
    const end = this.#waiting.findIndex(({ lines }) => {
      size += lines.length
      return size > maxBatch
    })
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : Math.max(end, 1))
  }

  async #write(lines: readonly NewLine[]): Promise<Outcome> {
    const fresh = await this.#withoutKnown(lines)
    const outcome = { added: new Set<NewLine>(), errors: new Map<NewLine, Error>() }
    for (let at = 0; at < fresh.length; at += maxBatch) await this.#commit(fresh.slice(at, at + maxBatch), outcome)
    return outcome
  }

  async #withoutKnown(lines: readonly NewLine[]): Promise<readonly NewLine[]> {
    const ids = lines.flatMap(({ id, hasFreshId }) => (hasFreshId ? [] : [id]))
    if (ids.length === 0) return lines
    const known = new Set<string>()
    for (let at = 0; at < ids.length; at += 1000)
      for (const id of (await this.#documents.getMany(audit, ids.slice(at, at + 1000))).keys()) known.add(id)
    return lines.filter(({ id }) => {
      const isKnown = known.has(id)
      known.add(id)
      return !isKnown
    })
  }

  async #commit(lines: readonly NewLine[], { added, errors }: { added: Set<NewLine>; errors: Map<NewLine, Error> }): Promise<void> {
    const nowMs = this.#clock.now().getTime()
    const isOpen = this.#head !== undefined && nowMs - this.#lastMs < maxIdleMs
    const opening = isOpen ? [] : [await this.#open()]
    const pendingFor = this.#receivers.all().map(({ name }) => name)
    let last = this.#head ?? { chain: '', seq: 0, hash: genesis }
    const items = [...opening, ...lines].map(({ hasFreshId: _, ...content }) => {
      const place = { chain: last.chain, seq: last.seq + 1, prev: last.hash }
      const hash = hashOf({ ...content, ...place })
      last = { chain: place.chain, seq: place.seq, hash }
      return { ...content, ...place, hash, ...(pendingFor.length > 0 && { pendingFor }) }
    })
    const done = await this.#documents.commitEach(items.map(insert => ({ change: { insert, into: audit } })))
    const firstFailed = done.findIndex(({ ok }) => !ok)
    const acknowledged = items[firstFailed === -1 ? items.length - 1 : firstFailed - 1]
    if (acknowledged) this.#head = { chain: acknowledged.chain, seq: acknowledged.seq, hash: acknowledged.hash }
    this.#lastMs = nowMs
    const failed = done[firstFailed]
    if (failed?.ok === false) this.#abandon(failed.error)
    else this.#abandoned = []
    lines.forEach((line, at) => {
      const each = done[at + opening.length]
      if (each?.ok) added.add(line)
      else if (each && !(each.error instanceof CommitConflict)) errors.set(line, each.error)
    })
  }

  /** The first line of a new chain: it holds the heads of those that others write, or wrote, to. */
  async #open(): Promise<NewLine> {
    const [chain, at] = [this.#ids.next(), this.#clock.now().toISOString()]
    const heads = (await headsOf(this.#documents)).map(({ head }) => printPoint(head))
    await this.#documents.commit({ insert: { id: chain, opened: at, isSettled: false, anchored: 0 }, into: chains })
    const abandoned = this.#abandoned.map(printPoint)
    this.#head = { chain, seq: 0, hash: genesis }
    return ownLine(this.#ids.next(), at, 'audit.chain-opened', { heads, ...(abandoned.length > 0 && { abandoned }) })
  }

  #abandon(error: unknown): void {
    this.#log.warn('Audit chain abandoned after a failed commit; the next entry starts a new one', { error })
    if (this.#head) this.#abandoned = [...this.#abandoned, this.#head].slice(-maxHeads)
    this.#head = undefined
  }
}
wire(ChainWriter, DocumentStore, Ids, Clock, AuditReceivers, Log)
