import type { Refused } from './read-point.ts'

/** A refusal as it is reported. */
export type RefusedLine = Refused & { readonly line: number }

const maxLines = 1000

/** What became of the points of one request. */
export class DatapointImportReport {
  inserted = 0
  refused = 0
  readonly #lines: RefusedLine[] = []

  /** The first 1,000 are kept in words, all are counted. */
  refuse(line: number, { field, message }: Refused): void {
    this.refused += 1
    if (this.#lines.length < maxLines) this.#lines.push(field === undefined ? { line, message } : { line, field, message })
  }

  /** As it is sent, by line. */
  toJSON(): { readonly inserted: number; readonly refused: number; readonly lines: RefusedLine[] } {
    return { inserted: this.inserted, refused: this.refused, lines: this.#lines.toSorted((one, other) => one.line - other.line) }
  }
}
