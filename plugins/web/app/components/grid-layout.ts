import { useSyncExternalStore } from 'react'

/** Browsers limit the height of boxes to 16.7 million pixels; beyond this height scrolling is scaled. */
export const maxHeightPx = 16_000_000
export const headHeightPx = 34
export const wideRowPx = 40
export const narrowRowPx = 56

const narrowScreens = typeof matchMedia === 'undefined' ? undefined : matchMedia('(max-width: 760px)')
const subscribeToWidth = (listener: () => void): (() => void) => {
  narrowScreens?.addEventListener('change', listener)
  return () => narrowScreens?.removeEventListener('change', listener)
}

/** Whether rows have two lines. */
export const useNarrow = (): boolean => useSyncExternalStore(subscribeToWidth, () => narrowScreens?.matches === true)

/** The scale of scrolling: pixels of the list per pixel of the scrollbar. */
export const scaleOf = (listPx: number, viewPx: number): number =>
  listPx <= maxHeightPx ? 1 : (listPx - viewPx) / Math.max(1, maxHeightPx - viewPx)

/** The class of a cell and of its column header. */
export const cellClass = (isNumber: boolean, isWideOnly: boolean): string =>
  `grid-cell${isNumber ? ' number' : ''}${isWideOnly ? ' wide-only' : ''}`
