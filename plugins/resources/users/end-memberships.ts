import { type Handler, type StoredEvent, Users, wire } from 'pounce/sdk'

/** A space that is gone has no members. */
export class EndMemberships implements Handler<'space.removed'> {
  #users: Users

  constructor(users: Users) {
    this.#users = users
  }

  async handle({ subject, actor }: StoredEvent<'space.removed'>): Promise<void> {
    for (;;) {
      const { items } = await this.#users.membersOf(subject.id, { limit: 500 })
      if (items.length === 0) return
      for (const { id } of items) await this.#users.setMembership(id, subject.id, undefined, actor)
    }
  }
}
wire(EndMemberships, Users)
