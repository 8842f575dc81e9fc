import { and, Clock, CommitConflict, DocumentStore, eq, event, type StoredEvent, wire } from 'pounce/sdk'
import { Invitations } from './invitations.ts'
import { JoinRequests } from './join-requests.ts'
import { SpaceMembers } from './space-members.ts'
import { spaces } from './stored-spaces.ts'

/** Ends the memberships and invitations of a deleted space. */
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

/** Deletes the join requests of new members. */
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

/** Users who were invited before they had an account become members when it is created. */
export class AcceptInvitationsOnSignUp {
  #invitations: Invitations

  constructor(invitations: Invitations) {
    this.#invitations = invitations
  }

  async handle({ type, subject, data }: StoredEvent<'user.created' | 'user.updated'>): Promise<void> {
    // Verifying an address changes no field that could be listed.
    const isAboutAddress = !('fields' in data) || data.fields.length === 0 || data.fields.includes('email')
    if (type === 'user.created' || isAboutAddress) await this.#invitations.welcome(subject.id)
  }
}
wire(AcceptInvitationsOnSignUp, Invitations)

/** Emits an event for each space with a time to live when its old resources should expire; the plugins of the resources handle it. */
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
        // The time to live was disabled, or the space deleted, concurrently.
        if (!(error instanceof CommitConflict)) throw error
      }
    }
  }
}
wire(SpaceExpiry, DocumentStore, Clock)
