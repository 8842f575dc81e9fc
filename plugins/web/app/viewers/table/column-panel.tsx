import { type ReactNode, useState } from 'react'
import { Button, IconButton } from '../../components/controls.tsx'
import { Loading } from '../../components/page-parts.tsx'
import { number } from '../../lib/format.ts'
import { t } from '../../lib/i18n.ts'
import { countText, measureText } from './column-texts.ts'
import { type FilterKind, filterKinds, type RowFilter } from './engine/row-filter.ts'
import type { ColumnStatistics } from './engine/statistics.ts'
import type { TableOrder } from './engine/table-engine.ts'
import type { ColumnType } from './engine/table-source.ts'
import { isMeasured } from './engine/values.ts'
import { usePanel } from './use-panel.ts'

interface ColumnPanelProps {
  readonly name: string
  readonly column: number
  readonly type: ColumnType
  readonly statistics: ColumnStatistics | undefined
  readonly isPartial: boolean
  readonly order: TableOrder
  readonly onOrder: (change: (before: TableOrder) => TableOrder) => void
  readonly onClose: () => void
}

/** Statistics of a column, and its filters and sort order. */
export const ColumnPanel = ({ name, column, type, statistics, isPartial, order, onOrder, onClose }: ColumnPanelProps) => {
  const panel = usePanel(onClose)
  const addFilters = (filters: readonly RowFilter[]): void =>
    onOrder(before => ({ ...before, filters: [...before.filters.filter(each => each.column !== column), ...filters] }))
  const sort = order.sort?.column === column ? order.sort : undefined
  return (
    <aside {...panel} className="sheet table-panel" aria-label={t('viewer.table.columnTitle', { name })}>
      <div className="panel-head">
        <h2 dir="auto">{name}</h2>
        <IconButton icon="x" label={t('close')} onPress={onClose} />
      </div>
      <div className="actions">
        <Button
          icon="arrow-up"
          isDisabled={sort?.isDescending === false}
          onPress={() => onOrder(before => ({ ...before, sort: { column, isDescending: false } }))}
        >
          {t('viewer.table.sortUp')}
        </Button>
        <Button
          icon="arrow-down"
          isDisabled={sort?.isDescending === true}
          onPress={() => onOrder(before => ({ ...before, sort: { column, isDescending: true } }))}
        >
          {t('viewer.table.sortDown')}
        </Button>
      </div>
      <FilterForm key={column} column={column} type={statistics?.type ?? type} onFilter={filter => addFilters([filter])} />
      <h3>{t('viewer.table.statistics')}</h3>
      {statistics ? <Statistics name={name} column={column} statistics={statistics} onFilter={addFilters} /> : <Loading />}
      {statistics && isPartial && (
        <p className="help">{t('viewer.table.partlyCounted', { count: statistics.rows, shown: number(statistics.rows) })}</p>
      )}
    </aside>
  )
}

const FilterForm = ({
  column,
  type,
  onFilter,
}: {
  readonly column: number
  readonly type: ColumnType
  readonly onFilter: (filter: RowFilter) => void
}) => {
  const [kind, setKind] = useState<FilterKind>(isMeasured(type) ? 'atLeast' : 'contains')
  const [value, setValue] = useState('')
  const needsValue = kind !== 'missing' && kind !== 'present'
  return (
    <form
      className="filter-form"
      onSubmit={event => {
        event.preventDefault()
        if (!needsValue || value !== '') onFilter({ column, kind, value: needsValue ? value : '' })
      }}
    >
      <select
        className="input"
        aria-label={t('viewer.table.filterKind')}
        value={kind}
        onChange={event => setKind(event.target.value as FilterKind)}
      >
        {filterKinds.map(each => (
          <option key={each} value={each}>
            {t(`viewer.table.filterKinds.${each}`)}
          </option>
        ))}
      </select>
      {needsValue && (
        <input
          className="input"
          aria-label={t('viewer.table.filterValue')}
          value={value}
          onChange={event => setValue(event.target.value)}
        />
      )}
      <Button type="submit" isDisabled={needsValue && value === ''}>
        {t('viewer.table.filter')}
      </Button>
    </form>
  )
}

