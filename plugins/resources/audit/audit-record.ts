import { collection, type Ref, type Time } from 'pounce/sdk'

/** A few short facts of a line. */
export type Facts = Readonly<Record<string, string | number | boolean | readonly string[]>>

/** A line of the audit log. Its id is that of the event, for lines that follow from one. */
export interface AuditRecord {
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
}

/** The audit log. */
export const audit = collection<AuditRecord>('audit', {
  byAt: { on: ['at'] },
  byActor: { on: ['actor', 'at'] },
  byUser: { on: ['user', 'at'] },
  byType: { on: ['type', 'at'] },
})
