import {
  Clock,
  Conflict,
  configPort,
  DocumentStore,
  event,
  Invalid,
  type NewEvent,
  NotFound,
  type SpaceRecord,
  Users,
  wire,
} from 'pounce/sdk'
import { updateWithRetry } from 'pounce/sdk/kit'
import { config, type Settings } from './config.ts'
import { InvitationRateLimit } from './invitation-rate-limit.ts'
import { SpaceMembers } from './space-members.ts'
import { spaces } from './stored-spaces.ts'

type Request = SpaceRecord['requests'][number]
const maxRequests = 1000
/** How long the acceptance of a request is reserved for the member who began it. */
const settlingMs = 30_000
const request = 'request to join'

/** Requests to join spaces. */
export class JoinRequests {
  #perHour: number
  #documents: DocumentStore
  #users: Users
  #members: SpaceMembers
  #quota: InvitationRateLimit
  #clock: Clock

  constructor(
    { requestsPerHour }: Settings,
    documents: DocumentStore,
    users: Users,
    members: SpaceMembers,
    quota: InvitationRateLimit,
    clock: Clock,
  ) {
    this.#perHour = requestsPerHour
    this.#documents = documents
    this.#users = users
    this.#members = members
    this.#quota = quota
    this.#clock = clock
  }

  /**
   * Idempotent: a repeated request emits no second event. Throws `Invalid` for a member, and `TooMany`; the caller must have checked the
   * right to view the space.
   */
  async ask(space: string, user: string, message: string | undefined): Promise<void> {
    const found = await this.#documents.get(spaces, space)
    if (!found) throw new NotFound('space')
    if (found.requests.some(one => one.user === user)) return
    if (await this.#isMember(space, user)) throw new Invalid('You are already a member of this space')
    await this.#quota.take('request', user, 1, this.#perHour)
    await updateWithRetry(this.#documents, spaces, { kind: 'space', id: space }, ({ requests, author }) => {
      if (requests.some(one => one.user === user)) return undefined
      if (requests.length >= maxRequests) throw new Conflict('This space has too many pending join requests')
      const joinRequest: Request = { user, at: this.#clock.now().toISOString(), ...(message ? { message } : {}) }
      return {
        set: { requests: [...requests, joinRequest] },
        events: [event('space.join-requested', { kind: 'space', id: space }, { user, to: author }, user)],
      }
    })
  }

  /** Withdraws the user's own request. Throws `NotFound` when there is none. */
  async withdraw(space: string, user: string): Promise<void> {
    // The requester may have lost the right to view the space, and others never had it: its existence is not revealed.
    if (!(await this.#documents.get(spaces, space))) throw new NotFound(request)
    await this.#take(space, user, () => [])
  }

  /** Oldest first. */
  async of(space: string): Promise<readonly Request[]> {
    return (await this.#documents.get(spaces, space))?.requests ?? []
  }

  /**
   * Accepts a request; of concurrent calls one succeeds, and the others get `NotFound`, as for a missing request. A user who became a
   * member meanwhile keeps their role.
   */
  async accept(space: string, user: string, role: string, actor: string | undefined): Promise<void> {
    const { id } = await this.#members.roleOf(role)
    const subject = { kind: 'space', id: space } as const
    const now = this.#clock.now().toISOString()
    await updateWithRetry(this.#documents, spaces, subject, ({ requests }) => {
      this.#mustWait(requests, user)
      return { set: { requests: requests.map(one => (one.user === user ? { ...one, settling: now } : one)) }, events: [] }
    })
    await this.#users.setMembership(user, space, id, { actor, joining: 'accepted', onlyNew: true })
    await this.#members.settle(space)
    await this.#forget(space, user, actor)
  }

  async reject(space: string, user: string, actor: string | undefined): Promise<void> {
    await this.#take(space, user, () => [event('space.request-rejected', { kind: 'space', id: space }, { user }, actor)], actor)
  }

  /** Deletes the request of a user who became a member in any way. A missing one is not an error. */
  async forget(space: string, user: string): Promise<void> {
    if (await this.#documents.get(spaces, space)) await this.#forget(space, user, undefined)
  }

  async #forget(space: string, user: string, actor: string | undefined): Promise<void> {
    const subject = { kind: 'space', id: space } as const
    await updateWithRetry(this.#documents, spaces, subject, ({ requests }) => {
      const rest = requests.filter(one => one.user !== user)
      if (rest.length === requests.length) return undefined
      return { set: { requests: rest }, events: [event('space.updated', subject, { fields: ['requests'] }, actor)] }
    }).catch((error: unknown) => {
      if (!(error instanceof NotFound)) throw error
    })
  }

  async #take(space: string, user: string, events: () => readonly NewEvent[], actor: string | undefined = user): Promise<void> {
    const subject = { kind: 'space', id: space } as const
    await updateWithRetry(this.#documents, spaces, subject, ({ requests }) => {
      this.#mustWait(requests, user)
      const settled = event('space.updated', subject, { fields: ['requests'] }, actor)
      return { set: { requests: requests.filter(one => one.user !== user) }, events: [settled, ...events()] }
    })
  }

  #mustWait(requests: readonly Request[], user: string): void {
    const found = requests.find(one => one.user === user)
    const since = found?.settling === undefined ? Number.NEGATIVE_INFINITY : Date.parse(found.settling)
    if (!found || this.#clock.now().getTime() - since < settlingMs) throw new NotFound(request)
  }

  async #isMember(space: string, user: string): Promise<boolean> {
    const record = await this.#users.get(user)
    return record !== undefined && (await this.#users.membershipsOf(record)).some(held => held.space === space)
  }
}
wire(JoinRequests, configPort(config), DocumentStore, Users, SpaceMembers, InvitationRateLimit, Clock)
