import { type RefObject, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { headHeightPx, scaleOf } from './grid-layout.ts'
import type { VirtualGridProps } from './grid-props.ts'
import { selectionBarTop } from './selection-bar.tsx'

/** The row that has the focus, or gets it by Tab. */
export interface ActiveRow {
  readonly active: number
  /** Set when the row is to get the focus as soon as it is rendered. */
  readonly shouldFocus: RefObject<boolean>
  /** The anchor of a range that Shift extends. */
  readonly anchor: RefObject<number>
  /** Number of rows in view. */
  pageSize(): number
  /** Makes a row the active one, scrolls it into view and focuses it. */
  move(index: number): void
  /** Makes a row the active one without scrolling. */
  set(index: number): void
}

/** Keeps one row active while rows are added and removed around it. */
export const useActiveRow = <T>(
  { count, row, idOf, selection }: VirtualGridProps<T>,
  grid: RefObject<HTMLDivElement | null>,
  rowPx: number,
): ActiveRow => {
  const [place, setPlace] = useState<{ readonly index: number; readonly id: string | undefined }>({ index: 0, id: undefined })
  const shouldFocus = useRef(false)
  const anchor = useRef(0)
  const active = Math.max(0, Math.min(place.index, count - 1))

  const reveal = useCallback(
    (index: number) => {
      const box = grid.current
      if (!box) return
      const bottom = box.getBoundingClientRect().bottom
      const covered = Math.max(0, Math.min(bottom, innerHeight) - (selectionBarTop() ?? bottom))
      const viewPx = box.clientHeight - headHeightPx
      const scale = scaleOf(count * rowPx, viewPx)
      const from = box.scrollTop * scale
      const top = index * rowPx
      if (top < from) box.scrollTop = top / scale
      else if (top + rowPx > from + viewPx - covered) box.scrollTop = (top + rowPx - viewPx + covered) / scale
    },
    [grid, count, rowPx],
  )

  // The selection bar appears with the first selected row; it must not cover that.
  const hasChosen = selection !== undefined && (selection.isAllBut || selection.rows.size > 0)
  useEffect(() => {
    if (hasChosen && grid.current?.contains(document.activeElement)) reveal(active)
  }, [hasChosen, active, reveal, grid])

  // Rows added or removed above the active one must not make another row active, not even for a key pressed before the next frame.
  useLayoutEffect(() => {
    const { index, id } = place
    if (id === undefined) return
    const isAt = (at: number): boolean => {
      const other = at >= 0 && at < count ? row(at) : undefined
      return other !== undefined && idOf(other) === id
    }
    if (isAt(index)) return
    for (let distance = 1; distance <= 100; distance++) {
      const found = isAt(index - distance) ? index - distance : isAt(index + distance) ? index + distance : undefined
      if (found === undefined) continue
      shouldFocus.current = grid.current?.contains(document.activeElement) === true
      setPlace({ index: found, id })
      return
    }
  }, [row, count, idOf, place, grid])

  return useMemo(() => {
    const set = (index: number): void => {
      const shown = row(index)
      setPlace({ index, id: shown === undefined ? undefined : idOf(shown) })
    }
    return {
      active,
      shouldFocus,
      anchor,
      pageSize: () => Math.max(1, Math.floor(((grid.current?.clientHeight ?? 0) - headHeightPx) / rowPx) - 1),
      move: index => {
        const next = Math.max(0, Math.min(index, count - 1))
        shouldFocus.current = true
        reveal(next)
        set(next)
      },
      set,
    }
  }, [active, count, grid, idOf, reveal, row, rowPx])
}

const places = new Map<string, { readonly scrollTop: number; readonly active: number }>()

/** Restores the position at which the list was left. */
export const useRestoredPlace = (
  grid: RefObject<HTMLDivElement | null>,
  key: string | undefined,
  count: number,
  focus: ActiveRow,
): void => {
  const isRestored = useRef(false)
  const { active } = focus
  const latest = useRef(active)
  latest.current = active
  const hasRows = count > 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, as soon as there are rows
  useLayoutEffect(() => {
    const place = key === undefined ? undefined : places.get(key)
    if (isRestored.current || !hasRows) return
    isRestored.current = true
    if (!place || !grid.current) return
    focus.set(place.active)
    grid.current.scrollTop = place.scrollTop
  }, [hasRows])
  useEffect(() => {
    const box = grid.current
    if (key === undefined || !box || !hasRows) return undefined
    let scrollTop = box.scrollTop
    const note = (): void => {
      scrollTop = box.scrollTop
    }
    box.addEventListener('scroll', note, { passive: true })
    return () => {
      box.removeEventListener('scroll', note)
      places.set(key, { scrollTop, active: latest.current })
    }
  }, [grid, key, hasRows])
}
