import { setImmediate as nextTurn } from 'node:timers/promises'
import { type AnyEvent, type BatchHandler, type Ref, Users, wire } from 'pounce/sdk'

const batch = 200

/** What is gone is followed by nobody. */
export class DeleteFollowsOnTargetRemoved implements BatchHandler {
  #users: Users

  constructor(users: Users) {
    this.#users = users
  }

  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    for (const [at, { subject }] of events.entries()) {
      await this.#forget({ kind: subject.kind, id: subject.id })
      if (at % 20 === 19) await nextTurn()
    }
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
wire(DeleteFollowsOnTargetRemoved, Users)
