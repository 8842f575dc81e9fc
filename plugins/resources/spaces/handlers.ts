import { type StoredEvent, wire } from 'pounce/sdk'
import { type Members, SpaceMembers } from './members.ts'

/** A space that is gone has no members. */
export class ReleaseMembers {
  #members: Members

  constructor(members: Members) {
    this.#members = members
  }

  async handle({ subject }: StoredEvent<'space.removed'>): Promise<void> {
    await this.#members.release(subject.id)
  }
}
wire(ReleaseMembers, SpaceMembers)
