const together = 200

/** What comes one by one in batches of 200, so that what belongs to them is asked for together. */
export async function* inBatches<T>(all: AsyncIterable<T>): AsyncGenerator<readonly T[]> {
  let batch: T[] = []
  for await (const one of all) {
    batch.push(one)
    if (batch.length < together) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
