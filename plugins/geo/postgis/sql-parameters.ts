/** Values of a statement, in their order: what is asked for never becomes part of its text. */
export class SqlParameters {
  readonly values: unknown[] = []

  /** The place of a value in the text, as a type of PostgreSQL. */
  add(value: unknown, type: string): string {
    this.values.push(value)
    return `$${this.values.length}::${type}`
  }

  numbers(values: readonly number[]): string {
    return this.add(`{${values.join(',')}}`, 'bigint[]')
  }

  texts(values: readonly string[]): string {
    return this.add(textArray(values), 'text[]')
  }
}

/** A statement and its values. */
export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

/** Texts as PostgreSQL writes an array of them. */
export const textArray = (values: readonly string[]): string =>
  `{${values.map(value => `"${value.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`
