// biome-ignore-all lint/a11y/useSemanticElements: a table cannot position its rows, and lays out a few thousand at most
// biome-ignore-all lint/a11y/useFocusableInteractive: rows have the focus, cells have none
import { observeElementOffset, useVirtualizer } from '@tanstack/react-virtual'
import { memo, type RefObject, useCallback, useEffect, useLayoutEffect, useReducer } from 'react'
import { t } from '../lib/i18n.ts'
import { cellClass, headHeightPx, maxHeightPx, scaleOf } from './grid-layout.ts'
import type { GridColumn } from './grid-props.ts'
import { Icon } from './icon.tsx'
import { isChosen, type Selection } from './selection.ts'

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

/** Renders the rows in view, and the active one wherever it is, so that scrolling never loses the focus. */
export const GridBody = <T,>({ grid, count, row, rowPx, active, shouldFocus, onRange, selection, idOf, nameOf, ...rest }: BodyProps<T>) => {
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
