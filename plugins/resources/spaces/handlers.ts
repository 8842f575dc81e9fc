import { type StoredEvent, wire } from 'pounce/sdk'
import { type Invitations, SpaceInvitations } from './invitations.ts'
import { type JoinRequests, Requests } from './join-requests.ts'
import { type Members, SpaceMembers } from './members.ts'

/** A space that is gone has no members, and nobody is invited into it. */
export class ReleaseMembers {
  #members: Members
  #invitations: Invitations

  constructor(members: Members, invitations: Invitations) {
    this.#members = members
    this.#invitations = invitations
  }

  async handle({ subject }: StoredEvent<'space.removed'>): Promise<void> {
    await this.#members.release(subject.id)
    await this.#invitations.release(subject.id)
  }
}
wire(ReleaseMembers, SpaceMembers, SpaceInvitations)

/** Who is a member asks no longer to become one. */
export class ForgetRequest {
  #requests: JoinRequests

  constructor(requests: JoinRequests) {
    this.#requests = requests
  }

  async handle({ subject, data: { user, change } }: StoredEvent<'space.member-changed'>): Promise<void> {
    if (change === 'added') await this.#requests.forget(subject.id, user)
  }
}
wire(ForgetRequest, Requests)

/** Who was invited before having an account is a member from the first moment on. */
export class WelcomeInvited {
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
wire(WelcomeInvited, SpaceInvitations)
