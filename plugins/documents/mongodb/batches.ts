import { type Change, keysOf } from 'pounce/sdk/store-kit'
import { collectionOf, idOf } from './mongodb-writer.ts'

/** Maximum number of changes sent concurrently. */
const maxChanges = 64

interface Claims {
  /** What no other change in a batch may claim. */
  readonly own: readonly string[]
  /** The collection, when the change may free a unique key or claim one that cannot be compared with those of other changes. */
  readonly whole?: string
  readonly collection: string
}

const uniqueKeys = (change: Change): readonly string[] => {
  if (!('insert' in change)) return []
  try {
    return Object.entries(change.into.indexes).flatMap(([name, index]) =>
      index.unique ? keysOf(index, change.insert).map(key => `${change.into.name} ${name} ${JSON.stringify(key)}`) : [],
    )
  } catch {
    // It will be rejected, and claims no key.
    return []
  }
}

const claimsOf = (change: Change): Claims => {
  const { name, indexes } = collectionOf(change)
  const own = [`${name}/${idOf(change)}`, ...uniqueKeys(change)]
  const isWhole = !('insert' in change) && Object.values(indexes).some(({ unique }) => unique)
  return isWhole ? { own, whole: name, collection: name } : { own, collection: name }
}

class Batch<T> {
  readonly items: T[] = []
  readonly #claimed = new Set<string>()
  readonly #collections = new Set<string>()
  readonly #whole = new Set<string>()

  hasRoomFor({ own, whole, collection }: Claims): boolean {
    if (this.items.length === maxChanges || this.#whole.has(collection)) return false
    return !own.some(claim => this.#claimed.has(claim)) && (whole === undefined || !this.#collections.has(whole))
  }

  add(item: T, { own, whole, collection }: Claims): void {
    this.items.push(item)
    for (const claim of own) this.#claimed.add(claim)
    this.#collections.add(collection)
    if (whole !== undefined) this.#whole.add(whole)
  }
}

/**
 * Splits changes into batches whose changes can be sent concurrently: of two changes that affect the same document or may conflict
 * on a unique key, the earlier one is in an earlier batch.
 */
export const batchesOf = <T extends { readonly change: Change }>(items: readonly T[]): readonly (readonly T[])[] => {
  const batches: Batch<T>[] = []
  for (const item of items) {
    const claims = claimsOf(item.change)
    let batch = batches.at(-1)
    if (!batch?.hasRoomFor(claims)) {
      batch = new Batch()
      batches.push(batch)
    }
    batch.add(item, claims)
  }
  return batches.map(batch => batch.items)
}
