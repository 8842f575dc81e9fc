import {
  type AccessTrail,
  anonymous,
  Clock,
  configPort,
  Ids,
  type Kind,
  Log,
  type Permission,
  Policy,
  type Ref,
  Unavailable,
  wire,
} from 'pounce/sdk'
import type { AccessNote, AccessOutcome } from 'pounce/sdk/kit'
import { ChainWriter, type NewLine, ownLine } from './chain-writer.ts'
import { config, type Settings } from './config.ts'
import { keptAddress } from './stored-audit.ts'

const flushMs = 1000
const maxRetryMs = 30_000
const maxBatch = 200
/** Maximum number of resources named in one entry. */
const maxNamed = 20
/** Downloading their bytes requires a permission in addition to the view permission. */
const downloadable: ReadonlySet<Kind> = new Set<Kind>(['file', 'folder', 'dataset', 'collection'])

interface Waiting {
  line: NewLine
  readonly subjects: readonly Ref[]
  readonly permissions: readonly Permission[]
}

/**
 * Records reads of resources that are not public. Entries are buffered and written once a second, or sooner when there are many, so that no
 * read waits for the store. Reads that differ only in their request id share one entry with a count. Each read occupies a slot of a bounded
 * buffer from its start.
 */
export class AccessLog implements AccessTrail {
  readonly reads: Settings['reads']
  readonly #settings: Settings
  readonly #chain: ChainWriter
  readonly #policy: Policy
  readonly #ids: Ids
  readonly #clock: Clock
  readonly #log: Log
  #waiting: Waiting[] = []
  /** The entries of `#waiting` that are not being written yet, keyed by the fields that reads must share to be combined. */
  readonly #combinable = new Map<string, Waiting>()
  #open = 0
  #lost = 0
  #timer: NodeJS.Timeout | undefined
  /** The timer is already set to fire immediately. Without this flag each read would reset it, and on a busy server it would never fire. */
  #isUrgent = false
  #flushing: Promise<void> | undefined
  #retryMs = flushMs

  constructor(settings: Settings, chain: ChainWriter, policy: Policy, ids: Ids, clock: Clock, log: Log) {
    this.reads = settings.reads
    this.#settings = settings
    this.#chain = chain
    this.#policy = policy
    this.#ids = ids
    this.#clock = clock
    this.#log = log
  }

  begin(access: AccessNote): (outcome: AccessOutcome) => void {
    if (this.#open >= this.#settings.maxPendingReads) {
      if (this.#settings.whenReadsCannotBeRecorded === 'refuse')
        throw new Unavailable('The audit log is unavailable, and reads must be recorded')
      this.#lost += 1
      return () => undefined
    }
    this.#open += 1
    const at = this.#clock.now().toISOString()
    return outcome => this.#add(access, at, outcome)
  }

  /** Resolves when all entries for completed reads are durable. */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0 || this.#flushing) await this.#flush()
  }

