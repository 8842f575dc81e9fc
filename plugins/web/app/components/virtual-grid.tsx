// biome-ignore-all lint/a11y/useSemanticElements: a table cannot position its rows, and lays out a few thousand at most
// biome-ignore-all lint/a11y/useFocusableInteractive: rows have the focus, cells have none
import '../styles/virtual-grid.css'
import { observeElementOffset, useVirtualizer } from '@tanstack/react-virtual'
import {
  type DragEvent,
  type KeyboardEvent,
  type MouseEvent,
  memo,
  type ReactNode,
  type Ref,
  type RefObject,
  useCallback,
  useEffect,
  useId,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useReducer,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import { t } from '../lib/i18n.ts'
import { type GridAction, GridMenu, type MenuPlace } from './grid-menu.tsx'
import { GridTooltip } from './grid-tooltip.tsx'
import { Icon } from './icon.tsx'
import { allRows, isChosen, noRows, type Selection, withRows } from './selection.ts'
import { selectionBarTop } from './selection-bar.tsx'

export type { GridAction } from './grid-menu.tsx'

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

/** Browsers cut boxes at 16.7 million pixels; beyond this height scrolling is scaled. */
const maxHeightPx = 16_000_000
const headHeightPx = 34
const wideRowPx = 40
const narrowRowPx = 56

const narrowScreens = typeof matchMedia === 'undefined' ? undefined : matchMedia('(max-width: 760px)')
const subscribeToWidth = (listener: () => void): (() => void) => {
  narrowScreens?.addEventListener('change', listener)
  return () => narrowScreens?.removeEventListener('change', listener)
}

/** Whether rows have two lines. */
export const useNarrow = (): boolean => useSyncExternalStore(subscribeToWidth, () => narrowScreens?.matches === true)

const places = new Map<string, { readonly scrollTop: number; readonly active: number }>()

/** How far scrolling is scaled: pixels of the list for each pixel of the scrollbar. */
const scaleOf = (listPx: number, viewPx: number): number =>
  listPx <= maxHeightPx ? 1 : (listPx - viewPx) / Math.max(1, maxHeightPx - viewPx)

/**
 * The list of the interface, for ten rows as for a million: only rows in view exist, and only the body is drawn anew while scrolling. One row has the
 * focus (arrows, Home, End, Page Up and Down, typing a name); Space, Shift and Ctrl+A choose.
 */
export const VirtualGrid = <T,>(props: VirtualGridProps<T>) => {
  const { label, count, row, columns, sort, onSort, selection, onSelect, actions, empty, restoreKey, handle } = props
  const isNarrow = useNarrow()
  const rowPx = isNarrow ? narrowRowPx : wideRowPx
  const grid = useRef<HTMLDivElement>(null)
  const id = useId()
  const [menu, setMenu] = useState<MenuPlace<T>>()
  const isSelectable = selection !== undefined && onSelect !== undefined
  const focus = useActiveRow(props, grid, rowPx)
  const keys = useGridKeys(props, focus, place => setMenu(place))
  const pointer = useGridPointer(props, focus, place => setMenu(place))
  const chosen = selection ?? noRows
  const all = isSelectable && (chosen.isAllBut ? chosen.rows.size === 0 : chosen.rows.size === count)
  const some = chosen.isAllBut ? chosen.rows.size < count : chosen.rows.size > 0

  useImperativeHandle(handle, () => ({ focusRow: index => focus.move(index) }), [focus])
  useRestoredPlace(grid, restoreKey, count, focus)

  const tracks = useMemo(() => tracksOf(columns, isSelectable, actions !== undefined), [columns, isSelectable, actions])
  if (count === 0) return <div className="grid-empty">{empty}</div>
  return (
    <>
      <div
        ref={grid}
        id={id}
        role="grid"
        className={isSelectable ? (some ? 'data-grid has-chosen' : 'data-grid') : 'data-grid no-checks'}
        aria-label={label}
        aria-rowcount={count + 1}
        aria-colcount={columns.length + (isSelectable ? 1 : 0) + (actions ? 1 : 0)}
        aria-multiselectable={isSelectable}
        tabIndex={-1}
        style={{ '--grid-tracks': tracks } as Record<string, string>}
        onKeyDown={keys}
        {...pointer}
      >
        <div role="rowgroup" className="grid-head">
          <div role="row" className="grid-row" aria-rowindex={1}>
            {isSelectable && (
              <div role="columnheader" className="grid-check">
                <input
                  type="checkbox"
                  aria-label={t('grid.chooseAll')}
                  checked={all}
                  ref={input => {
                    if (input) input.indeterminate = some && !all
                  }}
                  onChange={() => onSelect(all ? noRows : allRows)}
                />
              </div>
            )}
            {columns.map(column => (
              <ColumnHead key={column.id} column={column} sort={sort} onSort={onSort} />
            ))}
            {actions && (
              <div role="columnheader" className="grid-menu">
                <span className="visually-hidden">{t('grid.actions')}</span>
              </div>
            )}
          </div>
        </div>
        <GridBody
          grid={grid}
          count={count}
          row={row}
          rowPx={rowPx}
          idOf={props.idOf}
          nameOf={props.nameOf}
          columns={columns}
          selection={isSelectable ? chosen : undefined}
          hasMenu={actions !== undefined}
          isDraggable={props.onDragRow !== undefined}
          active={focus.active}
          shouldFocus={focus.shouldFocus}
          onRange={props.onRange}
        />
      </div>
      <GridTooltip grid={grid} />
      {menu && <GridMenu place={menu} label={t('grid.actionsOf', { name: props.nameOf(menu.row) })} onClose={() => setMenu(undefined)} />}
    </>
  )
}

const tracksOf = <T,>(columns: readonly GridColumn<T>[], isSelectable: boolean, hasMenu: boolean): string =>
  [
    ...(isSelectable ? ['3rem'] : ['0.75rem']),
    ...columns.map(({ width }, at) => width ?? (at === 0 ? 'minmax(0, 1fr)' : 'max-content')),
    ...(hasMenu ? ['3rem'] : ['0.75rem']),
  ].join(' ')

const ColumnHead = <T,>({
  column: { id, title, isNumber = false, isSortable = false, isWideOnly = false },
  sort,
  onSort,
}: {
  readonly column: GridColumn<T>
  readonly sort: GridSort | undefined
  readonly onSort: ((sort: GridSort) => void) | undefined
}) => {
  const isSorted = sort?.column === id
  const order = isSorted ? sort.order : 'none'
  return (
    <div role="columnheader" className={cellClass(isNumber, isWideOnly)} {...(isSortable ? { 'aria-sort': order } : {})}>
      {isSortable && onSort ? (
        <button
          type="button"
          className="grid-sort"
          onClick={() => onSort({ column: id, order: order === 'ascending' ? 'descending' : 'ascending' })}
        >
          {title}
          {isSorted && <Icon name={order === 'ascending' ? 'arrow-up' : 'arrow-down'} size={14} />}
        </button>
      ) : (
        title
      )}
    </div>
  )
}

const cellClass = (isNumber: boolean, isWideOnly: boolean): string =>
  `grid-cell${isNumber ? ' number' : ''}${isWideOnly ? ' wide-only' : ''}`

interface BodyProps<T> {
  readonly grid: RefObject<HTMLDivElement | null>
  readonly count: number
  readonly row: (index: number) => T | undefined
  readonly rowPx: number
  readonly idOf: (row: T) => string
  readonly nameOf: (row: T) => string
  readonly columns: readonly GridColumn<T>[]
  readonly selection: Selection<T> | undefined
  readonly hasMenu: boolean
  readonly isDraggable: boolean
  readonly active: number
  readonly shouldFocus: RefObject<boolean>
  readonly onRange: ((start: number, end: number) => void) | undefined
}

/** Draws the rows in view, and the active one wherever it is, so that the focus is never lost by scrolling. */
const GridBody = <T,>({ grid, count, row, rowPx, active, shouldFocus, onRange, selection, idOf, nameOf, ...rest }: BodyProps<T>) => {
  const [, redraw] = useReducer((times: number) => times + 1, 0)
  const listPx = count * rowPx
  const scale = useCallback(() => scaleOf(listPx, (grid.current?.clientHeight ?? 0) - headHeightPx), [listPx, grid])
  const virtual = useVirtualizer<HTMLDivElement, HTMLDivElement>({
    count,
    getScrollElement: () => grid.current,
    estimateSize: () => rowPx,
    overscan: 6,
    rangeExtractor: ({ startIndex, endIndex, overscan }) => {
      const first = Math.max(0, startIndex - overscan)
      const last = Math.min(count - 1, endIndex + overscan)
      const indexes = Array.from({ length: last - first + 1 }, (_, at) => first + at)
      if (active < first) return [active, ...indexes]
      return active > last && active < count ? [...indexes, active] : indexes
    },
    observeElementOffset: (instance, report) => observeElementOffset(instance, (offset, isMoving) => report(offset * scale(), isMoving)),
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: sizes are remembered by the library, and change with the height of rows
  useLayoutEffect(() => virtual.measure(), [rowPx])

  const isScaled = listPx > maxHeightPx
  useEffect(() => {
    const box = grid.current
    if (!isScaled || !box) return undefined
    box.addEventListener('scroll', redraw, { passive: true })
    return () => box.removeEventListener('scroll', redraw)
  }, [isScaled, grid])

  const items = virtual.getVirtualItems()
  const { startIndex = 0, endIndex = 0 } = virtual.range ?? {}
  useEffect(() => {
    onRange?.(Math.max(0, startIndex - 6), Math.min(count, endIndex + 7))
  }, [onRange, startIndex, endIndex, count])

  useLayoutEffect(() => {
    if (!shouldFocus.current) return
    const element = grid.current?.querySelector<HTMLElement>(`.grid-body > [data-index="${active}"]`)
    if (!element) return
    shouldFocus.current = false
    element.focus({ preventScroll: true })
    element.scrollIntoView({ block: 'nearest', behavior: 'instant' })
  })

  const bodyPx = Math.min(listPx, maxHeightPx)
  const shiftPx = isScaled ? (grid.current?.scrollTop ?? 0) * (1 - scale()) : 0
  return (
    <div role="rowgroup" className="grid-body" style={{ blockSize: `${bodyPx}px` }}>
      {items.map(({ index, start }) => {
        const shown = row(index)
        return (
          <GridRow
            key={index}
            index={index}
            top={Math.max(0, Math.min(bodyPx - rowPx, start + shiftPx))}
            row={shown}
            isActive={index === active}
            isChosen={selection && shown !== undefined ? isChosen(selection, idOf(shown)) : undefined}
            isSelectable={selection !== undefined}
            nameOf={nameOf}
            {...rest}
          />
        )
      })}
    </div>
  )
}

interface RowProps<T> {
  readonly index: number
  readonly top: number
  readonly row: T | undefined
  readonly isActive: boolean
  readonly isChosen: boolean | undefined
  readonly isSelectable: boolean
  readonly hasMenu: boolean
  readonly isDraggable: boolean
  readonly nameOf: (row: T) => string
  readonly columns: readonly GridColumn<T>[]
}

const ignore = (): void => undefined

const GridRowView = <T,>({ index, top, row, isActive, isChosen, isSelectable, hasMenu, isDraggable, nameOf, columns }: RowProps<T>) => (
  <div
    role="row"
    className={isChosen ? 'grid-row chosen' : 'grid-row'}
    data-index={index}
    aria-rowindex={index + 2}
    aria-selected={isSelectable ? isChosen === true : undefined}
    aria-busy={row === undefined || undefined}
    tabIndex={isActive ? 0 : -1}
    draggable={isDraggable && row !== undefined}
    style={{ transform: `translateY(${top}px)` }}
  >
    {isSelectable && (
      <div role="gridcell" className="grid-check" data-check="">
        {row !== undefined && (
          <input
            type="checkbox"
            tabIndex={-1}
            aria-label={t('grid.choose', { name: nameOf(row) })}
            checked={isChosen === true}
            onChange={ignore}
          />
        )}
      </div>
    )}
    {row === undefined ? (
      <div role="gridcell" className="grid-cell">
        <span className="grid-placeholder" />
        <span className="visually-hidden">{t('loading')}</span>
      </div>
    ) : (
      columns.map(({ id, isNumber = false, isWideOnly = false, cell }) => (
        <div key={id} role="gridcell" className={cellClass(isNumber, isWideOnly)}>
          {cell(row)}
        </div>
      ))
    )}
    {hasMenu && row !== undefined && (
      <div role="gridcell" className="grid-menu">
        <button type="button" tabIndex={-1} data-menu="" aria-haspopup="menu" aria-label={t('grid.actionsOf', { name: nameOf(row) })}>
          <Icon name="ellipsis" />
        </button>
      </div>
    )}
  </div>
)
const GridRow = memo(GridRowView) as typeof GridRowView

interface ActiveRow {
  readonly active: number
  /** Set when the row is to get the focus as soon as it is drawn. */
  readonly shouldFocus: RefObject<boolean>
  /** Where a range begins that Shift extends. */
  readonly anchor: RefObject<number>
  /** How many rows are in view. */
  pageSize(): number
  /** Makes a row the active one, brings it into view and gives it the focus. */
  move(index: number): void
  /** Makes a row the active one without scrolling. */
  set(index: number): void
}

const useActiveRow = <T,>(
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

  // The bar appears with the first chosen row; it must not cover that.
  const hasChosen = selection !== undefined && (selection.isAllBut || selection.rows.size > 0)
  useEffect(() => {
    if (hasChosen && grid.current?.contains(document.activeElement)) reveal(active)
  }, [hasChosen, active, reveal, grid])

  // Rows that come or go above the active one must not make another one active.
  useEffect(() => {
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

const useRestoredPlace = (grid: RefObject<HTMLDivElement | null>, key: string | undefined, count: number, focus: ActiveRow): void => {
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

/** Chooses rows between two, as Shift does. */
const chooseRange = async <T,>(props: VirtualGridProps<T>, from: number, to: number, base: Selection<T>): Promise<void> => {
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

const toggle = <T,>({ selection, onSelect, idOf }: VirtualGridProps<T>, row: T): void => {
  if (selection) onSelect?.(withRows(selection, [[idOf(row), row]], !isChosen(selection, idOf(row))))
}

type OpenMenu<T> = (place: MenuPlace<T>) => void

const useGridKeys = <T,>(props: VirtualGridProps<T>, focus: ActiveRow, openMenu: OpenMenu<T>): ((event: KeyboardEvent) => void) => {
  const typed = useRef({ text: '', at: 0 })

  const isTyping = (): boolean => typed.current.text !== '' && Date.now() - typed.current.at < 700

  const findByName = (text: string): boolean => {
    const now = Date.now()
    const isNew = !isTyping()
    typed.current = { text: isNew ? text : typed.current.text + text, at: now }
    const wanted = typed.current.text.toLocaleLowerCase()
    const first = isNew ? focus.active + 1 : focus.active
    for (let step = 0; step < Math.min(props.count, 200_000); step++) {
      const index = (first + step) % props.count
      const row = props.row(index)
      if (row === undefined || !props.nameOf(row).toLocaleLowerCase().startsWith(wanted)) continue
      focus.anchor.current = index
      focus.move(index)
      return true
    }
    return false
  }

  const move = (index: number, isExtending: boolean): void => {
    const next = Math.max(0, Math.min(index, props.count - 1))
    typed.current = { text: '', at: 0 }
    if (isExtending && props.selection) void chooseRange(props, focus.anchor.current, next, noRows)
    else focus.anchor.current = next
    focus.move(next)
  }

  const target = (key: string): number | undefined => {
    switch (key) {
      case 'ArrowDown':
        return focus.active + 1
      case 'ArrowUp':
        return focus.active - 1
      case 'Home':
        return 0
      case 'End':
        return props.count - 1
      case 'PageDown':
        return focus.active + focus.pageSize()
      case 'PageUp':
        return focus.active - focus.pageSize()
      default:
        return undefined
    }
  }

  const act = (event: KeyboardEvent, row: T | undefined, element: HTMLElement): boolean => {
    const { key, shiftKey, ctrlKey, metaKey } = event
    if (key === 'Escape' && props.selection && (props.selection.isAllBut || props.selection.rows.size > 0)) {
      props.onSelect?.(noRows)
      return true
    }
    if (key === 'Backspace' && props.onUp) {
      props.onUp()
      return true
    }
    if ((ctrlKey || metaKey) && key.toLowerCase() === 'a' && props.selection) {
      props.onSelect?.(allRows)
      return true
    }
    if (row === undefined) return false
    // A space belongs to what is typed where a name goes on with it.
    if (key === ' ' && isTyping() && findByName(key)) return true
    if (key === ' ' && props.selection) {
      if (shiftKey) void chooseRange(props, focus.anchor.current, focus.active, props.selection)
      else toggle(props, row)
      if (!shiftKey) focus.anchor.current = focus.active
      return true
    }
    if (key === 'Enter' && props.onOpen) props.onOpen(row)
    else if (key === 'F2' && props.onRename) props.onRename(row)
    else if (key === 'Delete' && props.onDelete) props.onDelete(row)
    else if ((key === 'ContextMenu' || (key === 'F10' && shiftKey)) && props.actions) {
      openMenu({ row, actions: props.actions(row), element: element.querySelector('[data-menu]') ?? element })
    } else return false
    return true
  }

  return event => {
    const element = event.target as HTMLElement
    if (!element.matches('.grid-body > [data-index]') || props.count === 0) return
    const row = props.row(focus.active)
    if (props.onKey?.(event, row) === true || act(event, row, element)) {
      event.preventDefault()
      return
    }
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey
    if (event.altKey && event.key === 'ArrowUp' && props.onUp) {
      event.preventDefault()
      props.onUp()
      return
    }
    const next = event.altKey || event.metaKey ? undefined : target(event.key)
    if (next !== undefined) {
      event.preventDefault()
      move(next, event.shiftKey)
    } else if (isPlain && event.key.length === 1 && event.key !== ' ' && event.key !== '/' && event.key !== '?') {
      event.preventDefault()
      findByName(event.key)
    }
  }
}

interface PointerHandlers {
  readonly onClick: (event: MouseEvent) => void
  readonly onDoubleClick: (event: MouseEvent) => void
  readonly onContextMenu: (event: MouseEvent) => void
  readonly onMouseDown: (event: MouseEvent) => void
  readonly onDragStart: (event: DragEvent) => void
  readonly onDragOver: (event: DragEvent) => void
  readonly onDragLeave: (event: DragEvent) => void
  readonly onDrop: (event: DragEvent) => void
}

const dropClass = 'drop-target'

const useGridPointer = <T,>(props: VirtualGridProps<T>, focus: ActiveRow, openMenu: OpenMenu<T>): PointerHandlers => {
  const over = useRef<HTMLElement>(null)
  const placeOf = (event: { readonly target: EventTarget }) => {
    const element = (event.target as HTMLElement).closest<HTMLElement>('.grid-body > [data-index]')
    const index = Number(element?.dataset['index'])
    const row = element ? props.row(index) : undefined
    return element && row !== undefined ? { element, index, row } : undefined
  }
  const isWithin = (event: MouseEvent, selector: string): boolean => (event.target as HTMLElement).closest(selector) !== null
  const leave = (): void => {
    over.current?.classList.remove(dropClass)
    over.current = null
  }

  const choose = (event: MouseEvent, index: number, row: T): void => {
    if (!props.selection) return
    const isTouch = (event.nativeEvent as PointerEvent).pointerType === 'touch'
    if (event.shiftKey) {
      void chooseRange(
        props,
        focus.anchor.current,
        index,
        event.ctrlKey || event.metaKey || isWithin(event, '[data-check]') ? props.selection : noRows,
      )
      return
    }
    focus.anchor.current = index
    if (isWithin(event, '[data-check]') || event.ctrlKey || event.metaKey || isTouch) toggle(props, row)
    else props.onSelect?.(withRows(noRows as Selection<T>, [[props.idOf(row), row]], true))
  }

  return {
    onMouseDown: event => {
      // Extending by Shift would mark text.
      if (event.shiftKey && placeOf(event) && !isWithin(event, 'a')) event.preventDefault()
    },
    onClick: event => {
      const place = placeOf(event)
      if (!place || event.defaultPrevented) return
      const { element, index, row } = place
      const button = (event.target as HTMLElement).closest<HTMLElement>('[data-menu]')
      focus.set(index)
      if (button && props.actions) openMenu({ row, actions: props.actions(row), element: button })
      else if (!isWithin(event, 'a, button, input:not([type="checkbox"])')) {
        element.focus({ preventScroll: true })
        choose(event, index, row)
      }
    },
    onDoubleClick: event => {
      const place = placeOf(event)
      if (place && !isWithin(event, 'a, button, input')) props.onOpen?.(place.row)
    },
    onContextMenu: event => {
      const place = placeOf(event)
      if (!place || !props.actions || isWithin(event, 'input')) return
      event.preventDefault()
      focus.set(place.index)
      place.element.focus({ preventScroll: true })
      openMenu({ row: place.row, actions: props.actions(place.row), element: place.element, at: { x: event.clientX, y: event.clientY } })
    },
    onDragStart: event => {
      const place = placeOf(event)
      if (place) props.onDragRow?.(event, place.row)
    },
    onDragOver: event => {
      const place = placeOf(event)
      const canDrop = place !== undefined && props.dropOn?.(place.row, event) !== undefined
      if (over.current !== place?.element) leave()
      if (!canDrop) return
      event.preventDefault()
      event.stopPropagation()
      over.current = place.element
      place.element.classList.add(dropClass)
    },
    onDragLeave: event => {
      if (!(event.currentTarget as HTMLElement).contains(event.relatedTarget as Node | null)) leave()
    },
    onDrop: event => {
      leave()
      const place = placeOf(event)
      const drop = place && props.dropOn?.(place.row, event)
      if (!drop) return
      event.preventDefault()
      event.stopPropagation()
      drop()
    },
  }
}
