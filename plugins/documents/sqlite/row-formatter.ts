import type { Find } from 'pounce/sdk'
import { type ColumnValue, isJsonObject, type RowFormat, rowSeparator } from 'pounce/sdk/kit'
import type { Connection } from 'pounce/sdk/sqlite'
import { cellValueIn, type FoundDocument, formatCell, formatDocument } from 'pounce/sdk/store-kit'
import { type ScanPlace, scanPart } from './scanning.ts'
import type { CollectionTable } from './table.ts'

/** Documents with the same layout: the same members in the same order. Groups capture JSON text. */
interface Pattern {
  /** Matches a whole document text. Captured strings have no escapes. */
  readonly regex: RegExp
  /** Which group contains the value at a path, and how many steps of the path lead to it; the rest is inside the captured value. Undefined when absent. */
  readonly groups: ReadonlyMap<string, { readonly group: number; readonly steps: number }>
}

const text = '"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"'

const other = '-?[0-9][0-9.eE+-]*|null|true|false'

const scalar = `(?:${text}|${other})`

const caught = `("[^"\\\\]*"|${other})`

/** Each character can start only one alternative, so there is no backtracking. */
const flatArray = `\\[(?:[^\\]"\\[]|${text})*\\]`

const caughtArray = '(\\[(?:[^\\]"\\[]|"[^"\\\\]*")*\\])'

const flatObject = `\\{(?:[^{}"]|${text})*\\}`

const literal = (name: string): string => JSON.stringify(name).replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')

/** A pattern for texts with the layout of this document, with the values at the paths in groups. */
export const patternOf = (document: object, paths: readonly string[]): Pattern => {
  const groups = new Map<string, { group: number; steps: number }>()
  let last = 0
  const catching = (wanted: readonly string[], steps: number, source: string): string => {
    last += 1
    for (const path of wanted) groups.set(path, { group: last, steps })
    return source
  }
  const sourceOf = (value: unknown, wanted: readonly string[], steps: number): string => {
    const isWanted = wanted.length > 0
    if (Array.isArray(value)) return isWanted ? catching(wanted, steps, caughtArray) : flatArray
    if (!isJsonObject(value)) return isWanted ? catching(wanted, steps, caught) : scalar
    return isWanted ? membersOf(value, wanted, steps) : flatObject
  }
  const membersOf = (value: Readonly<Record<string, unknown>>, wanted: readonly string[], steps: number): string => {
    const members = Object.entries(value).map(([name, member]) => {
      const inside = wanted.filter(path => path.split('.')[steps] === name)
      return `${literal(name)}:${sourceOf(member, inside, steps + 1)}`
    })
    return `\\{${members.join(',')}\\}`
  }
  return { regex: new RegExp(`^${membersOf(document as Readonly<Record<string, unknown>>, paths, 0)}$`), groups }
}

/** Maximum number of layouts per collection: documents differ in their optional members. */
const maxPatterns = 4

/** Longer texts mostly consist of lists, for which a regular expression is slower than parsing and may overflow its stack. */
const maxMatchedLength = 65_536

/** Cache of formatted cells by source text: names of people, lists of parents. Longer texts are not cached. */
const maxCached = 2000
const maxCachedLength = 1000

type MakeCell = (text: string) => string

/** How a line is made from the groups of a pattern: the text before each cell, and the cell. */
interface Recipe {
  readonly regex: RegExp
  readonly parts: readonly { readonly before: string; readonly group: number; readonly make: MakeCell }[]
  readonly end: string
}

const formulas = new Set([...'=+-@'].map(sign => sign.charCodeAt(0)))

const plain = /^"[\w.][\w:.+-]*"$/

const number = /^[-0-9]/

/** As many digits as any exact integer can have. */
const whole = /^[0-9]{1,15}$/

const quote = 34

const pathOf = (cell: ColumnValue): string | undefined =>
  'is' in cell ? undefined : 'at' in cell ? cell.at : 'of' in cell ? cell.of : cell.each

/** A document that contains one value at the first steps of a path. */
const around = (path: string, steps: number, value: unknown): unknown =>
  path
    .split('.')
    .slice(0, steps)
    .reduceRight<unknown>((inner, step) => ({ [step]: inner }), value)

/**
 * Formats document texts as lines without parsing them, where their layout is already known: a string without escapes is the
 * same in JSON and in a quoted CSV cell. All others are parsed. The lines are those of `formatDocument`.
 */
export class RowFormatter {
  readonly #format: RowFormat
  readonly #found: FoundDocument
  readonly #paths: readonly string[]
  #recipes: readonly Recipe[] = []

  constructor(format: RowFormat, found: FoundDocument) {
    this.#format = format
    this.#found = found
    this.#paths = [...new Set(format.columns.map(({ cell }) => pathOf(cell)).filter(path => path !== undefined))]
  }