const Statistics = ({
  name,
  column,
  statistics: { type, rows, missing, unfit, distinct, isDistinctCut, measures, histogram, frequent },
  onFilter,
}: {
  readonly name: string
  readonly column: number
  readonly statistics: ColumnStatistics
  readonly onFilter: (filters: readonly RowFilter[]) => void
}) => (
  <>
    <dl className="facts-table">
      <dt>{t('viewer.table.type')}</dt>
      <dd>{t(`viewer.table.types.${type}`)}</dd>
      <dt>{t('viewer.table.missing')}</dt>
      <dd>{countText(missing, rows)}</dd>
      {unfit > 0 && (
        <>
          <dt>{t('viewer.table.unfit')}</dt>
          <dd>{countText(unfit, rows)}</dd>
        </>
      )}
      <dt>{t('viewer.table.distinct')}</dt>
      <dd>{isDistinctCut ? t('viewer.table.over', { value: number(distinct) }) : number(distinct)}</dd>
      {measures &&
        (['min', 'median', 'mean', 'max', 'deviation'] as const)
          .filter(each => type !== 'date' || each !== 'deviation')
          .map(each => (
            <div key={each} className="fact-pair">
              <dt>{t(`viewer.table.${each}`)}</dt>
              <dd>{measureText(measures[each], type)}</dd>
            </div>
          ))}
    </dl>
    {measures && histogram && (
      <CountTable caption={t('viewer.table.histogramOf', { name })} heading={t('viewer.table.values')}>
        {histogram.map((count, at) => {
          const isWhole = type === 'integer' && histogram.length === measures.max - measures.min + 1
          const width = (measures.max - measures.min) / histogram.length
          const from = isWhole ? measures.min + at : measures.min + at * width
          const to = at === histogram.length - 1 ? measures.max : measures.min + (at + 1) * width
          const text = isWhole || histogram.length === 1 ? measureText(from, type) : `${measureText(from, type)} – ${measureText(to, type)}`
          const plain = (value: number): string => (type === 'date' ? new Date(value).toISOString() : String(value))
          return (
            <Count
              // biome-ignore lint/suspicious/noArrayIndexKey: steps are identified by position
              key={at}
              text={text}
              count={count}
              most={Math.max(...histogram)}
              onPress={() =>
                onFilter(
                  isWhole
                    ? [{ column, kind: 'equals', value: plain(from) }]
                    : [
                        { column, kind: 'atLeast', value: plain(from) },
                        { column, kind: 'atMost', value: plain(to) },
                      ],
                )
              }
            />
          )
        })}
      </CountTable>
    )}
    {frequent && frequent.length > 0 && (
      <CountTable caption={t('viewer.table.frequentOf', { name })} heading={t('viewer.table.frequent')}>
        {frequent.map(({ value, count }) => (
          <Count
            key={value}
            text={value}
            count={count}
            most={frequent[0]?.count ?? 1}
            onPress={() => onFilter([{ column, kind: value.length < 200 ? 'equals' : 'contains', value }])}
          />
        ))}
      </CountTable>
    )}
  </>
)

const CountTable = ({
  caption,
  heading,
  children,
}: {
  readonly caption: string
  readonly heading: string
  readonly children: ReactNode
}) => (
  <table className="table counts">
    <caption className="visually-hidden">{caption}</caption>
    <thead>
      <tr>
        <th scope="col">{heading}</th>
        <th scope="col" className="number">
          {t('viewer.table.count')}
        </th>
      </tr>
    </thead>
    <tbody>{children}</tbody>
  </table>
)

const Count = ({
  text,
  count,
  most,
  onPress,
}: {
  readonly text: string
  readonly count: number
  readonly most: number
  readonly onPress: () => void
}) => (
  <tr>
    <td>
      <button type="button" className="count-filter" dir="auto" onClick={onPress} aria-label={t('viewer.table.filterTo', { value: text })}>
        <span className="count-bar" style={{ inlineSize: `${(100 * count) / Math.max(1, most)}%` }} />
        <span className="count-text">{text}</span>
      </button>
    </td>
    <td className="number">{number(count)}</td>
  </tr>
)
