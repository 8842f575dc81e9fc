/** The value of a column in formatted documents. Paths are dotted, as in queries. */
export type ColumnValue =
  /** A constant; null is an empty cell. */
  | { readonly is: string | number | null }
  /**
   * The scalar at a path. `text`: quoted, empty if absent. `bare`: unquoted, for numbers and text without spaces, such as dates. `thousands`: a number divided
   * by 1,000, rounded down.
   */
  | { readonly at: string; readonly as: 'text' | 'bare' | 'thousands' }
  /** The distinct strings at a path, in order, as a list. */
  | { readonly each: string }
  /**
   * From the documents whose ids are at `of`: these words of each (for example a full name from its parts), or the distinct strings at `each` of all. Absent
   * documents are omitted.
   */
  | { readonly of: string; readonly in: { readonly name: string }; readonly words: readonly string[] }
  | { readonly of: string; readonly in: { readonly name: string }; readonly each: string }

/** The format of documents written as lines of text. */
export interface RowFormat {
  /**
   * `csv`: RFC 4180; strings and lists (`"a, b"`) are quoted, formula characters neutralized, other values bare. `json`: one object per line, lists as arrays,
   * absent numbers and dates as null.
   */
  readonly syntax: 'csv' | 'json'
  readonly columns: readonly { readonly name: string; readonly cell: ColumnValue }[]
}
