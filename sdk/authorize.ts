import { type Caller, type CallerUser, isServerAdmin } from './model/caller.ts'
import type { Kind, Ref } from './model/kind.ts'
import { type Permission, readingPermissions } from './model/permission.ts'
import type { Policy, TrashRule } from './ports/policy.ts'
import { Forbidden, InTrash, NotFound, NotSignedIn, StepUpRequired } from './problem.ts'
import { isId } from './schema.ts'

/**
 * The signed-in user; throws `NotSignedIn` for anonymous callers, and `Forbidden` for the communication key, which has no account. For routes whose
 * permission already requires an account.
 */
export const signedIn = (caller: Caller): CallerUser => {
  if (caller.via === 'service') throw new Forbidden('The communication key has no account: send an API key of a user')
  if (!caller.user) throw new NotSignedIn()
  return caller.user
}

/** How the caller's key limits their rights, as the end of a refusal. */
const keyLimit = ({ via, scope, limits }: Caller): string => {
  if (via === 'service') return ' (the communication key has only the rights of extractors)'
  return scope === 'extraction' || limits !== undefined ? ' (the API key has fewer rights than its owner)' : ''
}

/**
 * The refusal for a missing permission, on a kind of resource or in general. Its message names the cause: the account's status, the API key or the missing
 * permission.
 */
export const permissionDenied = (caller: Caller, permission: Permission, kind?: Kind): Forbidden => {
  const what = `Permission denied${kind === undefined ? '' : ` on the ${kind}`}`
  const isChange = !readingPermissions.has(permission) && permission !== 'DownloadFiles'
  if (caller.user?.status === 'ReadOnly' && isChange)
    return new Forbidden(`${what}: the account is ReadOnly and can only view and download`)
  return new Forbidden(`${what}: ${permission} required${keyLimit(caller)}`)
}

/**
 * Throws unless the caller has a permission on a resource named in a body or a rule; for resources named by path and query use the route's `permission` and
 * `alsoRequires`. `NotFound` for malformed, unknown and invisible ids alike, `InTrash` for a frozen resource in the trash, `NotSignedIn` for anonymous callers,
 * otherwise `Forbidden`.
 */
export const authorize = async (policy: Policy, caller: Caller, permission: Permission, ref: Ref, trash?: TrashRule): Promise<void> => {
  const decision = isId(ref.id) ? await policy.canOn(caller, permission, ref, trash) : 'unseen'
  if (decision === 'yes') return
  if (decision === 'unseen') throw new NotFound(ref.kind)
  if (decision === 'frozen') throw new InTrash(ref.kind)
  if (caller.via === 'nothing') throw new NotSignedIn()
  throw permissionDenied(caller, permission, ref.kind)
}

/** Throws `StepUpRequired` unless the caller has authenticated recently enough. */
export const requireRecentAuthentication = ({ stepUp }: Caller): void => {
  if (stepUp) throw new StepUpRequired(stepUp.message, { details: { methods: stepUp.methods } })
}

/**
 * For a change that only server admins may make, on a route that others may use for other changes: throws `Forbidden` with this message for them, and
 * `StepUpRequired` for an admin who has not authenticated recently. A route for server admins alone declares `serverAdmin`, which does the same.
 */
export const requireServerAdmin = (caller: Caller, refusal: string): void => {
  if (!isServerAdmin(caller)) throw new Forbidden(refusal)
  requireRecentAuthentication(caller)
}

/** A resource to be detached from a container, and the permission on it that lets its author do so. */
export interface Detached extends Ref {
  readonly author: string
  readonly permission: Permission
  readonly isIn: boolean
}

/**
 * Throws unless the caller may detach a resource from a container: its author may; everyone else needs the permission on the container. A container hidden from
 * the author is answered like an unknown one unless it contains the resource. With a limited key, or for a resource in the trash, hidden containers cannot be
 * changed.
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
  // Also check the author's own permission: ReadOnly accounts and extraction keys lack it.
  const isOwn = isAuthor && (await policy.canOn(caller, own, { kind, id })) === 'yes'
  if (!isOwn) await authorize(policy, caller, permission, container)
}

/**
 * Throws `Forbidden` when a key limited to spaces would create something outside of them. Pass whether the new resource is placed in a space or on a resource
 * in one; the permission on that target is checked separately and is limited by the key as well.
 */
export const requirePlaced = (caller: Caller, isPlaced: boolean): void => {
  if (caller.limits?.spaces && !isPlaced) throw new Forbidden('The API key is limited to spaces: name one of them as the target')
}
