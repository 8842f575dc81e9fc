import { createHash } from 'node:crypto'
import {
  type AuditReceiver,
  AuditReceivers,
  Clock,
  CommitConflict,
  type Contributions,
  collection,
  DocumentStore,
  eq,
  Ids,
  Log,
  type Ref,
  type Stored,
  type Time,
  wire,
} from 'pounce/sdk'

/** A few short values of an entry. */
export type AuditDetails = Readonly<Record<string, string | number | boolean | readonly string[]>>

/** The content of an entry. */
export interface AuditContent {
  readonly at: Time
  readonly type: string
  /** Account of the actor; null for the server itself and for anonymous callers. */
  readonly actor: string | null
  /** The account affected. */
  readonly user: string | null
  readonly subject: Ref | null
  readonly about: AuditDetails
  /** The part of the client's address that the settings allow to be stored. */
  readonly address: string | null
  /** Number of combined events, for types that are combined; `last` is the time of the last one. */
  readonly count: number
  readonly last: Time
  /** `count` and `last` keep changing until `openUntil`; an entry `audit.counted` then fixes them. */
  readonly isCounted?: true
}

/** An entry of the audit log. Entries that result from an event have its id. Entries of versions without hash chains have no `chain`. */
export interface AuditRecord extends AuditContent {
  readonly chain?: string
  /** From 1, without gaps. */
  readonly seq?: number
  /** Hash of the previous entry in the chain. */
  readonly prev?: string
  readonly hash?: string
  readonly openUntil?: Time
  /** Receivers to which the entry has not been delivered yet. */
  readonly pendingFor?: readonly string[]
}

/** The audit log. */
export const audit = collection<AuditRecord>()('audit', {
  byAt: { on: ['at'] },
  byActor: { on: ['actor', 'at'] },
  byUser: { on: ['user', 'at'] },
  byType: { on: ['type', 'at'] },
  byChain: { on: ['chain', 'seq'] },
  byOpenUntil: { on: ['openUntil'] },
  byPending: { on: ['pendingFor', 'chain', 'seq'], array: 'pendingFor' },
})

/** A hash chain. Each kernel starts its own, so that kernels that share a store need no common lock. */
interface ChainRecord {
  readonly opened: Time
  /** Nothing more is appended, and an anchor holds its head. */
  readonly isSettled: boolean
  /** `seq` of the head recorded in an anchor. */
  readonly anchored: number
}

export const chains = collection<ChainRecord>()('audit.chains', { bySettled: { on: ['isSettled'] } })

/** The previous hash of the first entry of a chain. */
export const genesis = '0'.repeat(64)

/** A position in a chain and the hash of the entry there. */
export interface ChainPoint {
  readonly chain: string
  readonly seq: number
  readonly hash: string
}

/** An entry that is part of a chain. */
export type ChainedLine = AuditRecord & Stored & ChainPoint & { readonly prev: string }

export const isChained = (line: AuditRecord & Stored): line is ChainedLine =>
  typeof line.chain === 'string' && typeof line.seq === 'number' && typeof line.hash === 'string' && typeof line.prev === 'string'

/** Written as `<chain>:<seq>:<hash>` in entries that refer to it. */
export const printPoint = ({ chain, seq, hash }: ChainPoint): string => `${chain}:${seq}:${hash}`

export const parsePoint = (text: string): ChainPoint | undefined => {
  const [chain = '', seq = '', hash = ''] = text.split(':')
  return chain !== '' && Number.isSafeInteger(Number(seq)) && hash.length === 64 ? { chain, seq: Number(seq), hash } : undefined
}

type Hashed = AuditContent & { readonly id: string; readonly chain: string; readonly seq: number; readonly prev: string }

/**
 * SHA-256 of the canonical form: a JSON array in fixed order, details sorted by name, without the fields that change later (see `isCounted`).
 */
export const hashOf = ({
  chain,
  seq,
  prev,
  id,
  at,
  type,
  actor,
  user,
  subject,
  about,
  address,
  isCounted,
  count,
  last,
}: Hashed): string => {
  const details = Object.keys(about)
    .sort()
    .map(name => [name, about[name]])
  const counts = isCounted ? null : [count, last]
  const content = [1, chain, seq, prev, id, at, type, actor, user, subject && [subject.kind, subject.id], details, address, counts]
  return createHash('sha256').update(JSON.stringify(content)).digest('hex')
}

/** Maximum number of chains that one entry refers to. */
export const maxHeads = 200

/** The last entry of a chain. */
export const headOf = async (documents: DocumentStore, chain: string): Promise<ChainedLine | undefined> => {
  const where = eq('chain', chain)
  const { items } = await documents.find(audit, { using: 'byChain', where, sort: { by: 'seq', order: 'descending' }, limit: 1 })
  return items.find(isChained)
}

/** Chains that may still grow, with their heads. */
export const headsOf = async (
  documents: DocumentStore,
): Promise<readonly { readonly record: ChainRecord & Stored; readonly head: ChainedLine }[]> => {
  const { items } = await documents.find(chains, { using: 'bySettled', where: eq('isSettled', false), limit: maxHeads })
  const found = await Promise.all(items.map(async record => ({ record, head: await headOf(documents, record.id) })))
  return found.flatMap(({ record, head }) => (head ? [{ record, head }] : []))
}

const maxBatch = 200

/** Shorter than the time after which an idle chain counts as settled. */
const maxIdleMs = 12 * 3_600_000

/** An entry that has no position in a chain yet. */
export interface NewLine extends AuditContent {
  readonly id: string
  readonly openUntil?: string
  /** The id was generated for this entry; otherwise an existing entry with the id is left unchanged. */
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

/** Entries that the server writes about the log itself. */
export const ownLine = (id: string, at: string, type: string, about: AuditContent['about']): NewLine => ({
  ...{ id, at, type, actor: null, user: null, subject: null, about, address: null, count: 1, last: at },
  hasFreshId: true,
})

/**
 * Appends entries to this kernel's hash chain, several per commit. When a commit fails it is unknown what was written, so the chain is
 * abandoned; the first entry of the next chain records where.
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

  /** Resolves once all of them are durable. For each, true if it was added, false if an entry with its id existed. */
  append(lines: readonly NewLine[]): Promise<readonly boolean[]> {
    if (lines.length === 0) return Promise.resolve([])
    const { promise, resolve, reject } = Promise.withResolvers<readonly boolean[]>()
    this.#waiting.push({ lines, resolve, reject })
    if (!this.#isWriting) void this.#writeAll()
    return promise
  }

  /** Appends an entry about the log itself. */
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

  /** The first entry of a new chain: it holds the heads of the chains of other kernels, current and former. */
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
