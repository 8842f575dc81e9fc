/** A stored value; always a string in text files. */
export type Cell = string | number | boolean | null

export type ColumnType = 'integer' | 'number' | 'date' | 'boolean' | 'text' | 'empty'

export interface TableColumn {
  readonly name: string
  /** Detected from the first rows, or declared by the file. */
  readonly type: ColumnType
  /** Length of the longest text in the first rows. */
  readonly longest: number
}

/** The column of further cells in rows that have more than the rows before. */
export const unnamedColumn: TableColumn = { name: '', type: 'text', longest: 0 }

/** How much of a table has been read. */
export interface TableProgress {
  /** Rows that can be shown. */
  readonly rows: number
  /** Whether `rows` is the total. */
  readonly isComplete: boolean
  /** Rows included in sorting, filters, statistics and plots; final once `isCovered`. */
  readonly coveredRows: number
  readonly isCovered: boolean
  /** Whether sorting, filters, statistics and plots omit rows. */
  readonly isCoverPartial: boolean
  /** Number of columns in the rows read so far. */
  readonly columns: number
  /** Number of rows of which only the beginning is shown. */
  readonly longRows: number
  readonly readBytes: number
  readonly sizeBytes: number
}

/** Maximum size of the part of a file that sorting, filters and statistics cover. */
export const maxCoveredBytes = 100_000_000

/** Reads a range of the file. */
export type ReadBytes = (start: number, end: number) => Promise<Uint8Array>

/** A file with rows and columns, read on demand. */
export interface TableSource {
  /** Columns are added when a row has more cells than the rows before. */
  readonly columns: readonly TableColumn[]
  readonly progress: TableProgress
  /** The decimal sign of numbers in text. */
  readonly decimal: '.' | ','
  /** Continues reading: one part, everything that sorting covers, or the whole file. */
  readOn(until: 'more' | 'covered' | 'all', isWanted: () => boolean): Promise<void>
  /** Rows by their numbers, with the columns from `firstColumn` to before `endColumn`. */
  rows(numbers: readonly number[], firstColumn: number, endColumn: number): Promise<readonly (readonly Cell[])[]>
  /** Visits the columns of all covered rows in order, block by block. */
  scan(
    columns: readonly number[],
    visit: (firstRow: number, values: readonly (readonly Cell[])[]) => void,
    isWanted: () => boolean,
  ): Promise<void>
}

/** A source that can search text without parsing rows. */
export interface TextSource extends TableSource {
  /** Visits the covered rows with a cell that contains the text, ignoring case; undefined for texts that may span cells. */
  findText(lowerCase: string, visit: (row: number) => void, isWanted: () => boolean): Promise<void> | undefined
}

/** The request was superseded by a later one. */
export class Superseded extends Error {
  override name = 'Superseded'
}
