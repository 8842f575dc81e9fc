import type { Models } from '../../api.ts'

export type QueryConditions = Models['QueryConditions']
type Condition = NonNullable<QueryConditions['conditions']>[number]

/** Operators of a row in the builder. Words, phrases and expressions are all written with a colon. */
export const operators = ['words', 'phrase', 'expression', '==', '!=', '<', '<=', '>', '>=', 'exists', 'missing'] as const
export type RowOperator = (typeof operators)[number]

/** Operators that can be used without a field. */
export const fieldlessOperators: readonly RowOperator[] = ['words', 'phrase', 'expression']

/** A condition of a query, as shown in the builder. */
export interface QueryRow {
  readonly id: number
  readonly not: boolean
  /** Empty: anywhere. */
  readonly field: string
  readonly operator: RowOperator
  readonly value: string
}

let lastId = 0

export const emptyRow = (): QueryRow => {
  lastId++
  return { id: lastId, not: false, field: '', operator: 'words', value: '' }
}

const rowOf = ({ not, field, operator, values }: Condition): QueryRow | undefined => {
  const base = { ...emptyRow(), not, field: field ?? '' }
  if (operator === 'exists' || operator === 'missing') return { ...base, operator, value: '' }
  const [first, ...more] = values
  if (!first) return undefined
  if (more.length > 0 && values.some(({ is }) => is !== 'words')) return undefined
  return { ...base, operator: operator === ':' ? first.is : operator, value: values.map(({ text }) => text).join('|') }
}

/** The rows of a query; undefined if the query is more than a flat list of conditions. */
export const rowsOf = ({ conditions }: QueryConditions): readonly QueryRow[] | undefined => {
  const rows = conditions?.map(rowOf)
  return rows?.every(row => row !== undefined) ? rows : undefined
}

/** A query to which conditions can be added: AND has precedence over OR. */
export const grouped = (query: string): string => (/\bOR\b/.test(query) ? `(${query})` : query)

const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, '\\$&')}"`

/** A word of the query language, quoted if necessary. */
const word = (text: string, isPlain: RegExp): string =>
  isPlain.test(text) && !/^(?:AND|OR|NOT|CONTAINS)$/.test(text) ? text : quoted(text)

const hasSyntax = /[():<>="]|^(?:AND|OR|NOT|CONTAINS)$/
const plainField = /^[\p{L}\p{N}_.-]+$/u
const plainValue = /^[\p{L}\p{N}_.+-][\p{L}\p{N}_.+:-]*$/u

const writtenValue = ({ operator, value }: QueryRow): string => {
  const text = value.trim()
  if (operator === 'phrase') return quoted(text)
  if (operator === 'expression') return `/${text}/`
  // Read as part of the query otherwise, as in `name:(2021)`.
  if (operator === 'words' && hasSyntax.test(text)) return quoted(text)
  // Two underscores stand for a space between adjacent words.
  if (operator === 'words') return text.replaceAll(/\s*\|\s*/g, '|').replaceAll(/\s+/g, '__')
  return word(text, plainValue)
}

const textOfRow = (row: QueryRow): string => {
  const { not, field, operator } = row
  const name = word(field.trim(), plainField)
  const text =
    operator === 'exists' || operator === 'missing'
      ? `${operator}:${name}`
      : (field.trim() === '' ? '' : name + (fieldlessOperators.includes(operator) ? ':' : operator)) + writtenValue(row)
  return not ? `NOT ${text}` : text
}

const isWhole = ({ field, operator, value }: QueryRow): boolean =>
  operator === 'exists' || operator === 'missing' ? field.trim() !== '' : value.trim() !== ''

/** The query text of rows; incomplete rows are omitted. */
export const textOf = (rows: readonly QueryRow[], join: QueryConditions['join']): string =>
  rows
    .filter(isWhole)
    .map(textOfRow)
    .join(join === 'or' ? ' OR ' : ' ')
