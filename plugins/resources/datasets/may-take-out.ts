import { authorize, type Caller, type Permission, type Policy, type Ref } from 'pounce/sdk'
import type { Dataset } from './collection.ts'

/** Whoever made a dataset may take it out of what it is in; everybody else needs the right on the container. */
export const mayTakeOut = async (
  policy: Policy,
  caller: Caller,
  permission: Permission,
  container: Ref,
  { id, author }: Pick<Dataset, 'id' | 'author'>,
): Promise<void> => {
  // The author's own right is asked for too: it is what a ReadOnly account and an extraction key do not hold.
  const isOwn = author === caller.user?.id && (await policy.canOn(caller, 'DeleteDataset', { kind: 'dataset', id })) === 'yes'
  if (!isOwn) await authorize(policy, caller, permission, container)
}
