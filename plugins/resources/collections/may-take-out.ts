import { authorize, type Caller, type Permission, type Policy, type Ref } from 'pounce/sdk'
import type { Collected } from './collection.ts'

/** Whoever made a thing may take it out of what it is in; everybody else needs the right on the container. */
export const mayTakeOut = async (
  policy: Policy,
  caller: Caller,
  permission: Permission,
  container: Ref,
  { id, author }: Collected,
): Promise<void> => {
  // The author's own right is asked for too: it is what a ReadOnly account and an extraction key do not hold.
  const isOwn = author === caller.user?.id && (await policy.canOn(caller, 'DeleteCollection', { kind: 'collection', id })) === 'yes'
  if (!isOwn) await authorize(policy, caller, permission, container)
}
