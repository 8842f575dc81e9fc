import { createHash } from 'node:crypto'
import { isIP, isIPv4, isIPv6 } from 'node:net'
import {
  type After,
  type AnyEvent,
  type AuditTrail,
  and,
  type BatchHandler,
  Clock,
  CommitConflict,
  configPort,
  DocumentStore,
  eq,
  exists,
  type Find,
  Ids,
  type Page,
  range,
  type Stored,
  type Where,
  wire,
} from 'pounce/sdk'
import { type AuditNote, removeFound } from 'pounce/sdk/kit'
import { auditLineOf } from './audit-lines.ts'
import { type AuditContent, type AuditRecord, audit, type ChainPoint, ChainWriter, chains, isChained } from './chain-writer.ts'
import { config, type Settings } from './config.ts'

/** The groups of an IPv6 address, starting with the first, without leading zeros. */
const groupsOf = (address: string): readonly string[] => {
  const [head = '', tail] = address.toLowerCase().split('::')
  const [first, last] = [head, tail ?? ''].map(part => (part === '' ? [] : part.split(':'))) as [string[], string[]]
  const gap = tail === undefined ? [] : Array<string>(Math.max(0, 8 - first.length - last.length)).fill('0')
  return [...first, ...gap, ...last].map(group => group.replace(/^0+(?=.)/, ''))
}

/** The network of an address: the first 24 bits of IPv4, the first 48 of IPv6; null for an invalid address. */
export const networkOf = (address: string): string | null => {
  const [unscoped = ''] = address.split('%', 1)
  const plain = unscoped.replace(/^::ffff:(?=\d+\.)/i, '')
  if (isIPv4(plain)) return `${plain.slice(0, plain.lastIndexOf('.'))}.0/24`
  return isIPv6(plain) ? `${groupsOf(plain).slice(0, 3).join(':')}::/48` : null
}

/** The part of an address that is stored; null for an invalid address. */
export const keptAddress = (address: string | undefined, how: Settings['addresses']): string | null => {
  if (address === undefined || how === 'none') return null
  if (how === 'network') return networkOf(address)
  return isIP(address) === 0 ? null : address
}

/** Maximum number of non-matching entries read for a page. */
const maxScanned = 2000

/** A filter for entries. */
export interface AuditQuery {
  readonly user?: string
  readonly actor?: string
  readonly type?: string
  /** ISO 8601; both bounds are inclusive. */
  readonly since?: string
  readonly until?: string
}

/** The audit log. Entries are only added, and deleted when their retention ends. */
export class StoredAudit implements AuditTrail, BatchHandler {
  #settings: Settings
  #documents: DocumentStore
  #ids: Ids
  #clock: Clock
  #chain: ChainWriter

  constructor(settings: Settings, documents: DocumentStore, ids: Ids, clock: Clock, chain: ChainWriter) {
    this.#settings = settings
    this.#documents = documents
    this.#ids = ids
    this.#clock = clock
    this.#chain = chain
  }

  /** An entry has the id of its event, so that redelivery adds none. */
  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    const lines = events.flatMap(event => {
      const line = auditLineOf(event)
      if (!line) return []
      const { type = event.type, user = null, about = {}, address } = line
      const { id, at, actor = null, subject } = event
      return [{ id, at, type, actor, user, subject, about, address: this.#retained(address), count: 1, last: at, hasFreshId: false }]
    })
    await this.#chain.append(lines)
  }

  async note({ type, actor, user, subject, about = {}, address, isCounted }: AuditNote): Promise<void> {
    const at = this.#clock.now().toISOString()
    const line = { at, type, actor: actor ?? null, user: user ?? null, subject: subject ?? null, about, address: this.#retained(address) }
    if (isCounted) return this.#count({ ...line, count: 1, last: at }, address)
    await this.#chain.append([{ id: this.#ids.next(), ...line, count: 1, last: at, hasFreshId: true }])
  }

  /** Newest first. A page can be short, with a `next`, when many entries had to be skipped. */
  page(query: AuditQuery, page: { readonly after?: After; readonly limit: number }): Promise<Page<AuditRecord & Stored>> {
    return this.#documents.find(audit, { ...this.#find(query), maxScanned, ...page })
  }

  /** All of them, newest first, read during iteration. */
  all(query: AuditQuery): AsyncIterable<AuditRecord & Stored> {
    return this.#documents.scan(audit, this.#find(query))
  }

  /** One entry for each type, account and network within a time window. */
  async #count(line: AuditContent, address = ''): Promise<void> {
    const stretchMs = this.#settings.countedMinutes * 60_000
    const stretch = Math.floor(Date.parse(line.at) / stretchMs)
    const id = createHash('sha256')
      .update(JSON.stringify([line.type, line.user, line.about, networkOf(address), stretch]))
      .digest('hex')
      .slice(0, 24)
    if (await this.#increment(id, line.at)) return
    const openUntil = new Date((stretch + 1) * stretchMs).toISOString()
    const [isAdded] = await this.#chain.append([{ id, ...line, isCounted: true, openUntil, hasFreshId: false }])
    if (isAdded || (await this.#increment(id, line.at))) return
    await this.#chain.append([{ id: this.#ids.next(), ...line, hasFreshId: true }])
  }

  /** False when there is no such entry, or its count is fixed. */
  async #increment(id: string, at: string): Promise<boolean> {
    try {
      await this.#documents.commit({ update: id, in: audit, where: exists('openUntil'), inc: { count: 1 }, set: { last: at } })
      return true
    } catch (error) {
      if (error instanceof CommitConflict) return false
      throw error
    }
  }

  #retained(address: string | undefined): string | null {
    return keptAddress(address, this.#settings.addresses)
  }

  #find({ user, actor, type, since, until }: AuditQuery): Pick<Find, 'using' | 'where' | 'sort'> & { readonly using: string } {
    const where: Where[] = []
    if (user !== undefined) where.push(eq('user', user))
    if (actor !== undefined) where.push(eq('actor', actor))
    if (type !== undefined) where.push(eq('type', type))
    if (since !== undefined) where.push(range('at', { gte: since }))
    if (until !== undefined) where.push(range('at', { lte: until }))
    const using = user !== undefined ? 'byUser' : actor !== undefined ? 'byActor' : type !== undefined ? 'byType' : 'byAt'
    return { using, where: and(...where), sort: { by: 'at', order: 'descending' } }
  }
}
wire(StoredAudit, configPort(config), DocumentStore, Ids, Clock, ChainWriter)

const dayMs = 86_400_000

const batchSize = 200

/** Deletes expired entries from the beginning of each chain; an entry `audit.forgotten` records the last deleted hash. */
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

  /** The last entry up to which, inclusive, all entries have expired. */
  async #cutOf(chain: string, before: string): Promise<{ readonly cut: ChainPoint | undefined; readonly isEmpty: boolean }> {
    let cut: ChainPoint | undefined
    for (;;) {
      const where = and(eq('chain', chain), range('seq', { gt: cut?.seq ?? 0 }))
      const page = await this.#documents.find(audit, { using: 'byChain', where, sort: { by: 'seq', order: 'ascending' }, limit: batchSize })
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
