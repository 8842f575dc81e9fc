/** A column of a formatted document. Paths are dotted, as in queries. */
export type LineCell =
  /** The same in each line; null is an empty cell. */
  | { readonly is: string | number | null }
  /** The scalar there. `text`: quoted, empty when absent. `bare`: a number, or text without blanks such as a date. `thousands`: a number over 1,000, rounded down. */
  | { readonly at: string; readonly as: 'text' | 'bare' | 'thousands' }
  /** The different texts there, in their order: a list. */
  | { readonly each: string }
  /** Of the documents whose ids are at `of`: these words of each (a name from its parts), or the different texts at `each` of all of them. Absent documents are left out. */
  | { readonly of: string; readonly in: { readonly name: string }; readonly words: readonly string[] }
  | { readonly of: string; readonly in: { readonly name: string }; readonly each: string }

/** How documents are written as lines of text. */
export interface Lines {
  /**
   * `csv`: RFC 4180; texts and lists (`"a, b"`) quoted, formula signs made harmless, the rest bare. `json`: one object per line, lists as arrays,
   * an absent number or date as null.
   */
  readonly format: 'csv' | 'json'
  readonly columns: readonly { readonly name: string; readonly cell: LineCell }[]
}
