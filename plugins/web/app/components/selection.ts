/** Selected rows: these, or all of a list except these. The rows are kept with their IDs, so that sizes can be summed without loading them again. */
export interface Selection<T> {
  readonly isAllBut: boolean
  readonly rows: ReadonlyMap<string, T>
}

/** Nothing is selected. */
export const noRows: Selection<never> = { isAllBut: false, rows: new Map<string, never>() }

/** All rows are selected, including those that are not loaded. */
export const allRows: Selection<never> = { isAllBut: true, rows: new Map<string, never>() }

export const isChosen = <T>({ isAllBut, rows }: Selection<T>, id: string): boolean => rows.has(id) !== isAllBut

/** How many of `total` rows are selected. */
export const chosenCount = <T>({ isAllBut, rows }: Selection<T>, total: number): number =>
  isAllBut ? Math.max(0, total - rows.size) : rows.size

/** The sum of a quantity over the selected rows; undefined for "all except" where the sum over the whole list is unknown. */
export const chosenSum = <T>(
  { isAllBut, rows }: Selection<T>,
  weight: (row: T) => number,
  totalSum: number | undefined,
): number | undefined => {
  let sum = 0
  for (const row of rows.values()) sum += weight(row)
  if (!isAllBut) return sum
  return totalSum === undefined ? undefined : totalSum - sum
}

/** The selection with these rows added or removed. */
export const withRows = <T>({ isAllBut, rows }: Selection<T>, more: Iterable<readonly [string, T]>, choose: boolean): Selection<T> => {
  const next = new Map(rows)
  for (const [id, row] of more) {
    if (choose === isAllBut) next.delete(id)
    else next.set(id, row)
  }
  return { isAllBut, rows: next }
}
