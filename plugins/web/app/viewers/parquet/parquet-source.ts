import { type AsyncBuffer, type Compressors, type FileMetaData, parquetMetadataAsync, parquetRead, parquetSchema } from 'hyparquet'
import { nextTurn } from '../lib/next-turn.ts'
import type { Cell, ColumnType, ReadBytes, TableColumn, TableProgress, TableSource } from '../table/engine/table-source.ts'
import { maxCoveredBytes } from '../table/engine/table-source.ts'
import { TypeCount } from '../table/engine/values.ts'
import { exactTimes, withExactDecimals } from './exact-values.ts'

const maxColumns = 10_000
const maxTextLength = 200_000
/** Maximum number of decoded values cached. */
const maxKeptValues = 4_000_000

interface Group {
  readonly first: number
  readonly end: number
}

/** Details from the metadata of the file. */
export interface ParquetDetails {
  readonly rowGroups: number
  readonly codecs: readonly string[]
  readonly createdBy: string | undefined
}

const typeOf = (value: unknown): ColumnType | undefined => {
  if (value === null || value === undefined) return undefined
  if (value instanceof Date) return 'date'
  if (typeof value === 'boolean') return 'boolean'
  return typeof value === 'string' || typeof value === 'object' ? 'text' : undefined
}

const plain = (_: string, value: unknown): unknown => {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  return value instanceof Uint8Array ? bytesText(value) : value
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Bytes of an undeclared type: text if they are, otherwise hexadecimal. */
const bytesText = (bytes: Uint8Array): string => {
  try {
    const text = utf8.decode(bytes)
    return /\p{Cc}/u.test(text.replace(/[\t\n\r]/g, '')) ? hexOf(bytes) : text
  } catch {
    return hexOf(bytes)
  }
}

const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes.subarray(0, 64), byte => byte.toString(16).padStart(2, '0')).join('') + (bytes.length > 64 ? '…' : '')

/** A value as the table shows it: dates in ISO 8601, nested values as JSON. */
export const cellOf = (value: unknown): Cell => {
  if (value === null || value === undefined) return null
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string') return value
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString().replace('T00:00:00.000Z', '')
  return (value instanceof Uint8Array ? bytesText(value) : JSON.stringify(value, plain)).slice(0, maxTextLength)
}

/** Parquet, read by row group. Only row groups and columns in view are read. */
export class ParquetSource implements TableSource {
  readonly columns: readonly TableColumn[]
  readonly decimal = '.'
  readonly isWide: boolean
  readonly details: ParquetDetails
  #file: AsyncBuffer
  #metadata: FileMetaData
  #declared: FileMetaData
  #decimals: ReturnType<typeof withExactDecimals>['formats']
  #compressors: Compressors | undefined
  #groups: readonly Group[]
  #sizeBytes: number
  #rows: number
  #coveredRows: number
  #cache = new Map<string, Promise<readonly Cell[]>>()
  #keptValues = 0

  static async open(read: ReadBytes, sizeBytes: number): Promise<ParquetSource> {
    const file: AsyncBuffer = {
      byteLength: sizeBytes,
      slice: async (start, end = sizeBytes) => {
        const { buffer, byteOffset, byteLength } = await read(start < 0 ? sizeBytes + start : start, end < 0 ? sizeBytes + end : end)
        return buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer
      },
    }
    const metadata = await parquetMetadataAsync(file)
    const codecs = new Set(metadata.row_groups.flatMap(({ columns }) => columns.map(({ meta_data }) => meta_data?.codec ?? 'UNCOMPRESSED')))
    const needsMore = [...codecs].some(codec => codec !== 'UNCOMPRESSED' && codec !== 'SNAPPY')
    const compressors = needsMore ? (await import('hyparquet-compressors')).compressors : undefined
    const source = new ParquetSource(file, sizeBytes, metadata, [...codecs], compressors)
    return source.#withTypes()
  }

