import type { Caller } from './model/caller.ts'
import type { Ref } from './model/kind.ts'
import type { Permission } from './model/permission.ts'
import type { Policy } from './ports/policy.ts'
import { Forbidden, NotFound, NotSignedIn } from './problem.ts'
import { isId } from './schema.ts'

/**
 * Refuses what the caller may not do to a thing that a body or a rule names; what path and query name is a route's `of` and `also`.
 * `NotFound` for malformed, unknown and invisible ids alike, `NotSignedIn` for nobody in particular, else `Forbidden`.
 */
export const demand = async (policy: Policy, caller: Caller, permission: Permission, ref: Ref): Promise<void> => {
  const verdict = isId(ref.id) ? await policy.canOn(caller, permission, ref) : 'unseen'
  if (verdict === 'yes') return
  if (verdict === 'unseen') throw new NotFound(ref.kind)
  if (caller.via === 'nothing') throw new NotSignedIn()
  throw new Forbidden(`You may not do this to the ${ref.kind}: it takes the permission ${permission}`)
}
