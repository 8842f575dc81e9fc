import {
  type AccessTrail,
  anonymous,
  type Caller,
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

/** Reads that one entry records: they differ only in their request id and time. */
interface Waiting {
  readonly id: string
  readonly note: AccessNote
  readonly outcome: AccessOutcome
  /** As it is stored. */
  readonly address: string | null
  readonly at: string
  count: number
  last: string
}

/** Maximum number of entries for one resource that a read is compared with. */
const maxCompared = 50

const isSameCaller = (one: Caller, other: Caller): boolean =>
  one === other ||
  (one.user?.id === other.user?.id && one.via === other.via && one.keyId === other.keyId && one.sessionId === other.sessionId)

const areSameSubjects = (some: readonly Ref[], others: readonly Ref[]): boolean =>
  some.length === others.length && some.every(({ kind, id }, at) => kind === others[at]?.kind && id === others[at].id)

const isSameRead = (one: AccessNote, other: AccessNote): boolean =>
  one.operation === other.operation &&
  one.method === other.method &&
  one.path === other.path &&
  one.isDownload === other.isDownload &&
  isSameCaller(one.caller, other.caller) &&
  areSameSubjects(one.subjects, other.subjects)

const isSameOutcome = (one: AccessOutcome, other: AccessOutcome): boolean =>
  one.status === other.status && one.bytes === other.bytes && one.range === other.range && one.isComplete === other.isComplete

const lineOf = ({ id, at, address, count, last, note, outcome: { status, bytes, range, isComplete } }: Waiting): NewLine => {
  const { caller, operation, method, path, requestId, isDownload } = note
  const [subject, ...others] = note.subjects
  const about = {
    ...{ operation, method, path, via: caller.via },
    ...(caller.keyId !== undefined && { key: caller.keyId }),
    ...(caller.sessionId !== undefined && { session: caller.sessionId }),
    ...(others.length > 0 && { things: others.slice(0, maxNamed).map(other => `${other.kind} ${other.id}`) }),
    ...(range !== undefined && { range }),
    ...{ status, bytes, outcome: isComplete ? 'complete' : 'broken off' },
  }
  return {
    ...ownLine(id, at, isDownload ? 'access.download' : 'access.read', { ...about, requestId }),
    ...{ actor: caller.user?.id ?? null, subject: subject ?? null, address, count, last },
  }
}

/** The permissions required to read the resources. */
const permissionsOf = ({ permission, isDownload, subjects }: AccessNote): readonly Permission[] => {
  const needsDownload = isDownload && subjects.some(({ kind }) => downloadable.has(kind))
  return [...new Set([...(permission ? [permission] : []), ...(needsDownload ? (['DownloadFiles'] as const) : [])])]
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
  /** The entries of `#waiting` that are not being written yet, by the id of their first resource. */
  readonly #combinable = new Map<string, Waiting[]>()
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

  #add(note: AccessNote, at: string, outcome: AccessOutcome): void {
    const address = keptAddress(note.address, this.#settings.addresses)
    const of = note.subjects[0]?.id ?? ''
    const others = this.#combinable.get(of) ?? []
    const same = others.find(other => other.address === address && isSameRead(other.note, note) && isSameOutcome(other.outcome, outcome))
    if (same) {
      same.count += 1
      if (at > same.last) same.last = at
    } else {
      const waiting = { id: this.#ids.next(), note, outcome, address, at, count: 1, last: at }
      this.#waiting.push(waiting)
      this.#combinable.set(of, [...others.slice(1 - maxCompared), waiting])
    }
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
    const privateReads = await this.#private(some)
    const lost = this.#lost
    const lines = privateReads.map(lineOf)
    if (lost > 0) lines.push(ownLine(this.#ids.next(), this.#clock.now().toISOString(), 'access.lost', { reads: lost }))
    await this.#chain.append(lines)
    this.#waiting = this.#waiting.slice(some.length)
    for (const { count } of some) this.#open -= count
    this.#lost -= lost
    this.#retryMs = flushMs
  }

  /** The entries with at least one resource that is not public. */
  async #private(some: readonly Waiting[]): Promise<readonly Waiting[]> {
    const decisions = new Map<string, { readonly permission: Permission; readonly kind: Kind; readonly ids: Set<string> }>()
    for (const { note } of some)
      for (const permission of permissionsOf(note))
        for (const { kind, id } of note.subjects) {
          const name = `${permission} ${kind}`
          const known = decisions.get(name) ?? { permission, kind, ids: new Set<string>() }
          decisions.set(name, known)
          known.ids.add(id)
        }
    const open = new Set<string>()
    for (const [name, { permission, kind, ids }] of decisions)
      for (const id of await this.#policy.allowed(anonymous, permission, kind, [...ids])) open.add(`${name} ${id}`)
    return some.filter(({ note }) => {
      const permissions = permissionsOf(note)
      const isAnyHidden = permissions.some(permission => note.subjects.some(({ kind, id }) => !open.has(`${permission} ${kind} ${id}`)))
      return note.subjects.length === 0 || permissions.length === 0 || isAnyHidden
    })
  }
}
wire(AccessLog, configPort(config), ChainWriter, Policy, Ids, Clock, Log)
