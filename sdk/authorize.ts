import type { Caller } from './model/caller.ts'
import type { Kind, Ref } from './model/kind.ts'
import type { Permission } from './model/permission.ts'
import type { Policy, TrashRule } from './ports/policy.ts'
import { Forbidden, InTrash, NotFound, NotSignedIn } from './problem.ts'
import { isId } from './schema.ts'

/** The refusal of what someone may not do, to a resource of a kind or at all: it says whether the account, the key or the rights are too small. */
export const lacking = (caller: Caller, permission: Permission, kind?: Kind): Forbidden => {
  const what = `Permission denied${kind === undefined ? '' : ` on the ${kind}`}`
  if (caller.user?.status === 'ReadOnly') return new Forbidden(`${what}: the account is ReadOnly and can only view and download`)
  const isSmallKey = caller.scope === 'extraction' || caller.limits !== undefined
  return new Forbidden(`${what}: ${permission} required${isSmallKey ? ' (the API key has fewer rights than its owner)' : ''}`)
}

/**
 * Refuses what the caller may not do to a resource that a body or a rule names; what path and query name is for the route's `permission` and `alsoRequires`.
 * `NotFound` for malformed, unknown and invisible ids alike, `InTrash` for what is frozen there, `NotSignedIn` for no one in particular, else `Forbidden`.
 */
export const authorize = async (policy: Policy, caller: Caller, permission: Permission, ref: Ref, trash?: TrashRule): Promise<void> => {
  const verdict = isId(ref.id) ? await policy.canOn(caller, permission, ref, trash) : 'unseen'
  if (verdict === 'yes') return
  if (verdict === 'unseen') throw new NotFound(ref.kind)
  if (verdict === 'frozen') throw new InTrash(ref.kind)
  if (caller.via === 'nothing') throw new NotSignedIn()
  throw lacking(caller, permission, ref.kind)
}

/** A resource that is taken out of a container, and the permission on it that its author uses for that. */
export interface Detached extends Ref {
  readonly author: string
  readonly permission: Permission
  readonly isIn: boolean
}

/**
 * Refuses who may not take a resource out of a container: its author may, everyone else needs the permission on the container. A container that is hidden
 * from the author is answered like an unknown one, unless the resource is in it; a limited key, and what is in the trash, change nothing in hidden ones.
 */
export const authorizeDetach = async (
  policy: Policy,
  caller: Caller,
  permission: Permission,
  container: Ref & { readonly kind: 'space' | 'collection' },
  { kind, id, author, permission: own, isIn }: Detached,
): Promise<void> => {
  const isAuthor = author === caller.user?.id
  const isWithdrawn = isAuthor && isIn && caller.limits === undefined && !(await policy.isInTrash(container))
  if (!isWithdrawn) await authorize(policy, caller, container.kind === 'space' ? 'ViewSpace' : 'ViewCollection', container, 'frozen')
  // The author's own right is requested too: it is what a ReadOnly account and an extraction key do not hold.
  const isOwn = isAuthor && (await policy.canOn(caller, own, { kind, id })) === 'yes'
  if (!isOwn) await authorize(policy, caller, permission, container)
}

/**
 * Refuses what a key that is held to spaces would make outside of them. Say whether it goes into a space, or onto something that is in one; the right on
 * that is checked by itself, and reaches no further than the key.
 */
export const requirePlaced = (caller: Caller, isPlaced: boolean): void => {
  if (caller.limits?.spaces && !isPlaced) throw new Forbidden('The API key is limited to spaces: name one of them as the target')
}