  async dispose(): Promise<void> {
    clearTimeout(this.#timer)
    try {
      await this.flush()
    } catch (error) {
      this.#log.error('Reads were not recorded in the audit log', { lines: this.#waiting.length, error })
    }
  }

  #add({ caller, subjects, permission, isDownload, ...access }: AccessNote, at: string, outcome: AccessOutcome): void {
    const { status, bytes, range, isComplete } = outcome
    const type = isDownload ? 'access.download' : 'access.read'
    const actor = caller.user?.id ?? null
    const address = keptAddress(access.address, this.#settings.addresses)
    // Ids may come from an address and contain any character, so the key includes their length.
    let common = `${type}\n${actor}\n${access.operation}\n${access.method}\n${access.path}\n${caller.via}\n${caller.keyId}\n${caller.sessionId}`
    common += `\n${range}\n${status}\n${bytes}\n${isComplete}\n${address}`
    for (const { kind, id } of subjects) common += `\n${kind} ${id.length} ${id}`
    const same = this.#combinable.get(common)
    if (same) {
      same.line = { ...same.line, count: same.line.count + 1, last: at > same.line.last ? at : same.line.last }
      this.#scheduleNext()
      return
    }
    const [subject, ...others] = subjects
    const about = {
      ...{ operation: access.operation, method: access.method, path: access.path, via: caller.via },
      ...(caller.keyId !== undefined && { key: caller.keyId }),
      ...(caller.sessionId !== undefined && { session: caller.sessionId }),
      ...(others.length > 0 && { things: others.slice(0, maxNamed).map(({ kind, id }) => `${kind} ${id}`) }),
      ...(range !== undefined && { range }),
      ...{ status, bytes, outcome: isComplete ? 'complete' : 'broken off' },
    }
    const line: NewLine = {
      ...ownLine(this.#ids.next(), at, type, { ...about, requestId: access.requestId }),
      actor,
      subject: subject ?? null,
      address,
    }
    const needsDownload = isDownload && subjects.some(({ kind }) => downloadable.has(kind))
    const permissions = new Set([...(permission ? [permission] : []), ...(needsDownload ? (['DownloadFiles'] as const) : [])])
    const waiting = { line, subjects, permissions: [...permissions] }
    this.#waiting.push(waiting)
    this.#combinable.set(common, waiting)
    this.#scheduleNext()
  }

  /**
   * Flushes within a second, or immediately when there are enough entries for a commit or half of the slots are taken: while the store is
   * available, reads must never be refused.
   */
  #scheduleNext(): void {
    const isUrgent = this.#waiting.length >= maxBatch || this.#open >= this.#settings.maxPendingReads / 2
    this.#schedule(isUrgent && this.#retryMs === flushMs ? 0 : this.#retryMs)
  }

  #schedule(inMs: number): void {
    if (this.#flushing) return
    if (this.#timer && (inMs > 0 || this.#isUrgent)) return
    clearTimeout(this.#timer)
    this.#isUrgent = inMs === 0
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#isUrgent = false
      this.#flush().catch((error: unknown) => {
        this.#retryMs = Math.min(this.#retryMs * 2, maxRetryMs)
        this.#log.warn('Failed to write audit log entries of reads; they will be retried', { lines: this.#waiting.length, error })
        this.#schedule(this.#retryMs)
      })
    }, inMs).unref()
  }

  #flush(): Promise<void> {
    this.#flushing ??= this.#write().finally(() => {
      this.#flushing = undefined
      if (this.#waiting.length > 0) this.#schedule(this.#retryMs)
    })
    return this.#flushing
  }

  async #write(): Promise<void> {
    const some = this.#waiting.slice(0, maxBatch)
    this.#combinable.clear()
    const kept = await this.#private(some)
    const lost = this.#lost
    const lines = kept.map(({ line }) => line)
    if (lost > 0) lines.push(ownLine(this.#ids.next(), this.#clock.now().toISOString(), 'access.lost', { reads: lost }))
    await this.#chain.append(lines)
    this.#waiting = this.#waiting.slice(some.length)
    for (const { line } of some) this.#open -= line.count
    this.#lost -= lost
    this.#retryMs = flushMs
  }

  /** The entries with at least one resource that is not public. */
  async #private(some: readonly Waiting[]): Promise<readonly Waiting[]> {
    const asked = new Map<string, { readonly permission: Permission; readonly kind: Kind; readonly ids: Set<string> }>()
    for (const { subjects, permissions } of some)
      for (const permission of permissions)
        for (const { kind, id } of subjects) {
          const name = `${permission} ${kind}`
          const known = asked.get(name) ?? { permission, kind, ids: new Set<string>() }
          asked.set(name, known)
          known.ids.add(id)
        }
    const open = new Set<string>()
    for (const [name, { permission, kind, ids }] of asked)
      for (const id of await this.#policy.allowed(anonymous, permission, kind, [...ids])) open.add(`${name} ${id}`)
    return some.filter(
      ({ subjects, permissions }) =>
        subjects.length === 0 ||
        permissions.length === 0 ||
        permissions.some(permission => subjects.some(({ kind, id }) => !open.has(`${permission} ${kind} ${id}`))),
    )
  }
}
wire(AccessLog, configPort(config), ChainWriter, Policy, Ids, Clock, Log)
