import { CommitConflict, DocumentStore, event, Invalid, NotFound, type Stored, type UserRecord, type Users, wire } from 'pounce/sdk'
import type { MembershipChange } from 'pounce/sdk/kit'
import { users } from '../collections.ts'
import { StoredRoles } from '../roles/stored-roles.ts'

type User = UserRecord & Stored
type Outcome = Awaited<ReturnType<Users['setMembership']>>
const maxMemberships = 10_000
/** Each lost race means that another change won, so only extreme contention comes close. */
const maxTries = 200

/** The roles that accounts hold in spaces. */
export class StoredMemberships {
  #documents: DocumentStore
  #roles: StoredRoles

  constructor(documents: DocumentStore, roles: StoredRoles) {
    this.#documents = documents
    this.#roles = roles
  }

  async set(id: string, space: string, role: string | undefined, by: MembershipChange): Promise<Outcome> {
    if (role !== undefined && !(await this.#roles.has(role))) throw new Invalid(`Unknown role ${role}`)
    const outcome = await this.#retried(() => this.#try(id, space, role, by))
    if (role === undefined || outcome === undefined || (await this.#roles.has(role))) return outcome
    // The role was deleted meanwhile, after its holders got its successor.
    await this.handOver(id, role)
    return outcome
  }

  /** Replaces a deleted role of a user with its successor everywhere; without a successor the user leaves the space. */
  async handOver(id: string, gone: string): Promise<void> {
    const successor = await this.#roles.successorOf(gone)
    await this.#retried(async () => {
      const user = await this.#documents.get(users, id)
      if (!user?.memberships.some(({ role }) => role === gone)) return
      const memberships = user.memberships.flatMap(held => {
        if (held.role !== gone) return [held]
        return successor === undefined ? [] : [{ space: held.space, role: successor }]
      })
      await this.#documents.commit({ replace: { ...user, memberships }, in: users })
    })
  }

  /** The whole list is replaced at a known revision, so that a space is never in it twice despite concurrent changes. */
  async #try(id: string, space: string, role: string | undefined, by: MembershipChange): Promise<Outcome> {
    const user: User | undefined = await this.#documents.get(users, id)
    if (!user || (role !== undefined && user.erasure)) throw new NotFound('user')
    const membership = user.memberships.find(membership => membership.space === space)
    if (membership?.role === role || (membership && by.onlyNew)) return undefined
    const others = user.memberships.filter(membership => membership.space !== space)
    if (role !== undefined && others.length >= maxMemberships) throw new Invalid(`A user can be in at most ${maxMemberships} spaces`)
    const memberships = role === undefined ? others : [...others, { space, role }]
    const outcome = outcomeOf(membership?.role, role)
    const change = outcome === 'added' ? (by.joining ?? outcome) : outcome
    const now = role === undefined ? {} : { role }
    const more = {
      ...(by.withSpace && { withSpace: by.withSpace }),
      ...(outcome === 'added' && { ...(by.message && { message: by.message }), ...(by.isAnswer && { isAnswer: true }) }),
    }
    const data = { user: id, change, ...now, ...more }
    const memberChanged = event('space.member-changed', { kind: 'space', id: space }, data, by.actor)
    await this.#documents.commit({ replace: { ...user, memberships }, in: users }, [memberChanged])
    return outcome
  }

  async #retried<T>(change: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await change()
      } catch (error) {
        if (!(error instanceof CommitConflict && error.reason === 'revision') || tries >= maxTries) throw error
      }
    }
  }
}
wire(StoredMemberships, DocumentStore, StoredRoles)

const outcomeOf = (held: string | undefined, role: string | undefined): NonNullable<Outcome> => {
  if (role === undefined) return 'removed'
  return held === undefined ? 'added' : 'role'
}
