import '../../styles/table-viewer.css'
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { Button } from '../../components/controls.tsx'
import { copyText } from '../../components/copy-text.tsx'
import { Icon } from '../../components/icon.tsx'
import { DotProgress } from '../../components/page-parts.tsx'
import { bytes, number } from '../../lib/format.ts'
import { t } from '../../lib/i18n.ts'
import type { ViewerHost } from '../host.ts'
import { CellGrid, type CellGridHandle, type CellPlace, type CellRange } from './cell-grid.tsx'
import { CellPanel } from './cell-panel.tsx'
import { ColumnPanel } from './column-panel.tsx'
import { columnName, filterText, summaryOf } from './column-texts.ts'
import type { OpenedTable } from './engine/serve-table.ts'
import type { TableOrder } from './engine/table-engine.ts'
import { type TableColumn, unnamedColumn } from './engine/table-source.ts'
import { isMeasured } from './engine/values.ts'
import type { GridWindow } from './grid-window.ts'
import { Bars } from './histogram.tsx'
import { PlotPanel } from './plot-panel.tsx'
import type { TableClient } from './table-client.ts'
import { type TableState, textOfState } from './table-state.ts'
import { useOrder, useProgress, useRows, useStatistics } from './use-table.ts'

type Panel =
  | { readonly kind: 'column'; readonly column: number }
  | { readonly kind: 'cell' }
  | { readonly kind: 'plot' }
  | { readonly kind: 'format' }

interface TableViewProps<W, D> {
  readonly host: ViewerHost
  readonly client: TableClient<W, D>
  readonly opened: OpenedTable<D>
  readonly state: TableState
  /** The format of the file, shown behind a button. */
  readonly format: ReactNode
  /** Messages about omitted data. */
  readonly notes: readonly string[]
}

const maxCopied = 100_000
/** Delay after a keystroke before searching. A running search is superseded by the next one. */
const typingMs = 50
/** Reading continues when the view is within this many rows of the last known one. */
const ahead = 200

