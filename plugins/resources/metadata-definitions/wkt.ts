/** Allowed numbers of coordinates, by the dimension after the name. */
const sizes: Readonly<Record<string, readonly number[]>> = { '': [2, 3, 4], Z: [3], M: [3], ZM: [4] }

/** Nesting depth of the lists of positions. */
const depths: Readonly<Record<string, number>> = {
  POINT: 0,
  LINESTRING: 1,
  MULTIPOINT: 1,
  POLYGON: 2,
  MULTILINESTRING: 2,
  MULTIPOLYGON: 3,
}
const number = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i
const maxNesting = 16

/** Reads the tokens of a well-known text in order; throws `SyntaxError` at an unexpected one. */
class Words {
  readonly #words: readonly string[]
  #at = 0

  constructor(text: string) {
    this.#words = text.match(/[(),]|[^\s(),]+/g) ?? []
  }

  get isAtEnd(): boolean {
    return this.#at === this.#words.length
  }

  /** Consumes the next token if it is the given one. */
  takes(word: string): boolean {
    if (this.#words[this.#at]?.toUpperCase() !== word) return false
    this.#at += 1
    return true
  }

  require(word: string): void {
    if (!this.takes(word)) throw new SyntaxError(`${word} is missing`)
  }

  next(): string {
    const word = this.#words[this.#at]
    if (word === undefined) throw new SyntaxError('unexpected end')
    this.#at += 1
    return word.toUpperCase()
  }

  /** Consumes all following numbers; returns their count. */
  numbers(): number {
    const start = this.#at
    while (number.test(this.#words[this.#at] ?? '')) this.#at += 1
    return this.#at - start
  }
}

const list = (words: Words, item: () => void): void => {
  words.require('(')
  do item()
  while (words.takes(','))
  words.require(')')
}

const geometry = (words: Words, nesting: number): void => {
  if (nesting > maxNesting) throw new SyntaxError('it is nested too deeply')
  const [, name = '', glued = ''] = /^([A-Z]+?)(ZM|Z|M)?$/.exec(words.next()) ?? []
  const dimension = glued !== '' ? glued : (['ZM', 'Z', 'M'].find(word => words.takes(word)) ?? '')
  if (name !== 'GEOMETRYCOLLECTION' && !Object.hasOwn(depths, name)) throw new SyntaxError(`${name} is not a geometry`)
  if (words.takes('EMPTY')) return
  if (name === 'GEOMETRYCOLLECTION') {
    list(words, () => geometry(words, nesting + 1))
    return
  }
  const position = (): void => {
    if (!sizes[dimension]?.includes(words.numbers())) throw new SyntaxError('a position has the wrong number of coordinates')
  }
  const nested = (depth: number): void => {
    if (depth > 0) list(words, () => nested(depth - 1))
    // Both MULTIPOINT ((1 2), (3 4)) and MULTIPOINT (1 2, 3 4) are in use.
    else if (name === 'MULTIPOINT' && words.takes('(')) {
      position()
      words.require(')')
    } else position()
  }
  if (name === 'POINT') list(words, position)
  else nested(depths[name] ?? 0)
}

/** True for a geometry in well-known text, such as `POINT (-88.2 40.1)`; a leading `SRID=4326;` is allowed. */
export const isWkt = (text: string): boolean => {
  const words = new Words(text.replace(/^\s*SRID=\d+;/i, ''))
  try {
    geometry(words, 0)
    return words.isAtEnd
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}
