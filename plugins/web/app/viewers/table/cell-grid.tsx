// biome-ignore-all lint/a11y/useSemanticElements: a table cannot position its rows and columns
// biome-ignore-all lint/a11y/useFocusableInteractive: cells and heading buttons are focusable
import {
  type KeyboardEvent,
  type MouseEvent,
  memo,
  type ReactNode,
  type Ref,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
} from 'react'
import { scaleOf } from '../../components/grid-layout.ts'
import { GridTooltip } from '../../components/grid-tooltip.tsx'
import { cellRowPx, type GridPlace, type GridWindow, headPx, numbersPx, useGridWindow } from './grid-window.ts'

/** A cell; row -1 is the heading. */
export interface CellPlace {
  readonly row: number
  readonly column: number
}

/** A range of cells, extended with Shift. */
export interface CellRange {
  readonly from: CellPlace
  readonly to: CellPlace
}

export interface CellColumn {
  readonly name: string
  readonly isNumber: boolean
  readonly widthPx: number
}

/** A row in view: its number in the file, and its cells by column, undefined if not loaded. */
export interface CellRow {
  readonly number: number
  readonly cell: (column: number) => string | null | undefined
}

export interface CellGridHandle {
  /** Scrolls to a cell and gives it the focus. */
  focusCell(place: CellPlace): void
  toTop(): void
}

interface CellGridProps {
  readonly label: string
  readonly rows: number
  readonly columns: readonly CellColumn[]
  /** Must change its identity when rows change. */
  readonly row: (index: number) => CellRow | undefined
  readonly onWindow: (window: GridWindow) => void
  readonly sort: { readonly column: number; readonly isDescending: boolean } | undefined
  readonly range: CellRange
  readonly onRange: (range: CellRange) => void
  readonly onCopy: (range: CellRange) => void
  readonly onOpen: (place: CellPlace) => void
  /** Renders the buttons of a heading. */
  readonly heading: (column: number, tabIndex: 0 | -1) => ReactNode
  readonly handle: Ref<CellGridHandle>
}

