import { collection, type Stored, type Time } from 'pounce/sdk'

/** Somebody is asked into a space by mail. Its id follows from space and address, so that nobody has two. */
export interface InvitationRecord {
  readonly space: string
  /** As accounts have it. */
  readonly email: string
  /** Id of the role. */
  readonly role: string
  readonly message: string
  /** Who invites. */
  readonly author: string
  readonly created: Time
  readonly expires: Time
}
export type Invitation = InvitationRecord & Stored

export const invitations = collection<InvitationRecord>('spaces.invitations', {
  bySpace: { on: ['space', 'created'] },
  byEmail: { on: ['email', 'created'] },
  byExpiry: { on: ['expires'] },
})
