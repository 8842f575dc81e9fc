import { type After, Groups, type StoredEvent, wire } from 'pounce/sdk'
import { GroupMembers, type MembersOfGroups } from './members-of-groups.ts'
import { AllGroups, type StoredGroups } from './stored-groups.ts'

/** Nobody belongs to a group that is gone. */
export class EmptyGroup {
  #members: MembersOfGroups

  constructor(members: MembersOfGroups) {
    this.#members = members
  }

  async handle({ subject }: StoredEvent<'group.removed'>): Promise<void> {
    await this.#members.release(subject.id)
  }
}
wire(EmptyGroup, GroupMembers)

/** No group is a member of a space that is gone. */
export class LeaveSpace {
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
wire(LeaveSpace, Groups)

/** Groups that held a role that is gone hold its successor. */
export class FollowRole {
  #groups: StoredGroups

  constructor(groups: StoredGroups) {
    this.#groups = groups
  }

  async handle({ subject, data }: StoredEvent<'role.removed'>): Promise<void> {
    await this.#groups.handOver(subject.id, data.successor)
  }
}
wire(FollowRole, AllGroups)
