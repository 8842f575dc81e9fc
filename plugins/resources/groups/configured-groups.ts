import {
  and,
  anonymousUserId,
  DocumentStore,
  eq,
  event,
  exists,
  type GroupRecord,
  isIn,
  Log,
  type NewEvent,
  type Stored,
  Taken,
  Users,
  wire,
} from 'pounce/sdk'
import { updateWithRetry } from 'pounce/sdk/kit'
import { groups } from './collection.ts'
import { Config, type GroupSettings } from './config.ts'
import { StoredGroups } from './stored-groups.ts'

type Group = GroupRecord & Stored
type Line = GroupSettings['roles'][number]
type Memberships = GroupRecord['memberships']

const nameOf = ({ provider, group }: Pick<Line, 'provider' | 'group'>): string => `${provider} ${group}`

/** Gives external groups the roles in the settings, and revokes those no longer listed. */
export class ConfiguredGroups {
  readonly #lines: GroupSettings['roles']
  readonly #documents: DocumentStore
  readonly #groups: StoredGroups
  readonly #users: Users
  readonly #log: Log

  constructor({ roles }: GroupSettings, documents: DocumentStore, stored: StoredGroups, users: Users, log: Log) {
    this.#lines = roles
    this.#documents = documents
    this.#groups = stored
    this.#users = users
    this.#log = log
  }

  async start(): Promise<void> {
    const wanted = await this.#wanted()
    for (const [line, memberships] of wanted.values()) {
      const group = await this.#found(line)
      if (group) await this.#give(group.id, memberships)
    }
    for await (const group of this.#documents.scan(groups, { using: 'byConfigured', where: exists('configured') }))
      if (!wanted.has(nameOf({ provider: group.source, group: group.external ?? '' }))) await this.#give(group.id, [])
  }

  /** The memberships that each configured group should have. */
  async #wanted(): Promise<ReadonlyMap<string, readonly [Line, Memberships]>> {
    const wanted = new Map<string, readonly [Line, Memberships]>()
    const roles = this.#lines.length === 0 ? [] : await this.#users.roles()
    for (const line of this.#lines) {
      const role = roles.find(({ name }) => name.toLowerCase() === line.role.toLowerCase())
      const [, before = []] = wanted.get(nameOf(line)) ?? []
      if (!role) this.#log.error('An unknown role in resources.groups.roles is ignored', { role: line.role })
      const others = before.filter(({ space }) => space !== line.space)
      wanted.set(nameOf(line), [line, role ? [...others, { space: line.space, role: role.id }] : before])
    }
    return wanted
  }

  /** The group for a setting, created if missing. Kernels that start concurrently create one. */
  async #found({ provider, group }: Line): Promise<Group | undefined> {
    const where = and(eq('source', provider), isIn('external', [group]))
    const known = (await this.#documents.find(groups, { using: 'byExternal', where, limit: 1 })).items[0]
    if (known) return known
    const description = 'Made because the settings of the server name it'
    try {
      const name = `${provider}: ${group}`.slice(0, 200)
      return await this.#groups.create({ name, description, source: provider, external: group, author: anonymousUserId })
    } catch (error) {
      if (!(error instanceof Taken)) throw error
      if (error.index !== 'byName') return this.#found({ provider, group } as Line)
      this.#log.error('A group in resources.groups.roles is ignored: its name is already in use', { provider, group })
      return undefined
    }
  }

  /** Manually assigned memberships, in other spaces, are kept. */
  async #give(id: string, given: Memberships): Promise<void> {
    await updateWithRetry(this.#documents, groups, { kind: 'group', id }, now => {
      const spaces = given.map(({ space }) => space)
      const unaffected = now.memberships.filter(({ space }) => !spaces.includes(space) && !now.configured?.includes(space))
      const memberships = [...unaffected, ...given]
      const events = changes(now, memberships)
      const isSame = events.length === 0 && [...spaces].sort().join() === [...(now.configured ?? [])].sort().join()
      return isSame ? undefined : { set: { memberships, configured: spaces }, events }
    })
  }
}
wire(ConfiguredGroups, Config, DocumentStore, StoredGroups, Users, Log)
/** The changes to spaces that result from a group's new memberships. */
const changes = ({ id, memberships: before }: Group, after: Memberships): NewEvent[] =>
  [...new Set([...before, ...after].map(({ space }) => space))].flatMap(space => {
    const [was, is] = [before, after].map(list => list.find(one => one.space === space)?.role)
    if (was === is) return []
    const change = was === undefined ? 'added' : is === undefined ? 'removed' : 'role'
    return [event('space.group-changed', { kind: 'space', id: space }, { group: id, change, ...(is && { role: is }) })]
  })
