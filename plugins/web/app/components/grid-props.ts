import type { DragEvent, KeyboardEvent, ReactNode, Ref } from 'react'
import type { GridAction } from './grid-menu.tsx'
import type { Selection } from './selection.ts'

export interface GridColumn<T> {
  readonly id: string
  readonly title: string
  /** A track of CSS grid, such as `6rem`. The first column takes the remaining width by default. */
  readonly width?: string
  /** Numbers are right-aligned. */
  readonly isNumber?: boolean
  readonly isSortable?: boolean
  /** Hidden where rows have two lines. The first column is the first line; the others form the second. */
  readonly isWideOnly?: boolean
  /** Plain elements; a link needs `tabIndex={-1}`. `data-tip` on an element is its tooltip, `data-tip=""` its own text where that is cut off. */
  readonly cell: (row: T) => ReactNode
}

export interface GridSort {
  readonly column: string
  readonly order: 'ascending' | 'descending'
}

/** The methods of a grid for pages. */
export interface GridHandle {
  /** Scrolls to a row, by default the active one, and focuses it. */
  focusRow(index?: number): void
}

export interface VirtualGridProps<T> {
  /** The grid's name for screen readers. */
  readonly label: string
  /** Number of rows, loaded or not; up to a million. */
  readonly count: number
  /** A row, or undefined while it is not loaded. Must change its identity when rows change: memoize it with what it reads. */
  readonly row: (index: number) => T | undefined
  readonly idOf: (row: T) => string
  /** For labels of checkboxes and for type-ahead. */
  readonly nameOf: (row: T) => string
  readonly columns: readonly GridColumn<T>[]
  /** Called when rows from `start` to before `end` are in view: load those that are missing. */
  readonly onRange?: (start: number, end: number) => void
  readonly sort?: GridSort | undefined
  readonly onSort?: (sort: GridSort) => void
  /** With both, rows can be selected. */
  readonly selection?: Selection<T>
  readonly onSelect?: (selection: Selection<T>) => void
  /** Loads rows from `start` to before `end`: for ranges selected by Shift that are not in view, and for type-ahead. Without it only loaded rows are selected and found. */
  readonly loadRows?: (start: number, end: number) => Promise<readonly T[]>
  /** The menu items of a row: one menu for the whole grid, opened by the row's button, the pointer, or Shift+F10. */
  readonly actions?: (row: T) => readonly GridAction[]
  /** Enter, and a double click. */
  readonly onOpen?: (row: T) => void
  /** F2. */
  readonly onRename?: (row: T) => void
  /** Delete, for the focused row; the page decides whether it applies to the selected rows. */
  readonly onDelete?: (row: T) => void
  /** Backspace and Alt+↑. */
  readonly onUp?: () => void
  /** Other keys, before the grid handles them; returns true when the page has handled the key. */
  readonly onKey?: (event: KeyboardEvent, row: T | undefined) => boolean
  /** Makes rows draggable: fill `event.dataTransfer`. */
  readonly onDragRow?: (event: DragEvent, row: T) => void
  /** The action for a drop on a row; undefined where dropping is not possible. */
  readonly dropOn?: (row: T, event: DragEvent) => (() => void) | undefined
  /** Shown instead of rows when `count` is 0. */
  readonly empty?: ReactNode
  /** Identifies the list: scroll position and active row are restored when a grid with this key is mounted again. */
  readonly restoreKey?: string
  readonly handle?: Ref<GridHandle>
}
