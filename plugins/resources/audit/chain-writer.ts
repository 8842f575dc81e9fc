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

/** A few short facts of a line. */
export type Facts = Readonly<Record<string, string | number | boolean | readonly string[]>>

/** What a line says. */
export interface AuditContent {
  readonly at: Time
  readonly type: string
  /** Account of who did it; null for the server itself and for no one known. */
  readonly actor: string | null
  /** The account it concerns. */
  readonly user: string | null
  readonly subject: Ref | null
  readonly about: Facts
  /** As much of the client's address as the settings keep. */
  readonly address: string | null
  /** How often, where that is counted; the last time is in `last`. */
  readonly count: number
  readonly last: Time
  /** `count` and `last` continue changing until `openUntil`; a line `audit.counted` then fixes them. */
  readonly isCounted?: true
}

/** A line of the audit log. Its id is that of the event, for lines that follow from one. Lines of versions without hash chains have no `chain`. */
export interface AuditRecord extends AuditContent {
  readonly chain?: string
  /** From 1, without gaps. */
  readonly seq?: number
  /** Hash of the line before it in the chain. */
  readonly prev?: string
  readonly hash?: string
  readonly openUntil?: Time
  /** Receivers that do not have the line yet. */
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

/** A hash chain: each kernel begins its own, so that kernels which share a store need no common lock. */
interface ChainRecord {
  readonly opened: Time
  /** Nothing is appended to it any more, and an anchor holds its head. */
  readonly isSettled: boolean
  /** `seq` of the head that an anchor holds. */
  readonly anchored: number
}

export const chains = collection<ChainRecord>()('audit.chains', { bySettled: { on: ['isSettled'] } })

/** What the first line of a chain names as the hash before it. */
export const genesis = '0'.repeat(64)

/** A place in a chain and the hash of the line there. */
export interface ChainPoint {
  readonly chain: string
  readonly seq: number
  readonly hash: string
}

/** A line that is part of a chain. */
export type ChainedLine = AuditRecord & Stored & ChainPoint & { readonly prev: string }

export const isChained = (line: AuditRecord & Stored): line is ChainedLine =>
  typeof line.chain === 'string' && typeof line.seq === 'number' && typeof line.hash === 'string' && typeof line.prev === 'string'

/** Written as `<chain>:<seq>:<hash>` in lines that refer to it. */
export const printPoint = ({ chain, seq, hash }: ChainPoint): string => `${chain}:${seq}:${hash}`

export const parsePoint = (text: string): ChainPoint | undefined => {
  const [chain = '', seq = '', hash = ''] = text.split(':')
  return chain !== '' && Number.isSafeInteger(Number(seq)) && hash.length === 64 ? { chain, seq: Number(seq), hash } : undefined
}

type Hashed = AuditContent & { readonly id: string; readonly chain: string; readonly seq: number; readonly prev: string }

/** SHA-256 over the canonical form: a JSON array in fixed order, facts sorted by name, without what changes later (see `isCounted`). */
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
  const facts = Object.keys(about)
    .sort()
    .map(name => [name, about[name]])
  const counts = isCounted ? null : [count, last]
  const content = [1, chain, seq, prev, id, at, type, actor, user, subject && [subject.kind, subject.id], facts, address, counts]
  return createHash('sha256').update(JSON.stringify(content)).digest('hex')
}

/** Chains that one line refers to at most. */
export const maxHeads = 200

/** The last line of a chain. */
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
 * Appends lines to this kernel's hash chain, several per commit. When a commit fails it is unknown what it wrote, so the chain is abandoned: the next one's
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
