// biome-ignore-all lint/a11y/useSemanticElements: a table cannot position its rows, and lays out a few thousand at most
// biome-ignore-all lint/a11y/useFocusableInteractive: rows have the focus, cells have none
import { type FocusEvent, useId, useImperativeHandle, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { t } from '../lib/i18n.ts'
import { GridBody } from './grid-body.tsx'
import { useActiveRow, useRestoredPlace } from './grid-focus.ts'
import { useGridKeys } from './grid-keys.ts'
import { cellClass, narrowRowPx, useNarrow, wideRowPx } from './grid-layout.ts'
import { GridMenu, type MenuPlace } from './grid-menu.tsx'
import { useGridPointer } from './grid-pointer.ts'
import type { GridColumn, GridSort, VirtualGridProps } from './grid-props.ts'
import { GridTooltip } from './grid-tooltip.tsx'
import { Icon } from './icon.tsx'
import { allRows, noRows } from './selection.ts'

export { useNarrow } from './grid-layout.ts'
export type { GridAction } from './grid-menu.tsx'
export type { GridColumn, GridHandle, GridSort, VirtualGridProps } from './grid-props.ts'

/**
 * The list component, for ten rows or a million: only rows in view are rendered, and only the body is rendered again while scrolling. One row has the
 * focus (arrows, Home, End, Page Up and Down, type-ahead); Space, Shift and Ctrl+A select.
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

  useImperativeHandle(handle, () => ({ focusRow: (index = focus.active) => (count === 0 ? grid.current?.focus() : focus.move(index)) }), [
    count,
    focus,
  ])
  useRestoredPlace(grid, restoreKey, count, focus)

  const hadFocus = useRef(false)
  const blur = ({ relatedTarget }: FocusEvent): void => {
    if (relatedTarget && !grid.current?.contains(relatedTarget)) hadFocus.current = false
  }
  useLayoutEffect(() => {
    // With the last row its focus was removed.
    if (count === 0 && hadFocus.current && document.activeElement === document.body) grid.current?.focus()
  }, [count])

  const tracks = useMemo(() => tracksOf(columns, isSelectable, actions !== undefined), [columns, isSelectable, actions])
  if (count === 0)
    return (
      <div ref={grid} role="group" className="grid-empty" aria-label={label} tabIndex={-1} onKeyDown={keys}>
        {empty}
      </div>
    )
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
        // Not only keys and clicks focus a row, or a link in it: drags and assistive technology do as well.
        onBlur={blur}
        onFocus={({ target }) => {
          hadFocus.current = true
          const index = Number(target.closest('.grid-body > [data-index]')?.getAttribute('data-index') ?? focus.active)
          if (index !== focus.active) focus.set(index)
        }}
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
