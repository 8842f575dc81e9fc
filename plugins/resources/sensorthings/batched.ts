interface Batch<K, V> {
  readonly keys: K[]
  readonly values: Promise<ReadonlyMap<K, V>>
}

/** Gathers the keys of one turn, and asks for `most` of them at once; for each key once. What `many` does not find is undefined. */
export const batched = <K, V>(
  most: number,
  many: (keys: readonly K[]) => Promise<ReadonlyMap<K, V>>,
): ((key: K) => Promise<V | undefined>) => {
  const known = new Map<K, Promise<V | undefined>>()
  let open: Batch<K, V> | undefined
  const begin = (): Batch<K, V> => {
    const keys: K[] = []
    const values = new Promise<void>(resolve => setImmediate(resolve)).then(() => {
      if (open === batch) open = undefined
      return many(keys)
    })
    const batch: Batch<K, V> = { keys, values }
    return batch
  }
  return key => {
    const found = known.get(key)
    if (found) return found
    const batch = open ?? begin()
    batch.keys.push(key)
    open = batch.keys.length < most ? batch : undefined
    const value = batch.values.then(values => values.get(key))
    known.set(key, value)
    return value
  }
}
