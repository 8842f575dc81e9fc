import { type AuditForwarding, type AuditReceiver, Clock, DocumentStore, eq, Log, Unavailable, wire } from 'pounce/sdk'
import { type AuditEntry, requireDone } from 'pounce/sdk/kit'
import { type AuditRecord, audit, type ChainedLine, isChained } from './chain-writer.ts'

const batchSize = 100
const firstWaitMs = 2000
const maxWaitMs = 5 * 60_000
const lateMs = 5 * 60_000
const maxCounted = 10_000

interface Failure {
  readonly waitMs: number
  readonly untilMs: number
  readonly message: string
}

const entryOf = ({ id, at, type, actor, user, subject, about, address, count, last, chain, seq, prev, hash }: ChainedLine): AuditEntry => ({
  ...{ id, at, type, actor, user, subject, about, address, count, last },
  chain: { id: chain, seq, prev, hash },
})

/** Pending entries name their receivers, so that the log itself records what is left to deliver. */
export class AuditForwarder implements AuditForwarding {
  readonly #documents: DocumentStore
  readonly #clock: Clock
  readonly #log: Log
  readonly #failures = new Map<string, Failure>()
  readonly #rounds = new Map<string, Promise<void>>()

  constructor(documents: DocumentStore, clock: Clock, log: Log) {
    this.#documents = documents
    this.#clock = clock
    this.#log = log
  }

  /** One pass at a time for each receiver, so that entries stay in order. */
  forward(receiver: AuditReceiver, signal: AbortSignal): Promise<void> {
    const round = this.#rounds.get(receiver.name)
    if (round) return round
    const begun = this.#forward(receiver, signal).finally(() => this.#rounds.delete(receiver.name))
    this.#rounds.set(receiver.name, begun)
    return begun
  }

  async #forward(receiver: AuditReceiver, signal: AbortSignal): Promise<void> {
    const failure = this.#failures.get(receiver.name)
    if (failure && this.#clock.now().getTime() < failure.untilMs) return
    try {
      while (!signal.aborted && (await this.#pass(receiver, signal)) > 0);
    } catch (error) {
      if (signal.aborted) return
      const waitMs = Math.min((failure?.waitMs ?? firstWaitMs / 2) * 2, maxWaitMs)
      const message = error instanceof Error ? error.message : String(error)
      this.#failures.set(receiver.name, { waitMs, untilMs: this.#clock.now().getTime() + waitMs, message })
      this.#log.warn('Failed to deliver audit log entries; they will be retried', { receiver: receiver.name, retryInMs: waitMs, error })
    }
  }

  async check({ name }: AuditReceiver): Promise<void> {
    const where = eq('pendingFor', name)
    const oldest = await this.#oldest(name)
    if (oldest === undefined || this.#clock.now().getTime() - Date.parse(oldest) < lateMs) return
    const count = await this.#documents.count(audit, { using: 'byPending', where, upTo: maxCounted })
    const because = this.#failures.get(name)?.message
    const many = count === maxCounted ? `${count} or more` : String(count)
    throw new Unavailable(`${name}: ${many} audit log entries pending since ${oldest}${because === undefined ? '' : `: ${because}`}`)
  }

  /** One pass over the pending entries; returns the number of delivered entries. */
  async #pass(receiver: AuditReceiver, signal: AbortSignal): Promise<number> {
    let delivered = 0
    let some: ChainedLine[] = []
    for await (const line of this.#documents.scan(audit, { using: 'byPending', where: eq('pendingFor', receiver.name) })) {
      if (signal.aborted) return delivered
      if (isChained(line)) some.push(line)
      if (some.length < batchSize) continue
      delivered += await this.#deliver(receiver, some, signal)
      some = []
    }
    return delivered + (await this.#deliver(receiver, some, signal))
  }

  async #deliver(receiver: AuditReceiver, lines: readonly ChainedLine[], signal: AbortSignal): Promise<number> {
    if (lines.length === 0) return 0
    await receiver.deliver(lines.map(entryOf), signal)
    const { name } = receiver
    const done = lines.map(({ id }) => ({ change: { update: id, in: audit, pull: { pendingFor: [name] } } }))
    requireDone(await this.#documents.commitEach<AuditRecord>(done))
    this.#failures.delete(name)
    return lines.length
  }

  async #oldest(name: string): Promise<string | undefined> {
    for await (const { last } of this.#documents.scan(audit, { using: 'byPending', where: eq('pendingFor', name) })) return last
    return undefined
  }
}
wire(AuditForwarder, DocumentStore, Clock, Log)
