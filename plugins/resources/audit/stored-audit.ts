import { createHash } from 'node:crypto'
import {
  type After,
  type AnyEvent,
  type AuditNote,
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
import { auditLineOf } from './audit-lines.ts'
import { type AuditContent, type AuditRecord, audit } from './audit-record.ts'
import { ChainWriter } from './chain-writer.ts'
import { config, type Settings } from './config.ts'
import { keptAddress, networkOf } from './kept-address.ts'

/** Lines that are looked at in vain before a page ends. */
const patience = 2000

/** Which lines are asked for. */
export interface AuditQuery {
  readonly user?: string
  readonly actor?: string
  readonly type?: string
  /** ISO 8601; both ends are included. */
  readonly since?: string
  readonly until?: string
}

/** The audit log: lines are added and grow old, nothing else happens to them. */
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

  /** A line has the id of its event, so that a repeat adds none. */
  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    const lines = events.flatMap(event => {
      const line = auditLineOf(event)
      if (!line) return []
      const { type = event.type, user = null, about = {}, address } = line
      const { id, at, actor = null, subject } = event
      return [{ id, at, type, actor, user, subject, about, address: this.#kept(address), count: 1, last: at, hasFreshId: false }]
    })
    await this.#chain.append(lines)
  }

  async note({ type, actor, user, subject, about = {}, address, isCounted }: AuditNote): Promise<void> {
    const at = this.#clock.now().toISOString()
    const line = { at, type, actor: actor ?? null, user: user ?? null, subject: subject ?? null, about, address: this.#kept(address) }
    if (isCounted) return this.#count({ ...line, count: 1, last: at }, address)
    await this.#chain.append([{ id: this.#ids.next(), ...line, count: 1, last: at, hasFreshId: true }])
  }

  /** Newest first. A page can be short, with a `next`, when many lines had to be passed over. */
  page(query: AuditQuery, page: { readonly after?: After; readonly limit: number }): Promise<Page<AuditRecord & Stored>> {
    return this.#documents.find(audit, { ...this.#find(query), patience, ...page })
  }

  /** All of them, newest first, read while you iterate. */
  all(query: AuditQuery): AsyncIterable<AuditRecord & Stored> {
    return this.#documents.scan(audit, this.#find(query))
  }

  /** One line for each type, account and network in a stretch of time. */
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

  /** False when there is no such line, or its count is fixed. */
  async #increment(id: string, at: string): Promise<boolean> {
    try {
      await this.#documents.commit({ update: id, in: audit, where: exists('openUntil'), inc: { count: 1 }, set: { last: at } })
      return true
    } catch (error) {
      if (error instanceof CommitConflict) return false
      throw error
    }
  }

  #kept(address: string | undefined): string | null {
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
