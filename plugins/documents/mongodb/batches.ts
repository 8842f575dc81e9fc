import type { Change, Collection } from 'pounce/sdk'
import { collectionOf, idOf } from './writer.ts'

/** At most so many changes are sent side by side. */
const most = 64

/** What must not be in one batch twice: of two changes of one document, or two that may need one unique key, the earlier comes first. */
const claimsOf = (change: Change): readonly string[] => {
  const collection: Collection<object> = collectionOf(change)
  const hasUnique = Object.values(collection.indexes).some(({ unique }) => unique)
  return [`${collection.name}/${idOf(change)}`, ...(hasUnique ? [collection.name] : [])]
}

/** Changes cut into runs, each of which can be sent side by side without making a difference. */
export const batchesOf = <T extends { readonly change: Change }>(items: readonly T[]): readonly (readonly T[])[] => {
  const batches: T[][] = []
  let claimed = new Set<string>()
  for (const item of items) {
    const claims = claimsOf(item.change)
    const batch = batches.at(-1)
    if (batch === undefined || batch.length === most || claims.some(claim => claimed.has(claim))) {
      claimed = new Set(claims)
      batches.push([item])
    } else {
      for (const claim of claims) claimed.add(claim)
      batch.push(item)
    }
  }
  return batches
}
