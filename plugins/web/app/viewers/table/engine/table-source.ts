/** A value as it is stored; text where the file has nothing but text. */
export type Cell = string | number | boolean | null

export type ColumnType = 'integer' | 'number' | 'date' | 'boolean' | 'text' | 'empty'

export interface TableColumn {
  readonly name: string
  /** By the first rows, or as the file declares it. */
  readonly type: ColumnType
  /** Characters of the longest text among the first rows. */
  readonly longest: number
}

/** Of rows that are longer than those before. */
export const unnamedColumn: TableColumn = { name: '', type: 'text', longest: 0 }

/** How much of a table is known. */
export interface TableProgress {
  /** Rows that can be shown. */
  readonly rows: number
  /** Whether `rows` is all there are. */
  readonly isComplete: boolean
  /** Rows that sorting, filters, statistics and plots take in, once all that they may read is read. */
  readonly coveredRows: number
  readonly isCovered: boolean
  /** Whether rows are left out by sorting, filters, statistics and plots. */
  readonly isCoverPartial: boolean
  /** Columns of the rows so far. */
  readonly columns: number
  /** Rows of which only the beginning is shown. */
  readonly longRows: number
  readonly readBytes: number
  readonly sizeBytes: number
}

/** What sorting, filters and statistics cover of a file. */
export const maxCoveredBytes = 100_000_000

/** Reads a range of the file. */
export type ReadBytes = (start: number, end: number) => Promise<Uint8Array>

/** A file with rows and columns, read on demand. */
export interface TableSource {
  /** Further ones come when a row has more cells than those before. */
  readonly columns: readonly TableColumn[]
  readonly progress: TableProgress
  /** The decimal sign of numbers in text. */
  readonly decimal: '.' | ','
  /** Reads on: a part, all that may be sorted, or all. */
  readOn(until: 'more' | 'covered' | 'all', isWanted: () => boolean): Promise<void>
  /** Rows by their numbers, with the columns from `firstColumn` to before `endColumn`. */
  rows(numbers: readonly number[], firstColumn: number, endColumn: number): Promise<readonly (readonly Cell[])[]>
  /** Hands over the columns of all covered rows, block by block, in their order. */
  scan(
    columns: readonly number[],
    visit: (firstRow: number, values: readonly (readonly Cell[])[]) => void,
    isWanted: () => boolean,
  ): Promise<void>
}

/** A source that finds text without taking rows apart. */
export interface TextSource extends TableSource {
  /** Hands over the covered rows of which a cell has a text, whatever its case; undefined for a text that may lie across cells. */
  findText(lowerCase: string, visit: (row: number) => void, isWanted: () => boolean): Promise<void> | undefined
}

/** Another request took the place of this one. */
export class Superseded extends Error {
  override name = 'Superseded'
}
