import type { After, Page } from './ports/document-store.ts'

/** The first items of an owner. */
export interface FirstItems<O, T> {
  readonly owner: O
  readonly items: readonly T[]
  /** Present if the owner may have more items. */
  readonly next?: After
}

/** How the items of some owners are read together and distinguished. */
export interface ItemsOfOwners<O, T> {
  /** The items of all these owners in a common order. */
  readonly read: (owners: readonly O[], page: { readonly after?: After; readonly limit: number }) => Promise<Page<T>>
  /** The id of the owner of an item. */
  readonly ownerOf: (item: T) => string
}

const pageSize = 1000

/**
 * The first items of each owner, in the order of the owners, which may repeat. One read serves all of them if its page has everything; otherwise each half is
 * read separately, so that only owners with very many or very large items are read alone. Memory: one page.
 */
export async function* firstOfEach<O extends { readonly id: string }, T>(
  owners: readonly O[],
  { read, ownerOf }: ItemsOfOwners<O, T>,
): AsyncGenerator<FirstItems<O, T>> {
  const distinct = [...new Map(owners.map(owner => [owner.id, owner])).values()]
  if (distinct.length === 0) return
  const { items, next } = await read(distinct, { limit: pageSize })
  if (next && distinct.length > 1) {
    const half = distinct.length >> 1
    const firstHalf = new Set(distinct.slice(0, half).map(({ id }) => id))
    const at = owners.findIndex(({ id }) => !firstHalf.has(id))
    for (const some of [owners.slice(0, at), owners.slice(at)]) yield* firstOfEach(some, { read, ownerOf })
    return
  }
  const byOwner = Map.groupBy(items, ownerOf)
  for (const owner of owners) yield { owner, items: byOwner.get(owner.id) ?? [], ...(next ? { next } : {}) }
}
