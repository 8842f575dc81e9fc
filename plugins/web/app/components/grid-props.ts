import type { DragEvent, KeyboardEvent, ReactNode, Ref } from 'react'
import type { GridAction } from './grid-menu.tsx'
import type { Selection } from './selection.ts'

export interface GridColumn<T> {
  readonly id: string
  readonly title: string
  /** A track of CSS grid, such as `6rem`. The first column takes what is left, unless it says otherwise. */
  readonly width?: string
  /** Numbers stand to the right. */
  readonly isNumber?: boolean
  readonly isSortable?: boolean
  /** Not shown where rows have two lines. The first column is the first line; the others are the second one. */
  readonly isWideOnly?: boolean
  /** Plain elements; a link needs `tabIndex={-1}`. `data-tip` on an element is its tooltip, `data-tip=""` its own text where that is cut off. */
  readonly cell: (row: T) => ReactNode
}

export interface GridSort {
  readonly column: string
  readonly order: 'ascending' | 'descending'
}

/** What pages may ask of a grid. */
export interface GridHandle {
  /** Scrolls to a row and gives it the focus. */
  focusRow(index: number): void
}

export interface VirtualGridProps<T> {
  /** What screen readers call the grid. */
  readonly label: string
  /** How many rows there are, loaded or not; up to a million. */
  readonly count: number
  /** A row, or undefined while it is not loaded. Must change its identity when rows change: memoize it with what it reads. */
  readonly row: (index: number) => T | undefined
  readonly idOf: (row: T) => string
  /** For labels of checkboxes and for finding by typing. */
  readonly nameOf: (row: T) => string
  readonly columns: readonly GridColumn<T>[]
  /** Rows from `start` to before `end` are in view: load those that are missing. */
  readonly onRange?: (start: number, end: number) => void
  readonly sort?: GridSort | undefined
  readonly onSort?: (sort: GridSort) => void
  /** With both, rows can be chosen. */
  readonly selection?: Selection<T>
  readonly onSelect?: (selection: Selection<T>) => void
  /** Loads rows from `start` to before `end`: for ranges chosen by Shift that are not in view. Without it only loaded rows are chosen. */
  readonly loadRows?: (start: number, end: number) => Promise<readonly T[]>
  /** What the menu of a row offers: one menu for the whole grid, at the button of the row, the pointer, or on Shift+F10. */
  readonly actions?: (row: T) => readonly GridAction[]
  /** Enter, and a double click. */
  readonly onOpen?: (row: T) => void
  /** F2. */
  readonly onRename?: (row: T) => void
  /** Delete, for the row that has the focus; the page decides whether it means the chosen rows. */
  readonly onDelete?: (row: T) => void
  /** Backspace and Alt+↑. */
  readonly onUp?: () => void
  /** Other keys, before the grid looks at them; true when the page has dealt with it. */
  readonly onKey?: (event: KeyboardEvent, row: T | undefined) => boolean
  /** Makes rows draggable: fill `event.dataTransfer`. */
  readonly onDragRow?: (event: DragEvent, row: T) => void
  /** What a drop on a row does, or undefined where nothing can be dropped. */
  readonly dropOn?: (row: T, event: DragEvent) => (() => void) | undefined
  /** Shown instead of rows when `count` is 0. */
  readonly empty?: ReactNode
  /** Same value, same place: scroll position and active row come back when a grid with this key is mounted again. */
  readonly restoreKey?: string
  readonly handle?: Ref<GridHandle>
}
