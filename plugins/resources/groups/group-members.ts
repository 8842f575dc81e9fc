import {
  CommitConflict,
  Conflict,
  DocumentStore,
  eq,
  event,
  Invalid,
  Log,
  NotFound,
  type Stored,
  type UserRecord,
  Users,
  wire,
} from 'pounce/sdk'
import { localSource } from 'pounce/sdk/kit'
import { groups } from './collection.ts'

type User = UserRecord & Stored
const maxGroups = 1000
const maxTries = 200

/** Group membership: a list in each account, changed as a whole. */
export class GroupMembers {
  #documents: DocumentStore
  #users: Users
  #log: Log

  constructor(documents: DocumentStore, users: Users, log: Log) {
    this.#documents = documents
    this.#users = users
    this.#log = log
  }

  /**
   * Adding an existing member is not an error. Throws `NotFound` for a missing user or group, `Invalid` for a group whose members are
   * managed by a provider.
   */
  async add(group: string, user: string, actor: string | undefined): Promise<void> {
    await this.#requireLocal(group)
    await this.#rewrite(user, actor, held => {
      if (!held.includes(group) && held.length >= maxGroups) throw new Invalid(`A user can be in at most ${maxGroups} groups`)
      return [...new Set([...held, group])]
    })
    // The group may have been deleted meanwhile, after its members were removed.
    if (await this.#documents.get(groups, group)) return
    await this.#rewrite(user, undefined, held => held.filter(id => id !== group))
    throw new NotFound('group')
  }

  /** Removing a non-member is not an error. */
  async remove(group: string, user: string, actor: string | undefined): Promise<void> {
    await this.#requireLocal(group)
    await this.#rewrite(user, actor, held => held.filter(id => id !== group))
  }

  /** Sets which groups of one provider a user is in. */
  async assign(user: string, source: string, wanted: ReadonlySet<string>): Promise<void> {
    const of = await this.#users.get(user)
    if (!of) throw new NotFound('user')
    const known = await this.#documents.getMany(groups, (of.groups ?? []).slice(0, maxGroups))
    await this.#rewrite(user, undefined, held => {
      const next = new Set(held.filter(id => known.get(id)?.source !== source))
      for (const id of wanted)
        if (next.size < maxGroups) next.add(id)
        else this.#log.warn('User has too many groups', { user, group: id, max: maxGroups })
      return held.every(id => next.has(id)) && next.size === held.length ? held : [...next]
    })
  }

  /** Removes all members of a deleted group. */
  async release(group: string): Promise<void> {
    for (;;) {
      const { items } = await this.#users.inGroup(group, { limit: 200 })
      if (items.length === 0) return
      for (const { id } of items) await this.#rewrite(id, undefined, held => held.filter(each => each !== group))
    }
  }

  async #requireLocal(id: string): Promise<void> {
    const group = await this.#documents.get(groups, id)
    if (!group) throw new NotFound('group')
    if (group.source !== localSource) throw new Invalid(`The members of this group are managed by ${group.source}`)
  }

  /** `next` returns the same list when there is nothing to change. */
  async #rewrite(id: string, actor: string | undefined, next: (held: readonly string[]) => readonly string[]): Promise<void> {
    for (let tries = 1; tries <= maxTries; tries += 1) {
      const user: User | undefined = await this.#users.get(id)
      if (!user) throw new NotFound('user')
      const userGroups = user.groups ?? []
      const wanted = next(userGroups)
      const joined = wanted.filter(group => !userGroups.includes(group))
      const left = userGroups.filter(group => !wanted.includes(group))
      if (joined.length + left.length === 0) return
      const changeEvent = (change: 'added' | 'removed') => (group: string) =>
        event('group.member-changed', { kind: 'group', id: group }, { user: id, change }, actor)
      const events = [...joined.map(changeEvent('added')), ...left.map(changeEvent('removed'))]
      try {
        await this.#users.change(id, { set: { groups: wanted }, where: eq('revision', user.revision) }, events)
        return
      } catch (error) {
        if (!(error instanceof CommitConflict && error.reason === 'guard')) throw error
      }
    }
    throw new Conflict('Too many concurrent changes of this account; try again')
  }
}
wire(GroupMembers, DocumentStore, Users, Log)
