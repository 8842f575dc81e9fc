import type { ColumnValue, RowFormat } from '../ports/row-format.ts'
import { leavesAt, valueAt } from './paths.ts'

/** The value of a cell: a string, a number, null, `unquoted` text such as a date, or a list. */
export type CellValue = string | number | boolean | null | { readonly unquoted: string } | readonly string[]

/** Looks up a document by collection name and id. */
export type FoundDocument = (collection: string, id: string) => unknown

/** A cell without quotes, empty for null; for ISO 8601 dates. */
export const unquoted = (text: string | null | undefined): CellValue => (text ? { unquoted: text } : null)

/** First characters that make spreadsheets interpret a cell as a formula. */
const formula = /^[=+\-@\t\r\n]/
const plain = /^[\w.][\w:.+-]*$/

/** A quoted CSV cell; text that a spreadsheet would interpret as a formula is prefixed with an apostrophe. */
export const quotedCsv = (text: string): string => `"${(formula.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`

const isBare = (value: CellValue): value is { readonly unquoted: string } =>
  typeof value === 'object' && value !== null && 'unquoted' in value

const csvCell = (value: CellValue): string => {
  if (value === null) return ''
  if (typeof value === 'string') return quotedCsv(value)
  if (isBare(value)) return plain.test(value.unquoted) ? value.unquoted : quotedCsv(value.unquoted)
  return Array.isArray(value) ? quotedCsv(value.join(', ')) : String(value)
}

/** Formats a cell. */
export const formatCell = (format: RowFormat['syntax'], value: CellValue): string =>
  format === 'csv' ? csvCell(value) : JSON.stringify(isBare(value) ? value.unquoted : value)

/** Formats a line from its cells. */
export const formatRow = (format: RowFormat['syntax'], names: readonly string[], values: readonly CellValue[]): string => {
  const cells = values.map(value => formatCell(format, value))
  return format === 'csv' ? cells.join(',') : `{${cells.map((cell, at) => `${JSON.stringify(names[at])}:${cell}`).join(',')}}`
}

/** The separator between lines. */
export const rowSeparator = (format: RowFormat['syntax']): string => (format === 'csv' ? '\r\n' : ',\n')

const textsAt = (document: unknown, path: string): readonly string[] => [
  ...new Set(
    leavesAt(document, path).flatMap(leaf => (typeof leaf === 'string' ? [leaf] : typeof leaf === 'number' ? [String(leaf)] : [])),
  ),
]

const scalarAt = (document: unknown, { at, as }: Extract<ColumnValue, { at: string }>): CellValue => {
  const value = valueAt(document, at)
  if (as === 'thousands') return typeof value === 'number' ? Math.floor(value / 1000) : null
  if (typeof value === 'string') return as === 'text' ? value : unquoted(value)
  if (typeof value === 'number' || typeof value === 'boolean') return as === 'text' ? String(value) : value
  return as === 'text' ? '' : null
}

const wordsOf = (document: unknown, paths: readonly string[]): string =>
  paths
    .flatMap(path => textsAt(document, path))
    .filter(word => word !== '')
    .join(' ')

/** The value of a cell for a document. */
export const cellValueIn = (cell: ColumnValue, document: unknown, found: FoundDocument): CellValue => {
  if ('is' in cell) return cell.is
  if ('at' in cell) return scalarAt(document, cell)
  if (!('of' in cell)) return textsAt(document, cell.each)
  const others = textsAt(document, cell.of).flatMap(id => found(cell.in.name, id) ?? [])
  if ('words' in cell) return [...new Set(others.map(other => wordsOf(other, cell.words)))].join(', ')
  return [...new Set(others.flatMap(other => textsAt(other, cell.each)))]
}

/** Formats a document as a line. */
export const formatDocument = ({ syntax, columns }: RowFormat, document: unknown, found: FoundDocument): string =>
  formatRow(
    syntax,
    columns.map(({ name }) => name),
    columns.map(({ cell }) => cellValueIn(cell, document, found)),
  )

/** Documents per chunk, and cached referenced documents per collection. */
const together = 500
const remembered = 5000

/** Formats documents as chunks of lines, for stores without a faster implementation. `getMany` loads referenced documents, at most 1,000 at a time. */
export async function* formatDocuments(
  documents: AsyncIterable<object>,
  format: RowFormat,
  getMany: (collection: string, ids: readonly string[]) => Promise<ReadonlyMap<string, object>>,
): AsyncGenerator<Uint8Array> {
  const known = new Map<string, Map<string, object | undefined>>()
  const lookUp = async (batch: readonly object[], of: string, collection: string): Promise<void> => {
    const here = known.get(collection) ?? new Map<string, object | undefined>()
    known.set(collection, here)
    const wanted = new Set(batch.flatMap(document => textsAt(document, of)))
    if (here.size + wanted.size > remembered) for (const id of here.keys()) if (!wanted.has(id)) here.delete(id)
    const missing = [...wanted].filter(id => !here.has(id))
    for (let at = 0; at < missing.length; at += 1000) {
      const some = missing.slice(at, at + 1000)
      const found = await getMany(collection, some)
      for (const id of some) here.set(id, found.get(id))
    }
  }
  const print = async (batch: readonly object[]): Promise<Uint8Array> => {
    for (const { cell } of format.columns) if ('of' in cell) await lookUp(batch, cell.of, cell.in.name)
    const found: FoundDocument = (collection, id) => known.get(collection)?.get(id)
    return Buffer.from(batch.map(document => formatDocument(format, document, found)).join(rowSeparator(format.syntax)))
  }
  let batch: object[] = []
  for await (const document of documents) {
    batch.push(document)
    if (batch.length < together) continue
    yield await print(batch)
    batch = []
  }
  if (batch.length > 0) yield await print(batch)
}
