import { createHash } from 'node:crypto'
import {
  type After,
  type Caller,
  Clock,
  CommitConflict,
  collection,
  configPort,
  DocumentStore,
  eq,
  event,
  NotFound,
  type Page,
  Policy,
  range,
  Spaces,
  type Stored,
  type StoredEvent,
  signedIn,
  type Time,
  type UserRecord,
  Users,
  type Where,
  wire,
} from 'pounce/sdk'
import { isMailAddress, plainEmail } from 'pounce/sdk/kit'
import { config, type Settings } from './config.ts'
import { InvitationRateLimit } from './invitation-rate-limit.ts'
import { SpaceMembers } from './space-members.ts'

/** An invitation to a space by email. Its id is derived from space and address, so that there is at most one for both. */
interface InvitationRecord {
  readonly space: string
  /** In the form used in accounts. */
  readonly email: string
  /** Id of the role. */
  readonly role: string
  readonly message: string
  /** The inviting user. */
  readonly author: string
  readonly created: Time
  readonly expires: Time
}

export type Invitation = InvitationRecord & Stored

export const invitations = collection<InvitationRecord>()('spaces.invitations', {
  bySpace: { on: ['space', 'created'] },
  byEmail: { on: ['email', 'created'] },
  byExpiry: { on: ['expires'] },
})

/** The outcome for an invited user. */
export interface Invited {
  readonly email?: string
  readonly userId?: string
  /**
   * `added`: is a member now; `member`: was one already; `invited`: is sent an email and may accept; `unknown`: no such account, or none
   * that the caller may view; `invalid`: not an email address.
   */
  readonly status: 'added' | 'member' | 'invited' | 'unknown' | 'invalid'
}

const dayMs = 86_400_000

/** For this long after an invitation, the same one again sends no further mail: it is a repeated or concurrent request. */
const repeatMs = 60_000

type User = UserRecord & Stored

type End = StoredEvent<'space.invitation-ended'>['data']['how']

/** Invitations to spaces. */
export class Invitations {
  #settings: Settings
  #documents: DocumentStore
  #users: Users
  #spaces: Spaces
  #members: SpaceMembers
  #policy: Policy
  #quota: InvitationRateLimit
  #clock: Clock

  constructor(
    settings: Settings,
    documents: DocumentStore,
    users: Users,
    spaces: Spaces,
    members: SpaceMembers,
    policy: Policy,
    quota: InvitationRateLimit,
    clock: Clock,
  ) {
    this.#settings = settings
    this.#documents = documents
    this.#users = users
    this.#spaces = spaces
    this.#members = members
    this.#policy = policy
    this.#quota = quota
    this.#clock = clock
  }

