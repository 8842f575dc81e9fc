import { documentLine, type FoundDocument, type LineCell, type Lines, printCell, shownIn } from 'pounce/sdk'
import { type Pattern, patternOf } from './line-pattern.ts'

/** Layouts of a collection that are told apart: documents differ in what they lack. */
const mostPatterns = 4
/** Of longer texts most is lists, in which a regular expression is slower than parsing, and in the end out of its stack. */
const longest = 65_536
/** Cells that are made once for each text they come from: names of people, lists of parents. */
const remembered = 10_000

type MakeCell = (text: string) => string

/** A line's way from the groups of a pattern: what stands before each cell, and the cell. */
interface Recipe {
  readonly regex: RegExp
  readonly parts: readonly { readonly before: string; readonly group: number; readonly make: MakeCell }[]
  readonly end: string
}

const formulas = new Set([...'=+-@'].map(sign => sign.charCodeAt(0)))
const plain = /^"[\w.][\w:.+-]*"$/
const number = /^[-0-9]/
/** As many digits as every whole number has that is exact. */
const whole = /^[0-9]{1,15}$/
const quote = 34

const pathOf = (cell: LineCell): string | undefined =>
  'is' in cell ? undefined : 'at' in cell ? cell.at : 'of' in cell ? cell.of : cell.each

/** A document that holds one value at the first steps of a path. */
const around = (path: string, steps: number, value: unknown): unknown =>
  path
    .split('.')
    .slice(0, steps)
    .reduceRight<unknown>((inner, step) => ({ [step]: inner }), value)

/**
 * Writes the texts of documents as lines without parsing them, wherever their layout is one that came before: a string without escapes is the
 * same in JSON and in a quoted CSV cell. All others are parsed. The lines are those of `documentLine`.
 */
export class RowFormatter {
  readonly #lines: Lines
  readonly #found: FoundDocument
  readonly #paths: readonly string[]
  #recipes: readonly Recipe[] = []

  constructor(lines: Lines, found: FoundDocument) {
    this.#lines = lines
    this.#found = found
    this.#paths = [...new Set(lines.columns.map(({ cell }) => pathOf(cell)).filter(path => path !== undefined))]
  }

  line(text: string): string {
    const isShort = text.length <= longest
    for (const recipe of isShort ? this.#recipes : []) {
      const match = recipe.regex.exec(text)
      if (match) return written(recipe, match)
    }
    const document = JSON.parse(text) as object
    if (isShort && this.#recipes.length < mostPatterns) this.#learn(document, text)
    return documentLine(this.#lines, document, this.#found)
  }

  /** A layout whose own pattern does not fit, such as one with lists in lists, would be asked in vain. */
  #learn(document: object, text: string): void {
    const pattern = patternOf(document, this.#paths)
    if (pattern.regex.test(text)) this.#recipes = [...this.#recipes, this.#recipeOf(pattern)]
  }

  #recipeOf({ regex, groups }: Pattern): Recipe {
    const { format, columns } = this.#lines
    const parts: Recipe['parts'][number][] = []
    let before = format === 'csv' ? '' : '{'
    for (const [at, { name, cell }] of columns.entries()) {
      if (at > 0) before += ','
      if (format === 'json') before += `${JSON.stringify(name)}:`
      const path = pathOf(cell)
      const place = path === undefined ? undefined : groups.get(path)
      if (path === undefined || place === undefined) {
        before += printCell(format, shownIn(cell, {}, this.#found))
        continue
      }
      parts.push({ before, group: place.group, make: this.#cellMaker(cell, path, place.steps) })
      before = ''
    }
    return { regex, parts, end: format === 'csv' ? before : `${before}}` }
  }

  #cellMaker(cell: LineCell, path: string, steps: number): MakeCell {
    const { format } = this.#lines
    const slowly: MakeCell = text => printCell(format, shownIn(cell, around(path, steps, JSON.parse(text)), this.#found))
    if (!('at' in cell) || steps < path.split('.').length) return remembering(slowly)
    if (cell.as === 'thousands') return text => (whole.test(text) ? thousandsOf(text) : slowly(text))
    if (cell.as === 'text')
      return text => (text.charCodeAt(0) === quote && (format === 'json' || !formulas.has(text.charCodeAt(1))) ? text : slowly(text))
    return text => {
      if (text === 'null') return format === 'csv' ? '' : text
      if (text.charCodeAt(0) !== quote) return number.test(text) ? text : slowly(text)
      return !plain.test(text) ? slowly(text) : format === 'csv' ? text.slice(1, -1) : text
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

/** A copy: what a regular expression caught keeps the whole text in memory that it is a part of. */
const apart = (text: string): string => Buffer.from(text, 'utf16le').toString('utf16le')

/** Lines that follow each other often have the same owner and parents. */
const remembering = (make: MakeCell): MakeCell => {
  const known = new Map<string, string>()
  let lastText: string | undefined
  let lastCell = ''
  return text => {
    if (text === lastText) return lastCell
    let cell = known.get(text)
    if (cell === undefined) {
      cell = make(text)
      if (known.size === remembered) known.clear()
      known.set(apart(text), cell)
    }
    lastText = text
    lastCell = cell
    return cell
  }
}
