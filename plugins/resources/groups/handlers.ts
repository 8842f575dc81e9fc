import { type After, Groups, type StoredEvent, wire } from 'pounce/sdk'
import { GroupMembers } from './group-members.ts'
import { StoredGroups } from './stored-groups.ts'

/** Removes the members of a deleted group. */
export class DeleteMembershipsOnGroupRemoved {
  #members: GroupMembers

  constructor(members: GroupMembers) {
    this.#members = members
  }

  async handle({ subject }: StoredEvent<'group.removed'>): Promise<void> {
    await this.#members.release(subject.id)
  }
}
wire(DeleteMembershipsOnGroupRemoved, GroupMembers)

/** Removes groups from a deleted space. */
export class DetachGroupsOnSpaceRemoved {
  #groups: Groups

  constructor(groups: Groups) {
    this.#groups = groups
  }

  async handle({ subject }: StoredEvent<'space.removed'>): Promise<void> {
    let after: After | undefined
    do {
      const page = await this.#groups.inSpace(subject.id, { limit: 200, ...(after ? { after } : {}) })
      for (const { id } of page.items) await this.#groups.setMembership(id, subject.id, undefined)
      after = page.next
    } while (after)
  }
}
wire(DetachGroupsOnSpaceRemoved, Groups)

/** Replaces a deleted role of groups with its successor. */
export class ReplaceGroupRoleOnRoleRemoved {
  #groups: StoredGroups

  constructor(groups: StoredGroups) {
    this.#groups = groups
  }

  async handle({ subject, data }: StoredEvent<'role.removed'>): Promise<void> {
    await this.#groups.handOver(subject.id, data.successor)
  }
}
wire(ReplaceGroupRoleOnRoleRemoved, StoredGroups)
