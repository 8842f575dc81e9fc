import type { Ref } from '../model/kind.ts'
import { type Contributions, contributions } from '../port.ts'

/** Something for the audit log that no event tells of. Nothing secret is in it, nor what somebody typed for a name they do not have. */
export interface AuditNote {
  /** Such as `superadmin.used`. */
  readonly type: string
  /** Account of who did it; absent when nobody knows. */
  readonly actor?: string
  /** The account it concerns, if it concerns one. */
  readonly user?: string
  readonly subject?: Ref
  /** A few short facts. */
  readonly about?: Readonly<Record<string, string | number | boolean | readonly string[]>>
  /** The address of the other end. It is kept as the settings of the log say. */
  readonly address?: string
  /** May come in masses: for each type, account and network one line is kept for some minutes, which counts them. */
  readonly isCounted?: boolean
}

/** Keeps what admins and credentials did. Contributed, so that who notes something works without it too. */
export interface AuditTrail {
  /** Resolves when the line is durable. */
  note(note: AuditNote): Promise<void>
}
export const AuditTrails = contributions<AuditTrail>('auditTrails')

/** Notes something in every trail there is. */
export const noteIn = async (trails: Contributions<AuditTrail>, note: AuditNote): Promise<void> => {
  for (const trail of trails.all()) await trail.note(note)
}
