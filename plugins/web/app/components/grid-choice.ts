import type { VirtualGridProps } from './grid-props.ts'
import { allRows, isChosen, type Selection, withRows } from './selection.ts'

/** Selects the rows between two, like Shift. */
export const chooseRange = async <T>(props: VirtualGridProps<T>, from: number, to: number, base: Selection<T>): Promise<void> => {
  const { row, idOf, count, loadRows, onSelect } = props
  const [start, end] = [Math.min(from, to), Math.max(from, to) + 1]
  if (start === 0 && end === count) {
    onSelect?.(allRows)
    return
  }
  const shown = Array.from({ length: Math.min(end - start, 100_000) }, (_, at) => row(start + at))
  const loaded = shown.filter(each => each !== undefined)
  const rows = loaded.length < end - start && loadRows ? await loadRows(start, end) : loaded
  onSelect?.(
    withRows(
      base,
      rows.map(each => [idOf(each), each] as const),
      true,
    ),
  )
}

/** Selects or deselects a row. */
export const toggle = <T>({ selection, onSelect, idOf }: VirtualGridProps<T>, row: T): void => {
  if (selection) onSelect?.(withRows(selection, [[idOf(row), row]], !isChosen(selection, idOf(row))))
}
