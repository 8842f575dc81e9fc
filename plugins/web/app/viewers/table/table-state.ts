import type { DialectChoice } from './engine/dialect.ts'
import { type FilterKind, filterKinds, type RowFilter } from './engine/row-filter.ts'
import type { TableOrder } from './engine/table-engine.ts'

/** The state of a table in the URL. */
export interface TableState {
  readonly order: TableOrder
  /** The active cell, by its position in the current order. */
  readonly row: number
  readonly column: number
  readonly dialectChoice: DialectChoice
}

const isFilterKind = (text: string | undefined): text is FilterKind => (filterKinds as readonly (string | undefined)[]).includes(text)

const index = (text: string | null | undefined): number => {
  const value = Number(text)
  return Number.isSafeInteger(value) && value >= 0 ? value : 0
}

const filterOf = (text: string): readonly RowFilter[] => {
  const [column, kind, ...value] = text.split('~')
  return isFilterKind(kind) ? [{ column: index(column), kind, value: value.join('~') }] : []
}

const encodings: readonly string[] = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252']

/** Parses the state in the URL, ignoring invalid parts. */
export const stateOf = (text: string | undefined): TableState => {
  const params = new URLSearchParams(text ?? '')
  const sort = params.get('sort')
  const [encoding, delimiter, header] = [params.get('encoding'), params.get('delimiter'), params.get('header')]
  return {
    order: {
      sort: sort === null ? undefined : { column: index(sort.replace('-', '')), isDescending: sort.startsWith('-') },
      filters: params.getAll('filter').slice(0, 50).flatMap(filterOf),
      search: params.get('find') ?? '',
    },
    row: index(params.get('row')),
    column: index(params.get('column')),
    dialectChoice: {
      ...(encoding !== null && encodings.includes(encoding) ? { encoding: encoding as 'utf-8' } : {}),
      ...(delimiter?.length === 1 ? { delimiter } : {}),
      ...(header === null ? {} : { hasHeader: header === '1' }),
    },
  }
}

/** Formats a state, omitting defaults; undefined for the initial state. */
export const textOfState = ({ order: { sort, filters, search }, row, column, dialectChoice }: TableState): string | undefined => {
  const params = new URLSearchParams()
  if (sort) params.set('sort', `${sort.isDescending ? '-' : ''}${sort.column}`)
  for (const filter of filters) params.append('filter', `${filter.column}~${filter.kind}~${filter.value}`)
  if (search !== '') params.set('find', search)
  if (row > 0) params.set('row', String(row))
  if (column > 0) params.set('column', String(column))
  if (dialectChoice.encoding !== undefined) params.set('encoding', dialectChoice.encoding)
  if (dialectChoice.delimiter !== undefined) params.set('delimiter', dialectChoice.delimiter)
  if (dialectChoice.hasHeader !== undefined) params.set('header', dialectChoice.hasHeader ? '1' : '0')
  const text = params.toString()
  return text === '' ? undefined : text
}