/** A grid of cells, virtualized in both directions. One cell has the focus; arrows move it, and Shift extends the range to copy. */
export const CellGrid = (props: CellGridProps) => {
  const { label, rows, columns, row, onWindow, sort, range, onRange, heading } = props
  const box = useRef<HTMLDivElement>(null)
  const shouldFocus = useRef(false)
  const place = useGridWindow(box, rows, columns)
  const { window, offsets, totalPx, bodyPx, scaled } = place
  useEffect(() => onWindow(window), [onWindow, window])
  const active = range.to

  const move = (to: CellPlace, isExtending = false): void => {
    const next = { row: Math.max(-1, Math.min(rows - 1, to.row)), column: Math.max(0, Math.min(columns.length - 1, to.column)) }
    shouldFocus.current = true
    reveal(box.current, next, place, rows)
    onRange({ from: isExtending && next.row >= 0 && range.from.row >= 0 ? range.from : next, to: next })
  }
  useImperativeHandle(props.handle, () => ({
    focusCell: to => move(to),
    toTop: () => {
      if (box.current) box.current.scrollTop = 0
    },
  }))

  useLayoutEffect(() => {
    if (!shouldFocus.current) return
    const cell = box.current?.querySelector<HTMLElement>(`[data-cell="${active.row}:${active.column}"]`)
    if (!cell) return
    shouldFocus.current = false
    ;(active.row < 0 ? cell.querySelector('button') : cell)?.focus({ preventScroll: true })
  })

  const keys = (event: KeyboardEvent): void => {
    const element = event.target as HTMLElement
    const isHeading = element.closest('.cell-head') !== null
    const { key, shiftKey, ctrlKey, metaKey, altKey } = event
    if (altKey || (isHeading && !key.startsWith('Arrow'))) return
    const isFar = ctrlKey || metaKey
    if (isFar && key.toLowerCase() === 'c' && !isHeading) {
      event.preventDefault()
      props.onCopy(range)
      return
    }
    if (isFar && key.toLowerCase() === 'a') {
      event.preventDefault()
      onRange({ from: { row: 0, column: 0 }, to: { row: rows - 1, column: columns.length - 1 } })
      return
    }
    if (key === 'Enter' && !isHeading) {
      event.preventDefault()
      props.onOpen(active)
      return
    }
    const next = target(key, isFar, isHeading ? { ...active, row: -1 } : active, rows, columns.length, pageRows(box.current))
    if (!next) return
    event.preventDefault()
    move(next, shiftKey)
  }

  const press = (event: MouseEvent): void => {
    const at = placeOf(event)
    if (!at || at.row < 0) return
    if (event.shiftKey) event.preventDefault()
    onRange({ from: event.shiftKey && range.from.row >= 0 ? range.from : at, to: at })
    shouldFocus.current = true
  }
  const over = (event: MouseEvent): void => {
    const at = event.buttons === 1 ? placeOf(event) : undefined
    if (at && at.row >= 0 && (at.row !== active.row || at.column !== active.column)) onRange({ from: range.from, to: at })
  }

  const shownColumns = withActive(window.firstColumn, window.endColumn, active.column, columns.length)
  const shownRows = withActive(window.firstRow, window.endRow, Math.max(0, active.row), rows)
  const shiftPx = scaled ? (box.current?.scrollTop ?? 0) * (1 - scaleOf(rows * cellRowPx, (box.current?.clientHeight ?? 0) - headPx)) : 0
  const numberPx = numbersPx(rows)
  return (
    <>
      <div
        ref={box}
        role="grid"
        className="cell-grid"
        aria-label={label}
        aria-rowcount={rows + 1}
        aria-colcount={columns.length + 1}
        aria-multiselectable="true"
        onKeyDown={keys}
        onMouseDown={press}
        onMouseOver={over}
        onFocus={() => undefined}
        onDoubleClick={event => {
          const at = placeOf(event)
          if (at && at.row >= 0) props.onOpen(at)
        }}
        style={{ '--numbers': `${numberPx}px` } as Record<string, string>}
      >
        <div role="rowgroup" className="cell-head" style={{ inlineSize: `${totalPx}px` }}>
          <div role="row" aria-rowindex={1} className="cell-row">
            <div role="columnheader" aria-colindex={1} className="cell-number" aria-label="#">
              #
            </div>
            {shownColumns.map(at => (
              <div
                key={at}
                role="columnheader"
                data-cell={`-1:${at}`}
                aria-colindex={at + 2}
                aria-sort={sort?.column === at ? (sort.isDescending ? 'descending' : 'ascending') : 'none'}
                className={columns[at]?.isNumber ? 'cell number' : 'cell'}
                style={{ insetInlineStart: `${offsets[at]}px`, inlineSize: `${columns[at]?.widthPx}px` }}
              >
                {heading(at, at === active.column ? 0 : -1)}
              </div>
            ))}
          </div>
        </div>
        <div role="rowgroup" className="cell-body" style={{ blockSize: `${bodyPx}px`, inlineSize: `${totalPx}px` }}>
          {shownRows.map(index => {
            const top = Math.max(0, Math.min(bodyPx - cellRowPx, index * cellRowPx + shiftPx))
            return (
              <GridRow
                key={index}
                index={index}
                top={top}
                row={row(index)}
                columns={columns}
                offsets={offsets}
                shown={shownColumns}
                active={active.row === index || (active.row < 0 && index === 0) ? active.column : undefined}
                chosen={chosenIn(range, index)}
              />
            )
          })}
        </div>
      </div>
      <GridTooltip grid={box} />
    </>
  )
}

const withActive = (first: number, end: number, active: number, count: number): readonly number[] => {
  const shown = Array.from({ length: Math.max(0, end - first) }, (_, at) => first + at)
  if (active < first && active < count) return [active, ...shown]
  return active >= end && active < count ? [...shown, active] : shown
}

const chosenIn = ({ from, to }: CellRange, row: number): string => {
  const isIn = row >= Math.min(from.row, to.row) && row <= Math.max(from.row, to.row)
  const isOne = from.row === to.row && from.column === to.column
  return isIn && !isOne ? `${Math.min(from.column, to.column)}:${Math.max(from.column, to.column)}` : ''
}

