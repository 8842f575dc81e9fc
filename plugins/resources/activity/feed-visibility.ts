import { type Caller, Policy, type Ref, type Stored, wire } from 'pounce/sdk'
import type { ActivityRecord } from './activity-lines.ts'
import { FeedNames } from './feed-names.ts'

type Line = ActivityRecord & Stored

/** What one caller may see of the things that lines name. */
interface Sight {
  readonly allowed: ReadonlySet<string>
  readonly existing: ReadonlySet<string>
}

/** Leaves of lines what the caller may see now, whatever they could see when it happened. */
export class FeedVisibility {
  #policy: Policy
  #things: FeedNames

  constructor(policy: Policy, things: FeedNames) {
    this.#policy = policy
    this.#things = things
  }

  async visible(caller: Caller, lines: readonly Line[]): Promise<readonly Line[]> {
    const named = lines.flatMap(({ object, source }) => [...(object ? [object] : []), ...(source ? [source] : [])])
    const sight = await this.#look(
      caller,
      named,
      lines.flatMap(({ within }) => within),
    )
    return lines.filter(line => this.#isVisible(caller, line, sight))
  }

  #isVisible(caller: Caller, line: Line, sight: Sight): boolean {
    if (line.object === null) return line.user === caller.user?.id
    if (line.objectName === '') return false
    // A key for some spaces does not hear what its owner did elsewhere.
    const isOwn = line.user === caller.user?.id && caller.limits?.spaces === undefined && !line.type.startsWith('mention_')
    const shows = (ref: Ref) => sight.allowed.has(ref.id) || (isOwn && !sight.existing.has(ref.id))
    if (line.source && !shows(line.source)) return false
    return shows(line.object) || (!sight.existing.has(line.object.id) && this.#wasSeen(line, sight))
  }

  /** Of what is gone one hears where one may look at the place it was in; on a public server of all that was no part of something else. */
  #wasSeen({ type, object, within }: Line, { allowed }: Sight): boolean {
    if (!type.startsWith('delete_')) return false
    return within.some(({ id }) => allowed.has(id)) || (!this.#policy.isPrivate && object?.kind !== 'file')
  }

  async #look(caller: Caller, named: readonly Ref[], places: readonly Ref[]): Promise<Sight> {
    const allowed = new Set<string>()
    for (const [kind, some] of Map.groupBy([...named, ...places], ref => ref.kind)) {
      const ids = [...new Set(some.map(({ id }) => id))]
      for (const id of await this.#policy.seen(caller, kind, ids)) allowed.add(id)
    }
    const others = named.filter(({ id }) => !allowed.has(id))
    return { allowed, existing: new Set((await this.#things.of(others)).keys()) }
  }
}
wire(FeedVisibility, Policy, FeedNames)
