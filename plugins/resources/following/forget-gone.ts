import { type AnyEvent, type BatchHandler, type Ref, Users, wire } from 'pounce/sdk'

const batch = 200

/** What is gone is followed by nobody. */
export class ForgetGone implements BatchHandler {
  #users: Users

  constructor(users: Users) {
    this.#users = users
  }

  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    for (const { subject } of events) await this.#forget({ kind: subject.kind, id: subject.id })
  }

  async #forget(gone: Ref): Promise<void> {
    for (;;) {
      const found = await this.#users.followersOf(gone.id, batch)
      const followers = found.filter(({ followed }) => followed.some(({ kind, id }) => kind === gone.kind && id === gone.id))
      if (followers.length === 0) return
      for (const { id } of followers) await this.#users.change(id, { pull: { followed: [gone] } }, [])
    }
  }
}
wire(ForgetGone, Users)
