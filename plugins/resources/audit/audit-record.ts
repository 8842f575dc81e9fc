import { collection, type Ref, type Time } from 'pounce/sdk'

/** A few short facts of a line. */
export type Facts = Readonly<Record<string, string | number | boolean | readonly string[]>>

/** What a line says. */
export interface AuditContent {
  readonly at: Time
  readonly type: string
  /** Account of who did it; null for the server itself and for nobody known. */
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
  /** `count` and `last` go on changing until `openUntil`; a line `audit.counted` then fixes them. */
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
export const audit = collection<AuditRecord>('audit', {
  byAt: { on: ['at'] },
  byActor: { on: ['actor', 'at'] },
  byUser: { on: ['user', 'at'] },
  byType: { on: ['type', 'at'] },
  byChain: { on: ['chain', 'seq'] },
  byOpenUntil: { on: ['openUntil'] },
  byPending: { on: ['pendingFor', 'chain', 'seq'], array: 'pendingFor' },
})

/** A hash chain: each kernel begins its own, so that kernels which share a store need no common lock. */
export interface ChainRecord {
  readonly opened: Time
  /** Nothing is appended to it any more, and an anchor holds its head. */
  readonly isSettled: boolean
  /** `seq` of the head that an anchor holds. */
  readonly anchored: number
}
export const chains = collection<ChainRecord>('audit.chains', { bySettled: { on: ['isSettled'] } })