  row(text: string): string {
    const isShort = text.length <= maxMatchedLength
    for (const recipe of isShort ? this.#recipes : []) {
      const match = recipe.regex.exec(text)
      if (match) return written(recipe, match)
    }
    const document = JSON.parse(text) as object
    if (isShort && this.#recipes.length < maxPatterns) this.#learn(document, text)
    return formatDocument(this.#format, document, this.#found)
  }

  /** A layout that its own pattern does not match, such as one with nested lists, need not be tried. */
  #learn(document: object, text: string): void {
    const pattern = patternOf(document, this.#paths)
    if (pattern.regex.test(text)) this.#recipes = [...this.#recipes, this.#recipeOf(pattern)]
  }

  #recipeOf({ regex, groups }: Pattern): Recipe {
    const { syntax, columns } = this.#format
    const parts: Recipe['parts'][number][] = []
    let before = syntax === 'csv' ? '' : '{'
    for (const [at, { name, cell }] of columns.entries()) {
      if (at > 0) before += ','
      if (syntax === 'json') before += `${JSON.stringify(name)}:`
      const path = pathOf(cell)
      const place = path === undefined ? undefined : groups.get(path)
      if (path === undefined || place === undefined) {
        before += formatCell(syntax, cellValueIn(cell, {}, this.#found))
        continue
      }
      parts.push({ before, group: place.group, make: this.#cellMaker(cell, path, place.steps) })
      before = ''
    }
    return { regex, parts, end: syntax === 'csv' ? before : `${before}}` }
  }

  #cellMaker(cell: ColumnValue, path: string, steps: number): MakeCell {
    const { syntax } = this.#format
    const slowly: MakeCell = text => formatCell(syntax, cellValueIn(cell, around(path, steps, JSON.parse(text)), this.#found))
    if (!('at' in cell) || steps < path.split('.').length) return remembering(slowly)
    if (cell.as === 'thousands') return text => (whole.test(text) ? thousandsOf(text) : slowly(text))
    if (cell.as === 'text')
      return text => (text.charCodeAt(0) === quote && (syntax === 'json' || !formulas.has(text.charCodeAt(1))) ? text : slowly(text))
    return text => {
      if (text === 'null') return syntax === 'csv' ? '' : text
      if (text.charCodeAt(0) !== quote) return number.test(text) ? text : slowly(text)
      return !plain.test(text) ? slowly(text) : syntax === 'csv' ? text.slice(1, -1) : text
    }
  }
}

/** All but the last three digits. */
const thousandsOf = (digits: string): string => (digits.length > 3 ? digits.slice(0, -3) : '0')

const written = ({ parts, end }: Recipe, match: RegExpExecArray): string => {
  let line = ''
  for (const { before, group, make } of parts) line += before + make(match[group] as string)
  return line + end
}

/** A copy: a substring captured by a regular expression keeps the whole text in memory. */
const apart = (text: string): string => Buffer.from(text, 'utf16le').toString('utf16le')

/** Consecutive lines often have the same owner and parents. */
const remembering = (make: MakeCell): MakeCell => {
  const known = new Map<string, string>()
  let lastText: string | undefined
  let lastCell = ''
  return text => {
    if (text === lastText) return lastCell
    let cell = known.get(text)
    if (cell === undefined) {
      cell = make(text)
      if (known.size === maxCached) known.clear()
      if (text.length <= maxCachedLength) known.set(apart(text), cell)
    }
    lastText = text
    lastCell = cell
    return cell
  }
}

/** Documents to be formatted as lines: those of some rows, or the next ones of a scan. Only for reader threads. */
export interface RowQuery {
  readonly kind: 'rows'
  /** The same for all parts of a report, so that layouts are reused. */
  readonly report: string
  readonly format: RowFormat
  readonly table: CollectionTable
  /** The tables of collections that lines refer to, by name. */
  readonly others: Readonly<Record<string, string>>
  readonly of:
    | { readonly after: number; readonly upTo: number }
    | { readonly scan: Pick<Find, 'using' | 'where'>; readonly from: ScanPlace }
}

/** Lines in UTF-8; without `next`, the last part of a scan. */
export interface RowPart {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly next?: ScanPlace
}

/** Number of scan parts per part of lines. */
const scanParts = 4

/** Maximum number of reports whose formatters are cached. */
const maxReports = 8

const formatters = new WeakMap<Connection, Map<string, RowFormatter>>()

const formatterOf = (db: Connection, { report, format, others }: RowQuery): RowFormatter => {
  const known = formatters.get(db) ?? new Map<string, RowFormatter>()
  formatters.set(db, known)
  const found = (collection: string, id: string): unknown => {
    const row = db.get(`SELECT doc FROM ${others[collection]} WHERE id = ?`, id)
    return row && JSON.parse(row[0] as string)
  }
  const formatter = known.get(report) ?? new RowFormatter(format, found)
  known.delete(report)
  known.set(report, formatter)
  for (const oldest of known.keys()) if (known.size > maxReports) known.delete(oldest)
  return formatter
}

const textsOf = (db: Connection, { table, of }: RowQuery): { readonly texts: readonly string[]; readonly next?: ScanPlace } => {
  if ('upTo' in of) {
    const rows = db.all(`SELECT doc FROM ${table.table} WHERE r > ? AND r <= ? ORDER BY r`, of.after, of.upTo)
    return { texts: rows.map(row => row[0] as string) }
  }
  const texts: string[] = []
  let next: ScanPlace | undefined = of.from
  for (let part = 0; part < scanParts && next !== undefined; part++) {
    const found = scanPart(db, table, of.scan, next, Number.POSITIVE_INFINITY)
    if (found) texts.push(...found.texts)
    next = found?.next
  }
  return next ? { texts, next } : { texts }
}

/** Formats some of the documents as lines. */
export const formatRows = (db: Connection, query: RowQuery): RowPart => {
  const { texts, next } = textsOf(db, query)
  const formatter = formatterOf(db, query)
  const between = rowSeparator(query.format.syntax)
  let lines = ''
  for (const text of texts) lines += lines === '' ? formatter.row(text) : between + formatter.row(text)
  const bytes = new TextEncoder().encode(lines)
  return next ? { bytes, next } : { bytes }
}
