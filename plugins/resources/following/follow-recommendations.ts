import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type AnyEvent,
  type BatchHandler,
  type Caller,
  type Contributions,
  Policy,
  type Ref,
  type Resource,
  Resources,
  Users,
  wire,
} from 'pounce/sdk'
import type { Recommendation, Recommender } from 'pounce/sdk/kit'

/** The number that Clowder 1.x returns. */
const maxRecommended = 10

/** Number of followers whose latest follows are read. */
const followers = 100

const ofEach = 200

/** Number of the most followed resources that are considered: some may be deleted or hidden from the caller. */
const candidates = 200

/**
 * Recommends the resources that other followers of a resource follow most. The work is bounded: a sample of followers is read, not all
 * accounts.
 */
export class FollowRecommendations implements Recommender {
  #users: Users
  #policy: Policy
  #resources: Contributions<Resource>

  constructor(users: Users, policy: Policy, resources: Contributions<Resource>) {
    this.#users = users
    this.#policy = policy
    this.#resources = resources
  }

  async recommend(caller: Caller, target: Ref): Promise<readonly Recommendation[]> {
    const ranked = await this.#ranked(caller, target)
    const named = new Map<string, string>()
    for (const [kind, some] of Map.groupBy(ranked, ref => ref.kind)) {
      for (const [id, name] of await this.#named(caller, kind, some)) named.set(id, name)
    }
    const shown = ranked.flatMap(({ kind, id }) => {
      const name = named.get(id)
      return name === undefined ? [] : [{ id, name, objectType: kind }]
    })
    return shown.slice(0, maxRecommended)
  }

  /** The resources that the sampled followers follow, the most followed first. */
  async #ranked(caller: Caller, target: Ref): Promise<readonly Ref[]> {
    const me = caller.user?.id
    const others = await this.#users.followersOf(target.id, followers)
    const own = me === undefined ? undefined : await this.#users.get(me)
    const known = new Set([target.id, ...(me === undefined ? [] : [me]), ...(own?.followed ?? []).map(({ id }) => id)])
    const recommended = new Set(this.#resources.all().flatMap(({ kind, namesOf }) => (namesOf ? [kind] : [])))
    const counted = new Map<string, Ref & { count: number }>()
    for (const { id: follower, followed } of others) {
      if (follower === me) continue
      for (const { kind, id } of followed.slice(-ofEach)) {
        if (known.has(id) || !recommended.has(kind)) continue
        const so = counted.get(id) ?? { kind, id, count: 0 }
        so.count += 1
        counted.set(id, so)
      }
    }
    return [...counted.values()].sort((a, b) => b.count - a.count || (a.id < b.id ? -1 : 1)).slice(0, candidates)
  }

  async #named(caller: Caller, kind: Ref['kind'], some: readonly Ref[]): Promise<ReadonlyMap<string, string>> {
    const seen = await this.#policy.seen(
      caller,
      kind,
      some.map(({ id }) => id),
    )
    const resource = this.#resources.all().find(each => each.kind === kind)
    return (seen.size > 0 && (await resource?.namesOf?.([...seen]))) || new Map()
  }
}
wire(FollowRecommendations, Users, Policy, Resources)

const batchSize = 200

/** Deletes the follows of a deleted resource. */
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
      const found = await this.#users.followersOf(gone.id, batchSize)
      const followers = found.filter(({ followed }) => followed.some(({ kind, id }) => kind === gone.kind && id === gone.id))
      if (followers.length === 0) return
      for (const { id } of followers) await this.#users.change(id, { pull: { followed: [gone] } }, [])
    }
  }
}
wire(DeleteFollowsOnTargetRemoved, Users)
