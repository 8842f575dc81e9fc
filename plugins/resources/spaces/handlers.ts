import { and, Clock, CommitConflict, DocumentStore, eq, event, type StoredEvent, wire } from 'pounce/sdk'
import { Invitations } from './invitations.ts'
import { JoinRequests } from './join-requests.ts'
import { SpaceMembers } from './space-members.ts'
import { spaces } from './stored-spaces.ts'

/** A space that is gone has no members, and no one is invited into it. */
export class RemoveMembersOnSpaceRemoved {
  #members: SpaceMembers
  #invitations: Invitations

  constructor(members: SpaceMembers, invitations: Invitations) {
    this.#members = members
    this.#invitations = invitations
  }

  async handle({ subject, actor, data: { name } }: StoredEvent<'space.removed'>): Promise<void> {
    await this.#members.release(subject.id, { name, ...(actor !== undefined && { by: actor }) })
    await this.#invitations.release(subject.id)
  }
}
wire(RemoveMembersOnSpaceRemoved, SpaceMembers, Invitations)

/** Ends requests to join of new members. */
export class DeleteJoinRequestOnMembership {
  #requests: JoinRequests

  constructor(requests: JoinRequests) {
    this.#requests = requests
  }

  async handle({ subject, data: { user, change } }: StoredEvent<'space.member-changed'>): Promise<void> {
    if (change === 'added') await this.#requests.forget(subject.id, user)
  }
}
wire(DeleteJoinRequestOnMembership, JoinRequests)

/** Who was invited before having an account is a member from the first moment on. */
export class AcceptInvitationsOnSignUp {
  #invitations: Invitations

  constructor(invitations: Invitations) {
    this.#invitations = invitations
  }

  async handle({ type, subject, data }: StoredEvent<'user.created' | 'user.updated'>): Promise<void> {
    // An address that was checked at last changes no field that could be named.
    const isAboutAddress = !('fields' in data) || data.fields.length === 0 || data.fields.includes('email')
    if (type === 'user.created' || isAboutAddress) await this.#invitations.welcome(subject.id)
  }
}
wire(AcceptInvitationsOnSignUp, Invitations)

/** Says of each space with a time to live that what is older should go; the plugins that own such resources react. */
export class SpaceExpiry {
  #documents: DocumentStore
  #clock: Clock

  constructor(documents: DocumentStore, clock: Clock) {
    this.#documents = documents
    this.#clock = clock
  }

  async run(signal: AbortSignal): Promise<void> {
    const isOn = eq('isTimeToLiveEnabled', true)
    const where = and(eq('state', 'live'), isOn)
    for await (const { id } of this.#documents.scan(spaces, { using: 'byTimeToLive', where })) {
      if (signal.aborted) return
      const set = { expiryAt: this.#clock.now().toISOString() }
      try {
        await this.#documents.commit({ update: id, in: spaces, where: isOn, set }, [event('space.expiry-due', { kind: 'space', id }, {})])
      } catch (error) {
        // It was switched off, or the space went, at the same moment.
        if (!(error instanceof CommitConflict)) throw error
      }
    }
  }
}
wire(SpaceExpiry, DocumentStore, Clock)