const pageRows = (box: HTMLElement | null): number => Math.max(1, Math.floor(((box?.clientHeight ?? 0) - headPx) / cellRowPx) - 1)

const target = (
  key: string,
  isFar: boolean,
  { row, column }: CellPlace,
  rows: number,
  columns: number,
  page: number,
): CellPlace | undefined => {
  switch (key) {
    case 'ArrowDown':
      return { row: isFar ? rows - 1 : row + 1, column }
    case 'ArrowUp':
      return { row: isFar ? 0 : row - 1, column }
    case 'ArrowRight':
      return { row, column: isFar ? columns - 1 : column + 1 }
    case 'ArrowLeft':
      return { row, column: isFar ? 0 : column - 1 }
    case 'PageDown':
      return { row: row + page, column }
    case 'PageUp':
      return { row: Math.max(0, row - page), column }
    case 'Home':
      return { row: isFar ? 0 : row, column: 0 }
    case 'End':
      return { row: isFar ? rows - 1 : row, column: columns - 1 }
    default:
      return undefined
  }
}

const placeOf = (event: { readonly target: EventTarget }): CellPlace | undefined => {
  const position = (event.target as HTMLElement).closest<HTMLElement>('[data-cell]')?.dataset['cell']
  const [row, column] = (position ?? '').split(':').map(Number)
  return position === undefined || row === undefined || column === undefined ? undefined : { row, column }
}

const reveal = (box: HTMLElement | null, { row, column }: CellPlace, { offsets }: GridPlace, rows: number): void => {
  if (!box) return
  const viewPx = box.clientHeight - headPx
  const scale = scaleOf(rows * cellRowPx, viewPx)
  const from = box.scrollTop * scale
  const top = row * cellRowPx
  if (row >= 0 && top < from) box.scrollTop = top / scale
  else if (top + cellRowPx > from + viewPx) box.scrollTop = (top + cellRowPx - viewPx) / scale
  const start = (offsets[column] ?? 0) - numbersPx(rows)
  const end = offsets[column + 1] ?? 0
  if (start < box.scrollLeft) box.scrollLeft = start
  else if (end > box.scrollLeft + box.clientWidth) box.scrollLeft = Math.min(start, end - box.clientWidth)
}

interface RowProps {
  readonly index: number
  readonly top: number
  readonly row: CellRow | undefined
  readonly columns: readonly CellColumn[]
  readonly offsets: Float64Array
  readonly shown: readonly number[]
  readonly active: number | undefined
  /** First and last selected column, "3:5"; empty if none. */
  readonly chosen: string
}

const GridRowView = ({ index, top, row, columns, offsets, shown, active, chosen }: RowProps) => {
  const [first = -1, last = -2] = chosen === '' ? [] : chosen.split(':').map(Number)
  return (
    <div
      role="row"
      className="cell-row"
      aria-rowindex={index + 2}
      style={{ transform: `translateY(${top}px)` }}
      aria-busy={row === undefined || undefined}
    >
      <div role="rowheader" aria-colindex={1} className="cell-number">
        {row ? row.number + 1 : ''}
      </div>
      {shown.map(at => {
        const text = row?.cell(at)
        const isChosen = at >= first && at <= last
        return (
          <div
            key={at}
            role="gridcell"
            data-cell={`${index}:${at}`}
            data-tip=""
            aria-colindex={at + 2}
            aria-selected={isChosen || at === active}
            tabIndex={at === active ? 0 : -1}
            dir="auto"
            className={`cell${columns[at]?.isNumber ? ' number' : ''}${isChosen ? ' chosen' : ''}${text === null ? ' missing' : ''}`}
            style={{ insetInlineStart: `${offsets[at]}px`, inlineSize: `${columns[at]?.widthPx}px` }}
          >
            {text === undefined ? <span className="grid-placeholder" /> : text === null ? '–' : text}
          </div>
        )
      })}
    </div>
  )
}
const GridRow = memo(GridRowView)
