import { type RefObject, useLayoutEffect, useMemo, useState } from 'react'
import { maxHeightPx, scaleOf } from '../../components/grid-layout.ts'

export const cellRowPx = 32
export const headPx = 76

/** The rows and columns that are rendered. */
export interface GridWindow {
  readonly firstRow: number
  readonly endRow: number
  readonly firstColumn: number
  readonly endColumn: number
}

/** The layout of columns, and what is in view. */
export interface GridPlace {
  readonly window: GridWindow
  /** The left edge of each column, and the right edge of the last one. */
  readonly offsets: Float64Array
  readonly totalPx: number
  readonly bodyPx: number
  /** Whether the list exceeds the maximum height in browsers. */
  readonly scaled: boolean
}

/** Width of the column of row numbers. */
export const numbersPx = (rows: number): number => 24 + String(Math.max(1, rows)).length * 9

const spare = 4
const none: GridWindow = { firstRow: 0, endRow: 0, firstColumn: 0, endColumn: 0 }

/** Tracks scrolling and the size of the box. */
export const useGridWindow = (
  box: RefObject<HTMLElement | null>,
  rows: number,
  columns: readonly { readonly widthPx: number }[],
): GridPlace => {
  const [window, setWindow] = useState(none)
  const [, setTop] = useState(0)
  const offsets = useMemo(() => {
    const starts = new Float64Array(columns.length + 1)
    let at = numbersPx(rows)
    for (const [index, { widthPx }] of columns.entries()) {
      starts[index] = at
      at += widthPx
    }
    starts[columns.length] = at
    return starts
  }, [columns, rows])
  const listPx = rows * cellRowPx
  const scaled = listPx > maxHeightPx

  useLayoutEffect(() => {
    const element = box.current
    if (!element) return undefined
    const look = (): void => {
      const viewPx = element.clientHeight - headPx
      const top = element.scrollTop * scaleOf(listPx, viewPx)
      const left = element.scrollLeft + numbersPx(rows)
      const firstRow = Math.max(0, Math.floor(top / cellRowPx) - spare)
      const endRow = Math.min(rows, Math.ceil((top + viewPx) / cellRowPx) + spare)
      const firstColumn = Math.max(0, columnAt(offsets, left) - 1)
      const endColumn = Math.min(columns.length, columnAt(offsets, element.scrollLeft + element.clientWidth) + 2)
      setWindow(before =>
        before.firstRow === firstRow && before.endRow === endRow && before.firstColumn === firstColumn && before.endColumn === endColumn
          ? before
          : { firstRow, endRow, firstColumn, endColumn },
      )
      if (scaled) setTop(element.scrollTop)
    }
    look()
    element.addEventListener('scroll', look, { passive: true })
    const sizes = new ResizeObserver(look)
    sizes.observe(element)
    return () => {
      element.removeEventListener('scroll', look)
      sizes.disconnect()
    }
  }, [box, rows, listPx, scaled, offsets, columns.length])

  return { window, offsets, totalPx: offsets[columns.length] ?? 0, bodyPx: Math.min(listPx, maxHeightPx), scaled }
}

const columnAt = (offsets: Float64Array, px: number): number => {
  let low = 0
  let high = offsets.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((offsets[middle] ?? 0) <= px) low = middle
    else high = middle - 1
  }
  return low
}