  private constructor(
    file: AsyncBuffer,
    sizeBytes: number,
    metadata: FileMetaData,
    codecs: readonly string[],
    compressors: Compressors | undefined,
    columns?: readonly TableColumn[],
  ) {
    this.#file = file
    this.#sizeBytes = sizeBytes
    this.#declared = metadata
    const exact = withExactDecimals(metadata)
    this.#metadata = exact.metadata
    this.#decimals = exact.formats
    this.#compressors = compressors
    const names = parquetSchema(metadata).children.map(({ element }) => element.name)
    this.isWide = names.length > maxColumns
    this.columns = columns ?? names.slice(0, maxColumns).map(name => ({ name, type: 'text', longest: name.length }))
    this.details = { rowGroups: metadata.row_groups.length, codecs, createdBy: metadata.created_by }
    let first = 0
    let bytes = 0
    let covered = 0
    this.#groups = metadata.row_groups.map(({ num_rows, total_byte_size, total_compressed_size }, at) => {
      const group = { first, end: first + Number(num_rows) }
      bytes += Number(total_compressed_size ?? total_byte_size)
      if (at === 0 || bytes <= maxCoveredBytes) covered = group.end
      first = group.end
      return group
    })
    this.#rows = first
    this.#coveredRows = covered
  }

  /** Detects types from the first values, since the schema says little about nested values and logical types. */
  async #withTypes(): Promise<ParquetSource> {
    const [group] = this.#groups
    if (!group || group.end === 0) return this
    const sample = Math.min(group.end, 500)
    const shown = this.columns.slice(0, 200)
    const raw = await this.#readRaw(
      shown.map(({ name }) => name),
      0,
      sample,
    )
    const columns = this.columns.map((column, at): TableColumn => {
      const values = raw[at]
      if (!values) return column
      const found = values.map(typeOf).find(type => type !== undefined)
      const count = new TypeCount()
      for (const value of values) count.add(cellOf(value), '.')
      const longest = Math.max(0, ...values.slice(0, 100).map(value => String(cellOf(value) ?? '').length))
      return { name: column.name, type: this.#decimals.has(column.name) ? 'number' : (found ?? count.type), longest }
    })
    return new ParquetSource(this.#file, this.#sizeBytes, this.#declared, this.details.codecs, this.#compressors, columns)
  }

  get progress(): TableProgress {
    return {
      rows: this.#rows,
      isComplete: true,
      coveredRows: this.#coveredRows,
      isCovered: true,
      isCoverPartial: this.#coveredRows < this.#rows,
      columns: this.columns.length,
      longRows: 0,
      readBytes: this.#sizeBytes,
      sizeBytes: this.#sizeBytes,
    }
  }

  async readOn(): Promise<void> {
    // Nothing to read ahead: the footer contains all positions.
  }

  /** Values of columns from row `first` to before `end`. */
  async #readRaw(names: readonly string[], first: number, end: number): Promise<readonly (readonly unknown[])[]> {
    const columns = names.map(() => new Array<unknown>(end - first))
    const places = new Map(names.map((name, at) => [name, at]))
    await parquetRead({
      file: this.#file,
      metadata: this.#metadata,
      columns: [...names],
      rowStart: first,
      rowEnd: end,
      useOffsetIndex: true,
      utf8: false,
      parsers: exactTimes,
      ...(this.#compressors ? { compressors: this.#compressors } : {}),
      onChunk: ({ columnName, columnData, rowStart }) => {
        const column = columns[places.get(columnName) ?? -1]
        const format = this.#decimals.get(columnName)
        for (let at = 0; column && at < columnData.length; at++) {
          const row = rowStart + at - first
          const value = columnData[at]
          if (row >= 0 && row < column.length) column[row] = format && value !== null && value !== undefined ? format(value) : value
        }
      },
    })
    return columns
  }

  /** A column of a row group, cached once decoded. */
  #column(group: Group, column: number): Promise<readonly Cell[]> {
    const key = `${group.first}:${column}`
    const known = this.#cache.get(key)
    if (known) {
      // Moves it to the end: the least recently used one is evicted first.
      this.#cache.delete(key)
      this.#cache.set(key, known)
      return known
    }
    const values = group.end - group.first
    const name = this.columns[column]?.name ?? ''
    const reading = this.#readRaw([name], group.first, group.end).then(([cells = []]) => cells.map(cellOf))
    reading.catch(() => this.#cache.delete(key))
    this.#cache.set(key, reading)
    this.#keptValues += values
    for (const [oldest] of this.#cache) {
      if (this.#keptValues <= maxKeptValues || oldest === key) break
      const [first] = oldest.split(':').map(Number)
      const other = this.#groups.find(each => each.first === first)
      this.#keptValues -= other ? other.end - other.first : 0
      this.#cache.delete(oldest)
    }
    return reading
  }

  #groupOf(row: number): Group | undefined {
    let low = 0
    let high = this.#groups.length - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((this.#groups[middle]?.first ?? 0) <= row) low = middle
      else high = middle - 1
    }
    return this.#groups[low]
  }

  async rows(numbers: readonly number[], firstColumn: number, endColumn: number): Promise<readonly (readonly Cell[])[]> {
    const wanted = Array.from({ length: Math.min(endColumn, this.columns.length) - firstColumn }, (_, at) => firstColumn + at)
    const groups = new Set(numbers.map(row => this.#groupOf(row)))
    const read = new Map<Group | undefined, readonly (readonly Cell[])[]>()
    for (const group of groups) if (group) read.set(group, await Promise.all(wanted.map(column => this.#column(group, column))))
    return numbers.map(row => {
      const group = this.#groupOf(row)
      return (read.get(group) ?? []).map(cells => cells[row - (group?.first ?? 0)] ?? null)
    })
  }

  async scan(
    columns: readonly number[],
    visit: (firstRow: number, values: readonly (readonly Cell[])[]) => void,
    isWanted: () => boolean,
  ): Promise<void> {
    for (const group of this.#groups) {
      if (group.first >= this.#coveredRows) return
      const cells: (readonly Cell[])[] = []
      for (const column of columns) cells.push(await this.#column(group, column))
      visit(group.first, cells)
      await nextTurn()
      if (!isWanted()) return
    }
  }
}
