/** Groups items into batches, of 200 unless another size is given, so that related records are read together. Throws when the signal is aborted. */
export async function* inBatches<T>(
  all: AsyncIterable<T>,
  { size = 200, signal }: { readonly size?: number; readonly signal?: AbortSignal | undefined } = {},
): AsyncGenerator<readonly T[]> {
  let batch: T[] = []
  for await (const one of all) {
    signal?.throwIfAborted()
    batch.push(one)
    if (batch.length < size) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