/** A table with search, filters, statistics, plots, and the value of a cell. */
export const TableView = <W, D>({ host, client, opened, state, format, notes }: TableViewProps<W, D>) => {
  const [order, arrange] = useState<TableOrder>(state.order)
  const [find, setFind] = useState(state.order.search)
  const [range, setRange] = useState<CellRange>(() => {
    const place = { row: state.row, column: Math.min(state.column, opened.columns.length - 1) }
    return { from: place, to: place }
  })
  const [panel, setPanel] = useState<Panel>()
  const [window, setWindow] = useState<GridWindow>()
  const [failure, setFailure] = useState<string>()
  const grid = useRef<CellGridHandle>(null)
  const onFailure = useCallback((error: unknown) => setFailure(error instanceof Error ? error.message : String(error)), [])
  const { progress, isReading, readOn, look } = useProgress(client, opened.progress, onFailure)
  const more = progress.columns - opened.columns.length
  const columns = useMemo(() => [...opened.columns, ...Array<TableColumn>(more).fill(unnamedColumn)], [opened.columns, more])
  const { version, count: arranged, isBusy } = useOrder(client, order, onFailure)
  const isArranged = arranged !== undefined
  // Sorting and filtering scroll to the top, unlike opening a link to a cell.
  const isChanged = useRef(false)
  const setOrder = useCallback((change: (before: TableOrder) => TableOrder) => {
    isChanged.current = true
    arrange(change)
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the new order is applied
  useEffect(() => {
    if (!isChanged.current) return
    isChanged.current = false
    grid.current?.toTop()
    setRange(({ to }) => ({ from: { row: Math.min(0, to.row), column: to.column }, to: { row: Math.min(0, to.row), column: to.column } }))
  }, [version])
  const count = arranged ?? progress.rows
  const { row, onWindow } = useRows(client, count, columns.length, version, onFailure)

  useEffect(() => {
    const timer = setTimeout(() => find === order.search || setOrder(before => ({ ...before, search: find })), typingMs)
    return () => clearTimeout(timer)
  }, [find, order.search, setOrder])
  useEffect(() => {
    const text = textOfState({ order, row: range.to.row, column: range.to.column, dialectChoice: state.dialectChoice })
    const timer = setTimeout(() => text === host.state.get() || host.state.set(text), 300)
    return () => clearTimeout(timer)
  }, [host, order, range.to, state.dialectChoice])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another order may have read more rows
  useEffect(() => void look().catch(() => undefined), [version, look])
  // Small files are read completely at once, others as the view nears the end of what is read.
  const isSmall = progress.sizeBytes <= smallBytes
  useEffect(() => {
    const wants = isSmall ? !progress.isCovered : !isArranged && (window?.endRow ?? 0) > progress.rows - ahead
    if (wants && !isReading && !progress.isComplete && failure === undefined) void readOn(isSmall ? 'covered' : 'more')
  }, [isSmall, isArranged, window, progress, isReading, readOn, failure])
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once, for the cell in the URL
  useEffect(() => {
    if (state.row > 0 || state.column > 0) grid.current?.focusCell({ row: state.row, column: state.column })
  }, [])

  const shown = window ? Array.from({ length: window.endColumn - window.firstColumn }, (_, at) => window.firstColumn + at) : []
  const wanted = panel?.kind === 'column' ? [panel.column, ...shown] : shown
  const statistics = useStatistics(client, wanted, progress.isCovered || panel?.kind === 'column')
  const cellColumns = useMemo(
    () =>
      columns.map(({ name, type, longest }, at) => ({
        name: columnName(columns, at),
        isNumber: type === 'integer' || type === 'number',
        widthPx: Math.max(112, Math.min(280, 20 + 7.5 * Math.max(longest, name.length + 2))),
      })),
    [columns],
  )

  const copy = async ({ from, to }: CellRange): Promise<void> => {
    const [first, last] = [Math.max(0, Math.min(from.row, to.row)), Math.max(from.row, to.row) + 1]
    const [start, end] = [Math.min(from.column, to.column), Math.max(from.column, to.column) + 1]
    const cells = (last - first) * (end - start)
    if (cells > maxCopied) {
      host.toast(t('viewer.table.copyTooMany', { max: number(maxCopied) }))
      return
    }
    try {
      await copyText(await client.copy(first, last, start, end), t('viewer.table.copied', { count: cells, shown: number(cells) }))
    } catch (error) {
      onFailure(error)
    }
  }
  const sortBy = (column: number): void =>
    setOrder(before => ({
      ...before,
      sort:
        before.sort?.column !== column
          ? { column, isDescending: false }
          : before.sort.isDescending
            ? undefined
            : { column, isDescending: true },
    }))
  const backTo = (place: CellPlace): void => {
    setPanel(undefined)
    grid.current?.focusCell(place)
  }

  const heading = (column: number, tabIndex: 0 | -1): ReactNode => {
    const name = columnName(columns, column)
    const known = statistics.get(column)
    const isSorted = order.sort?.column === column
    return (
      <>
        <button type="button" className="cell-sort" tabIndex={tabIndex} data-tip="" dir="auto" onClick={() => sortBy(column)}>
          <span>{name}</span>
          {isSorted && <Icon name={order.sort?.isDescending ? 'arrow-down' : 'arrow-up'} size={14} />}
        </button>
        <button
          type="button"
          className="cell-chart"
          tabIndex={tabIndex}
          onClick={() => {
            setRange({ from: { row: -1, column }, to: { row: -1, column } })
            setPanel({ kind: 'column', column })
          }}
        >
          <span className="visually-hidden">{t('viewer.table.openColumn', { name })}</span>
          {known?.histogram && <Bars counts={known.histogram} />}
          <span className="line">{known ? summaryOf(known) : t(`viewer.table.types.${columns[column]?.type ?? 'text'}`)}</span>
        </button>
      </>
    )
  }

  const active = range.to
  return (
    <section className="table-viewer" aria-label={host.thing.name}>
      <div className="table-tools">
        <input
          type="search"
          className="input"
          aria-label={t('viewer.table.find')}
          placeholder={t('viewer.table.find')}
          value={find}
          onChange={event => setFind(event.target.value)}
        />
        <Button onPress={() => setPanel(panel?.kind === 'plot' ? undefined : { kind: 'plot' })}>{t('viewer.table.plot')}</Button>
        <Button look="quiet" onPress={() => setPanel(panel?.kind === 'format' ? undefined : { kind: 'format' })}>
          {t('viewer.table.format')}
        </Button>
      </div>
      {(order.filters.length > 0 || order.sort) && (
        <ul className="tags" aria-label={t('viewer.table.filters')}>
          {order.filters.map((filter, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: filters have no identifier
            <li key={at} className="tag">
              <span dir="auto">{filterText(columns, filter)}</span>
              <button
                type="button"
                className="tag-remove"
                aria-label={t('viewer.table.removeFilter', { filter: filterText(columns, filter) })}
                onClick={() => setOrder(before => ({ ...before, filters: before.filters.filter(each => each !== filter) }))}
              >
                <Icon name="x" size={14} />
              </button>
            </li>
          ))}
          {order.sort && (
            <li className="tag">
              <span dir="auto">
                {t(order.sort.isDescending ? 'viewer.table.sortedDown' : 'viewer.table.sortedUp', {
                  name: columnName(columns, order.sort.column),
                })}
              </span>
              <button
                type="button"
                className="tag-remove"
                aria-label={t('viewer.table.unsort')}
                onClick={() => setOrder(before => ({ ...before, sort: undefined }))}
              >
                <Icon name="x" size={14} />
              </button>
            </li>
          )}
        </ul>
      )}
      <div className="table-status" role="status">
        <span>
          {isArranged
            ? t('viewer.table.someRows', { count: arranged, shown: number(arranged), total: number(progress.coveredRows) })
            : t(progress.isComplete ? 'viewer.table.rows' : 'viewer.table.firstRows', {
                count: progress.rows,
                shown: number(progress.rows),
              })}
          {' · '}
          {t('viewer.table.columns', { count: columns.length, shown: number(columns.length) })}
        </span>
        {(isBusy || isReading) && (
          <DotProgress
            label={t(isReading ? 'viewer.table.reading' : 'viewer.table.arranging')}
            {...(isReading ? { done: progress.readBytes, total: progress.sizeBytes } : {})}
          />
        )}
      </div>
      {!progress.isComplete && !isArranged && (
        <p className="help table-note">
          {t('viewer.table.readSoFar', { read: bytes(progress.readBytes), size: bytes(progress.sizeBytes) })}{' '}
          {isReading && !isSmall ? (
            <Button look="quiet" icon="pause" onPress={() => void client.stopReading()}>
              {t('viewer.table.stop')}
            </Button>
          ) : (
            <Button look="quiet" onPress={() => void readOn('all')}>
              {t('viewer.table.readAll')}
            </Button>
          )}
        </p>
      )}
      {isArranged && progress.isCoverPartial && (
        <p className="viewer-warning">{t('viewer.table.partly', { count: progress.coveredRows, shown: number(progress.coveredRows) })}</p>
      )}
      {progress.longRows > 0 && (
        <p className="viewer-warning">{t('viewer.table.longRows', { count: progress.longRows, shown: number(progress.longRows) })}</p>
      )}
      {notes.map(note => (
        <p key={note} className="viewer-warning">
          {note}
        </p>
      ))}
      {failure !== undefined && (
        <div role="alert" className="viewer-warning failed">
          <p>{failure}</p>
          <Button
            icon="rotate-cw"
            onPress={() => {
              setFailure(undefined)
              if (window) onWindow(window)
            }}
          >
            {t('tryAgain')}
          </Button>
        </div>
      )}
      {panel?.kind === 'plot' && (
        <PlotPanel
          client={client}
          columns={columns}
          version={version}
          chosen={isMeasured(columns[active.column]?.type ?? 'text') ? active.column : undefined}
          onClose={() => setPanel(undefined)}
        />
      )}
      <div className={panel && panel.kind !== 'plot' ? 'table-area with-panel' : 'table-area'}>
        {count === 0 && !isBusy ? (
          <p className="empty">{t(isArranged ? 'viewer.table.noMatch' : 'viewer.table.noRows')}</p>
        ) : (
          <CellGrid
            label={t('viewer.table.label', { name: host.thing.name })}
            rows={count}
            columns={cellColumns}
            row={row}
            onWindow={next => {
              setWindow(next)
              onWindow(next)
            }}
            sort={order.sort}
            range={range}
            onRange={setRange}
            onCopy={copied => void copy(copied)}
            onOpen={() => setPanel({ kind: 'cell' })}
            heading={heading}
            handle={grid}
          />
        )}
        {panel?.kind === 'column' && (
          <ColumnPanel
            name={columnName(columns, panel.column)}
            column={panel.column}
            type={columns[panel.column]?.type ?? 'text'}
            statistics={statistics.get(panel.column)}
            isPartial={progress.isCoverPartial}
            order={order}
            onOrder={setOrder}
            onClose={() => backTo({ row: -1, column: panel.column })}
          />
        )}
        {panel?.kind === 'cell' && (
          <CellPanel
            client={client}
            row={active.row}
            column={active.column}
            name={columnName(columns, active.column)}
            onClose={() => backTo(active)}
          />
        )}
        {panel?.kind === 'format' && <aside className="sheet table-panel">{format}</aside>}
      </div>
    </section>
  )
}

const smallBytes = 25_000_000