  /**
   * Users with an account that the caller may view become members immediately, as in Clowder 1.x; others are sent an email. An existing
   * invitation is renewed. Existing members keep their role. Throws `Invalid` for an unknown role, and `TooMany`.
   */
  async invite(
    caller: Caller,
    space: string,
    draft: {
      readonly emails: readonly string[]
      readonly userIds: readonly string[]
      readonly role: string
      readonly message?: string | undefined
    },
  ): Promise<readonly Invited[]> {
    const { id: role } = await this.#members.roleOf(draft.role)
    const author = signedIn(caller).id
    const message = draft.message?.trim() ?? ''
    const [emails, userIds] = [[...new Set(draft.emails.map(plainEmail))], [...new Set(draft.userIds)]]
    await this.#quota.take('invite', author, emails.length + userIds.length, this.#settings.invitationsPerHour)
    const invited: Invited[] = []
    const found = await this.#users.getMany(userIds)
    const seen = await this.#policy.allowed(caller, 'ViewUser', 'user', userIds)
    for (const userId of userIds) {
      const user = seen.has(userId) ? found.get(userId) : undefined
      invited.push({ userId, status: user ? await this.#add(user, space, { role, author, message }) : 'unknown' })
    }
    for (const email of emails) {
      const user = isMailAddress(email) ? await this.#seen(caller, email) : undefined
      if (user) invited.push({ email, status: await this.#add(user, space, { role, author, message }) })
      else if (!isMailAddress(email)) invited.push({ email, status: 'invalid' })
      else {
        await this.#write({ space, email, role, author, message })
        invited.push({ email, status: 'invited' })
      }
    }
    return invited
  }

  /** The open invitations of a space, oldest first. */
  ofSpace(space: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<Invitation>> {
    return this.#documents.find(invitations, {
      using: 'bySpace',
      where: eq('space', space),
      sort: { by: 'created', order: 'ascending' },
      ...page,
    })
  }

  /** The open invitations of a user, oldest first; none until the address of the account is verified. */
  async of(user: User, page: { readonly after?: After; readonly limit: number }): Promise<Page<Invitation>> {
    if (user.isEmailUnverified) return { items: [] }
    const where = eq('email', user.email)
    return this.#documents.find(invitations, { using: 'byEmail', where, sort: { by: 'created', order: 'ascending' }, ...page })
  }

  get(id: string): Promise<Invitation | undefined> {
    return this.#documents.get(invitations, id)
  }

  /** Revokes an invitation. Throws `NotFound` for one that does not exist or is of another space. */
  async withdraw(space: string, id: string, actor: string | undefined): Promise<void> {
    const found = await this.get(id)
    if (!found || found.space !== space || !(await this.#end(found, 'withdrawn', actor))) throw new NotFound('invitation')
  }

  /**
   * Called by the invited user. Throws `NotFound` for an invitation that is not theirs or has ended, for one of a deleted space, and for
   * accepting one whose author may no longer invite, which ends it.
   */
  async answer(id: string, userId: string, how: 'accepted' | 'declined'): Promise<void> {
    const [found, user] = await Promise.all([this.get(id), this.#users.get(userId)])
    const isTheirs = found && user && !user.isEmailUnverified && found.email === user.email && !this.#isOver(found)
    if (isTheirs && how === 'accepted' && !(await this.#isBacked(found))) {
      await this.#end(found, 'expired', undefined)
      throw new NotFound('invitation')
    }
    if (!isTheirs || !(await this.#end(found, how, userId))) throw new NotFound('invitation')
    if (how === 'accepted' && !(await this.#letIn(found, user, true))) throw new NotFound('space')
  }

  /** A user signed up, or verified an address: accepts their open invitations. */
  async welcome(userId: string): Promise<void> {
    const user = await this.#users.get(userId)
    if (!user) return
    for (;;) {
      const { items } = await this.of(user, { limit: 200 })
      if (items.length === 0) return
      for (const found of items) {
        const isValid = !this.#isOver(found) && (await this.#isBacked(found))
        if (isValid) await this.#letIn(found, user, false)
        await this.#end(found, isValid ? 'accepted' : 'expired', isValid ? found.author : undefined)
      }
    }
  }

  /** Ends all invitations of a deleted space. */
  async release(space: string): Promise<void> {
    await this.#endAll({ using: 'bySpace', where: eq('space', space) }, 'withdrawn')
  }

  /** Deletes expired invitations. */
  async run(signal: AbortSignal): Promise<void> {
    const where = range('expires', { lte: this.#clock.now().toISOString() })
    await this.#endAll({ using: 'byExpiry', where }, 'expired', signal)
  }

  async #endAll(which: { readonly using: 'bySpace' | 'byExpiry'; readonly where: Where }, how: End, signal?: AbortSignal): Promise<void> {
    while (!signal?.aborted) {
      const { items } = await this.#documents.find(invitations, { ...which, limit: 200 })
      if (items.length === 0) return
      for (const found of items) await this.#end(found, how, undefined)
    }
  }

  async #seen(caller: Caller, email: string): Promise<User | undefined> {
    const user = await this.#users.byEmail(email)
    if (!user || user.isEmailUnverified) return undefined
    return (await this.#policy.canOn(caller, 'ViewUser', { kind: 'user', id: user.id })) === 'yes' ? user : undefined
  }

  async #add(
    user: User,
    space: string,
    { role, author, message, isAnswer = false }: Pick<InvitationRecord, 'role' | 'author' | 'message'> & { readonly isAnswer?: boolean },
  ): Promise<'added' | 'member'> {
    const outcome = await this.#users.setMembership(user.id, space, role, { actor: author, message, isAnswer, onlyNew: true })
    await this.#members.settle(space)
    return outcome === 'added' ? 'added' : 'member'
  }

  async #write(draft: Omit<InvitationRecord, 'created' | 'expires'>): Promise<void> {
    const now = this.#clock.now()
    const id = createHash('sha256').update(`${draft.space}\n${draft.email}`).digest('hex').slice(0, 24)
    const expires = new Date(now.getTime() + this.#settings.invitationDays * dayMs).toISOString()
    const account = await this.#users.byEmail(draft.email)
    const user = account && !account.isEmailUnverified ? { user: account.id } : {}
    const events = [event('space.invited', { kind: 'space', id: draft.space }, { invitation: id, ...user }, draft.author)]
    for (;;) {
      try {
        await this.#documents.commit({ insert: { id, ...draft, created: now.toISOString(), expires }, into: invitations }, events)
        break
      } catch (error) {
        if (!(error instanceof CommitConflict)) throw error
      }
      const known = await this.get(id)
      if (known === undefined) continue
      const isSame = known.role === draft.role && known.message === draft.message && known.author === draft.author
      if (isSame && Date.parse(expires) - Date.parse(known.expires) < repeatMs) break
      try {
        const where = eq('revision', known.revision)
        await this.#documents.commit({ update: id, in: invitations, where, set: { ...draft, expires } }, events)
        break
      } catch (error) {
        if (!(error instanceof CommitConflict)) throw error
      }
    }
    // The space may have been deleted meanwhile, after its invitations had ended.
    if (!(await this.#spaces.get(draft.space))) await this.release(draft.space)
  }

  /** The role that accepting grants now: a deleted role is replaced by its successor, or otherwise by the role of new members. */
  async roleOf({ space, role }: InvitationRecord): Promise<{ readonly id: string; readonly name: string }> {
    const [live] = await this.#users.membershipsOf({ memberships: [{ space, role }] })
    return live ? { id: live.role, name: live.roleName ?? '' } : this.#members.roleOf('Viewer')
  }

  /** False when the space is deleted. */
  async #letIn(found: Invitation, user: User, isAnswer: boolean): Promise<boolean> {
    const { space, author, message } = found
    if (!(await this.#spaces.get(space))) return false
    await this.#add(user, space, { role: (await this.roleOf(found)).id, author, message, isAnswer })
    return true
  }

  /** Whether its author may still invite to the space. */
  async #isBacked({ author, space }: Invitation): Promise<boolean> {
    const user = await this.#users.get(author)
    if (!user || user.status === 'Inactive') return false
    const caller = { ...(await this.#users.callerOf(user)), superAdmin: user.status === 'Admin' }
    return (await this.#policy.canOn(caller, 'EditSpace', { kind: 'space', id: space })) === 'yes'
  }

  /** False after a concurrent change. */
  async #end({ id, space, email }: Invitation, how: End, actor: string | undefined): Promise<boolean> {
    const user = (await this.#users.byEmail(email))?.id
    try {
      const data = { invitation: id, how, ...(user !== undefined && { user }) }
      const ended = event('space.invitation-ended', { kind: 'space', id: space }, data, actor)
      await this.#documents.commit({ tombstone: id, in: invitations }, [ended])
      return true
    } catch (error) {
      if (error instanceof CommitConflict) return false
      throw error
    }
  }

  #isOver({ expires }: InvitationRecord): boolean {
    return this.#clock.now().toISOString() >= expires
  }
}
wire(Invitations, configPort(config), DocumentStore, Users, Spaces, SpaceMembers, Policy, InvitationRateLimit, Clock)
