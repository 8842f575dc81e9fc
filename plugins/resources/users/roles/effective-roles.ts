import {
  type After,
  type Contributions,
  type GroupRecord,
  type Groups,
  KnownGroups,
  type Membership,
  type UserRecord,
  wire,
} from 'pounce/sdk'
import { type LiveRole, StoredRoles } from './stored-roles.ts'

const none: readonly Membership[] = []

/** The roles that users currently hold in spaces, directly and through their groups. */
export class EffectiveRoles {
  #roles: StoredRoles
  #groups: Contributions<Groups>

  constructor(roles: StoredRoles, groups: Contributions<Groups>) {
    this.#roles = roles
    this.#groups = groups
  }

  /** Roles of the account itself come first. */
  async of({ memberships, groups }: Pick<UserRecord, 'memberships' | 'groups'>): Promise<readonly Membership[]> {
    const [known] = groups?.length ? this.#groups.all() : []
    if (!known) return memberships.length === 0 ? none : withRoles(memberships, await this.#roles.live())
    const [live, given] = await Promise.all([this.#roles.live(), known.live(groups ?? [])])
    return [...withRoles(memberships, live), ...[...given].flatMap(([group, those]) => withRoles(those, live, group))]
  }

  /** Ids of the groups that are members of a space. */
  async groupsIn(space: string): Promise<readonly string[]> {
    const [known] = this.#groups.all()
    const ids: string[] = []
    let after: After | undefined
    do {
      const page = await known?.inSpace(space, { limit: 1000, ...(after ? { after } : {}) })
      for (const { id } of page?.items ?? []) ids.push(id)
      after = page?.next
    } while (after)
    return ids
  }
}
wire(EffectiveRoles, StoredRoles, KnownGroups)
/** A role that no longer exists grants nothing. */
const withRoles = (memberships: GroupRecord['memberships'], roles: ReadonlyMap<string, LiveRole>, group?: string): Membership[] =>
  memberships.flatMap(({ space, role }) => {
    const live = roles.get(role)
    if (!live) return []
    const membership = { space, role: live.id, roleName: live.name, permissions: live.permissions }
    return [group === undefined ? membership : { ...membership, group }]
  })
