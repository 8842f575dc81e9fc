import {
  type After,
  and,
  Clock,
  DocumentStore,
  eq,
  event,
  type GroupRecord,
  type Groups,
  Ids,
  Invalid,
  isIn,
  type NewEvent,
  NotFound,
  type Page,
  type Stored,
  type Update,
  type Where,
  wire,
} from 'pounce/sdk'
import { localSource, orNotFound, updateWithRetry } from 'pounce/sdk/kit'
import { groups } from './collection.ts'
import { GroupMembers } from './group-members.ts'

type Memberships = GroupRecord['memberships']

/** Well below the second within which a change must take effect. */
const freshMs = 500

const maxRemembered = 20_000

const readBatchSize = 1000

/** Roles of groups, cached for half a second. Each group is read separately, so the cost does not depend on their number. */
class CachedGroups {
  #documents: DocumentStore
  #known = new Map<string, { readonly since: number; readonly memberships: Promise<Memberships | undefined> }>()

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async of(ids: readonly string[]): Promise<ReadonlyMap<string, Memberships>> {
    const now = performance.now()
    const stale = ids.filter(id => now - (this.#known.get(id)?.since ?? Number.NEGATIVE_INFINITY) >= freshMs)
    for (let at = 0; at < stale.length; at += readBatchSize) this.#read(stale.slice(at, at + readBatchSize), now)
    const found = await Promise.all(ids.map(async id => [id, await this.#known.get(id)?.memberships] as const))
    return new Map(found.flatMap(([id, memberships]) => (memberships ? [[id, memberships] as const] : [])))
  }

  /** Invalidates a group that was changed here, so that the change takes effect immediately. */
  forget(id: string): void {
    this.#known.delete(id)
  }

  #read(ids: readonly string[], since: number): void {
    if (this.#known.size + ids.length > maxRemembered) this.#known.clear()
    const reading = this.#documents.getMany(groups, ids)
    for (const id of ids) {
      const memberships = reading.then(found => found.get(id)?.memberships)
      const read = { since, memberships }
      this.#known.set(id, read)
      memberships.catch(() => {
        if (this.#known.get(id) === read) this.#known.delete(id)
      })
    }
  }
}

type Group = GroupRecord & Stored

const maxMemberships = 10_000

const batchSize = 500

/** The fields of a new group. */
export type NewGroup = Pick<GroupRecord, 'name' | 'description' | 'source' | 'external' | 'author'>

/** Groups in the document store. */
export class StoredGroups implements Groups {
  #documents: DocumentStore
  #members: GroupMembers
  #ids: Ids
  #clock: Clock
  #live: CachedGroups

  constructor(documents: DocumentStore, members: GroupMembers, ids: Ids, clock: Clock) {
    this.#documents = documents
    this.#members = members
    this.#ids = ids
    this.#clock = clock
    this.#live = new CachedGroups(documents)
  }

  get(id: string): Promise<Group | undefined> {
    return this.#documents.get(groups, id)
  }

  getMany(ids: readonly string[]): Promise<ReadonlyMap<string, Group>> {
    return this.#documents.getMany(groups, ids)
  }

  live(ids: readonly string[]): Promise<ReadonlyMap<string, GroupRecord['memberships']>> {
    return this.#live.of(ids)
  }

  /** By name. */
  page(page: { readonly after?: After; readonly limit: number }): Promise<Page<Group>> {
    return this.#documents.find(groups, { using: 'byName', sort: { by: 'name', order: 'ascending' }, ...page })
  }

  inSpace(space: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<Group>> {
    return this.#documents.find(groups, { using: 'bySpace', where: eq('memberships.space', space), ...page })
  }

  async hasRole(role: string): Promise<boolean> {
    return (await this.#documents.count(groups, { using: 'byRole', where: eq('memberships.role', role), upTo: 1 })) > 0
  }

  /** Replaces a deleted role with its successor in all groups; groups without a successor leave the space. */
  async handOver(gone: string, successor: string | null): Promise<void> {
    for (;;) {
      const { items } = await this.#documents.find(groups, { using: 'byRole', where: eq('memberships.role', gone), limit: 200 })
      if (items.length === 0) return
      for (const { id } of items) {
        const next = (now: Group) => ({
          set: {
            memberships: now.memberships.flatMap(held => {
              if (held.role !== gone) return [held]
              return successor === null ? [] : [{ space: held.space, role: successor }]
            }),
          },
          events: [],
        })
        await updateWithRetry(this.#documents, groups, { kind: 'group', id }, next).catch(unlessGone)
        this.#live.forget(id)
      }
    }
  }

  /** Throws `Taken` when the name, or the name at the provider, is in use. */
  async create({ name, description, source, external, author }: NewGroup): Promise<Group> {
    if ((source === localSource) !== (external === null))
      throw new Invalid('external is required for the group of a provider, and not allowed for a local group')
    const id = this.#ids.next()
    const record = { name: plain(name), description, source, external, author, created: this.#clock.now().toISOString(), memberships: [] }
    return this.#documents.commit({ insert: { id, ...record }, into: groups }, [event('group.created', { kind: 'group', id }, {}, author)])
  }

  async change(id: string, update: Update & { readonly where?: Where }, events: readonly NewEvent[]): Promise<Group> {
    const changed = await orNotFound('group', this.#documents.commit({ update: id, in: groups, ...update }, events))
    this.#live.forget(id)
    return changed
  }

  /** Throws `Taken` when another group has the name. Absent fields are unchanged. */
  async describe(
    id: string,
    { name, description }: { readonly name?: string | undefined; readonly description?: string | undefined },
    actor: string | undefined,
  ): Promise<void> {
    await updateWithRetry(this.#documents, groups, { kind: 'group', id }, now => {
      const set = { name: name === undefined ? now.name : plain(name), description: description ?? now.description }
      const fields = (['name', 'description'] as const).filter(field => set[field] !== now[field])
      if (fields.length === 0) return undefined
      return { set, events: [event('group.updated', { kind: 'group', id }, { fields }, actor)] }
    })
  }

  /** Rights granted through the group end immediately; members are removed in the background. Throws `NotFound` for a missing group. */
  async remove(id: string, actor: string | undefined): Promise<void> {
    const found = await this.get(id)
    if (!found) throw new NotFound('group')
    const removed = event('group.removed', { kind: 'group', id }, { name: found.name }, actor)
    await orNotFound('group', this.#documents.commit({ tombstone: id, in: groups }, [removed]))
    this.#live.forget(id)
  }

  async setMembership(id: string, space: string, role: string | undefined, actor?: string): Promise<void> {
    await updateWithRetry(this.#documents, groups, { kind: 'group', id }, now => {
      const membership = now.memberships.find(membership => membership.space === space)
      if (membership?.role === role) return undefined
      const others = now.memberships.filter(membership => membership.space !== space)
      if (others.length >= maxMemberships) throw new Invalid(`A group cannot be in more than ${maxMemberships} spaces`)
      const change = role === undefined ? 'removed' : membership === undefined ? 'added' : 'role'
      return {
        set: { memberships: role === undefined ? others : [...others, { space, role }] },
        events: [event('space.group-changed', { kind: 'space', id: space }, { group: id, change, ...(role && { role }) }, actor)],
      }
    })
    this.#live.forget(id)
  }

  async assignExternal(user: string, provider: string, names: readonly string[]): Promise<void> {
    const wanted = new Set<string>()
    const known = [...new Set(names)]
    for (let at = 0; at < known.length; at += batchSize) {
      const where = and(eq('source', provider), isIn('external', known.slice(at, at + batchSize)))
      const { items } = await this.#documents.find(groups, { using: 'byExternal', where, limit: batchSize })
      for (const { id } of items) wanted.add(id)
    }
    await this.#members.assign(user, provider, wanted)
  }
}
wire(StoredGroups, DocumentStore, GroupMembers, Ids, Clock)

const unlessGone = (error: unknown): undefined => {
  if (!(error instanceof NotFound)) throw error
  return undefined
}

const plain = (typed: string): string => {
  const name = typed.normalize('NFC').trim()
  if (name === '') throw new Invalid('The name of a group must not be blank')
  return name
}
