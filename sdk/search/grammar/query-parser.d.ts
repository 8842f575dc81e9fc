/** A word, phrase or expression as it was written; `at` is 0-based. */
export interface ParsedAtom {
  readonly is: 'bare' | 'quoted' | 'expression'
  readonly text: string
  readonly at: number
}

export type ParsedOperator = ':' | '=' | '==' | '!=' | '<' | '<=' | '>' | '>='

export type ParsedQuery =
  | { readonly is: 'and' | 'or'; readonly of: readonly ParsedQuery[] }
  | { readonly is: 'not'; readonly what: ParsedQuery }
  | { readonly is: 'free'; readonly values: readonly ParsedAtom[] }
  | {
      readonly is: 'comparison'
      readonly field: ParsedAtom
      readonly operator: ParsedOperator
      readonly values: readonly ParsedAtom[]
      readonly at: number
    }

export type ParsedPart =
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'any' }
  | { readonly is: 'class'; readonly ranges: readonly (readonly [string, string])[]; readonly isNegated: boolean }
  | { readonly is: 'sequence'; readonly of: readonly ParsedPart[] }
  | { readonly is: 'either'; readonly of: readonly ParsedPart[] }
  | { readonly is: 'repeat'; readonly what: ParsedPart; readonly from: number; readonly to?: number }

export interface ParsedAlternative {
  readonly isStart: boolean
  readonly parts: readonly ParsedPart[]
  readonly isEnd: boolean
}

/** One thing that could have stood where the text cannot be read. */
export interface Expectation {
  readonly type: string
  readonly description?: string
  readonly text?: string
}

declare class ParseError extends Error {
  readonly expected: readonly Expectation[] | null
  readonly found: string | null
  readonly location: { readonly start: { readonly offset: number } }
}

/** Null of a text without anything in it. Throws `SyntaxError`. */
export function parse(text: string, options?: { readonly startRule?: 'Query' }): ParsedQuery | null
export function parse(text: string, options: { readonly startRule: 'Regex' }): readonly ParsedAlternative[]

export { ParseError as SyntaxError }
