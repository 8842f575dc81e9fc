/** Works on items some ahead of the one that is handed out, in their order. */
export async function* ahead<T, R>(items: Iterable<T>, count: number, work: (item: T) => Promise<R>): AsyncGenerator<readonly [T, R]> {
  const waiting: { readonly item: T; readonly result: Promise<R> }[] = []
  for (const item of items) {
    const result = work(item)
    // Whoever is handed it hears of a failure; when nobody is any more, nobody has to.
    result.catch(() => undefined)
    waiting.push({ item, result })
    const first = waiting.length > count ? waiting.shift() : undefined
    if (first) yield [first.item, await first.result]
  }
  for (const { item, result } of waiting) yield [item, await result]
}
