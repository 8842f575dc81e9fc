import { number } from '../../lib/format.ts'
import { currentLanguage, t } from '../../lib/i18n.ts'
import type { RowFilter } from './engine/row-filter.ts'
import type { ColumnStatistics } from './engine/statistics.ts'
import type { ColumnType, TableColumn } from './engine/table-source.ts'

/** The name of a column, or its number where it has none. */
export const columnName = (columns: readonly TableColumn[], column: number): string =>
  columns[column]?.name || t('viewer.table.column', { number: number(column + 1) })

/** A short description of a filter. */
export const filterText = (columns: readonly TableColumn[], { column, kind, value }: RowFilter): string =>
  t(`viewer.table.filterTexts.${kind}`, { name: columnName(columns, column), value })

/** Formats a number or date of a column. */
export const measureText = (value: number, type: ColumnType): string => {
  if (type === 'date') {
    const text = Number.isFinite(value) && Math.abs(value) < 8.64e15 ? new Date(value).toISOString() : ''
    return text.endsWith('T00:00:00.000Z') ? text.slice(0, 10) : text.replace('T', ' ').replace(/(?:\.000)?Z$/, '')
  }
  const size = Math.abs(value)
  if (size !== 0 && (size < 0.001 || size >= 1e12)) return value.toPrecision(5).replace(/\.?0+e/, 'e')
  return new Intl.NumberFormat(currentLanguage(), { maximumSignificantDigits: size >= 100_000 ? 12 : 6 }).format(value)
}

const percents = (part: number, whole: number): string => {
  const share = whole === 0 ? 0 : part / whole
  return new Intl.NumberFormat(currentLanguage(), { style: 'percent', maximumFractionDigits: share < 0.1 ? 1 : 0 }).format(share)
}

/** A count with its percentage. */
export const countText = (count: number, rows: number): string => `${number(count)} (${percents(count, rows)})`

/** The summary in the heading of a column. */
export const summaryOf = ({ type, measures, missing, rows, distinct, isDistinctCut }: ColumnStatistics): string => {
  const parts = measures
    ? [[...new Set([measures.min, measures.max])].map(value => measureText(value, type)).join(' – ')]
    : [t(isDistinctCut ? 'viewer.table.moreDistinct' : 'viewer.table.distinctCount', { count: distinct, shown: number(distinct) })]
  if (missing > 0) parts.push(t('viewer.table.missingShare', { share: percents(missing, rows) }))
  return parts.join(' · ')
}
