import { signedIn } from './authorize.ts'
import { event } from './events.ts'
import type { Caller } from './model/caller.ts'
import type { Ref } from './model/kind.ts'
import type { Contributions } from './port.ts'
import type { Recommendation, Recommender } from './ports/contributed.ts'
import type { Policy } from './ports/policy.ts'
import type { Users } from './ports/users.ts'
import { Invalid, NotFound } from './problem.ts'
import * as s from './schema.ts'

const maxFollowed = 10_000

/** Response of the routes that follow a resource. */
export const FollowAnswer = s.model(
  'FollowResult',
  s.Object({
    status: s.String({ description: '`success`' }),
    recommendations: s.Optional(
      s.Array(s.Object({ id: s.String(), name: s.String(), objectType: s.String() }), {
        description: 'Recommendations: the resources most followed by other followers, at most 10; absent if there are none',
      }),
    ),
  }),
)

/** The dependencies of `follow`; declare both in the route group. */
export interface Following {
  readonly users: Users
  readonly recommenders: Contributions<Recommender>
}

/** Follows a resource for the caller, and returns recommendations. Idempotent: a second call emits no event. */
export const follow = async (
  { users, recommenders }: Following,
  caller: Caller,
  target: Ref,
): Promise<{ readonly status: 200; readonly body: s.Static<typeof FollowAnswer> }> => {
  await begin(users, caller, target)
  const found: Recommendation[] = []
  for (const recommender of recommenders.all()) found.push(...(await recommender.recommend(caller, target)))
  return { status: 200, body: { status: 'success', ...(found.length > 0 ? { recommendations: found } : {}) } }
}

const begin = async (users: Users, caller: Caller, target: Ref): Promise<void> => {
  const { id } = signedIn(caller)
  const followed = (await users.get(id))?.followed ?? []
  if (followed.some(ref => ref.kind === target.kind && ref.id === target.id)) return
  if (followed.length >= maxFollowed) throw new Invalid(`Maximum of ${maxFollowed} followed resources reached; unfollow some first`)
  const ref = { kind: target.kind, id: target.id }
  await users.change(id, { addToSet: { followed: [ref] } }, [event('user.followed', { kind: 'user', id }, { target: ref }, id)])
}

/**
 * Unfollows a resource, even one that the caller may no longer view. Unfollowing a resource that is not followed emits no event and is not an error, but throws
 * `NotFound` if the caller may not view it.
 */
export const unfollow = async (users: Users, policy: Policy, caller: Caller, target: Ref): Promise<void> => {
  const { id } = signedIn(caller)
  const ref = { kind: target.kind, id: target.id }
  const followed = (await users.get(id))?.followed ?? []
  if (!followed.some(({ kind, id }) => kind === ref.kind && id === ref.id)) {
    if (!(await policy.seen(caller, ref.kind, [ref.id])).has(ref.id)) throw new NotFound(ref.kind)
    return
  }
  await users.change(id, { pull: { followed: [ref] } }, [event('user.unfollowed', { kind: 'user', id }, { target: ref }, id)])
}
