import type { Geometry } from 'pounce/sdk/geo'

/** `Things(1)`; `at` is 0-based, here and below. */
export interface ParsedSegment {
  readonly name: string
  readonly key: number | string | null
  readonly at: number
}

export type Comparing = 'eq' | 'ne' | 'gt' | 'ge' | 'lt' | 'le'
export type Reckoning = 'add' | 'sub' | 'mul' | 'div' | 'mod'

export type ParsedLiteral = { readonly is: 'literal'; readonly at: number } & (
  | { readonly kind: 'geography' | 'duration' | 'text' | 'time' | 'time of day'; readonly value: string }
  | { readonly kind: 'span'; readonly value: readonly [string, string] }
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'null'; readonly value: null }
)

export interface ParsedMember {
  readonly is: 'member'
  readonly names: readonly string[]
  readonly at: number
}

export interface ParsedCall {
  readonly is: 'call'
  readonly name: string
  readonly of: readonly ParsedFilter[]
  readonly at: number
}

export interface ParsedComparison {
  readonly is: 'comparison'
  readonly operator: Comparing
  readonly left: ParsedFilter
  readonly right: ParsedFilter
  readonly at: number
}

export type ParsedFilter =
  | { readonly is: 'and' | 'or'; readonly of: readonly ParsedFilter[]; readonly at: number }
  | { readonly is: 'not'; readonly what: ParsedFilter; readonly at: number }
  | {
      readonly is: 'arithmetic'
      readonly operator: Reckoning
      readonly left: ParsedFilter
      readonly right: ParsedFilter
      readonly at: number
    }
  | ParsedComparison
  | ParsedCall
  | ParsedMember
  | ParsedLiteral

export interface ParsedOrder {
  readonly names: readonly string[]
  readonly isDescending: boolean
  readonly at: number
}

export interface ParsedName {
  readonly name: string
  readonly at: number
}

/** `text` is the option as written. */
export type ParsedOption = { readonly at: number; readonly text: string } & (
  | { readonly is: 'filter'; readonly value: ParsedFilter }
  | { readonly is: 'expand'; readonly value: readonly ParsedExpansion[] }
  | { readonly is: 'orderby'; readonly value: readonly ParsedOrder[] }
  | { readonly is: 'select'; readonly value: readonly ParsedName[] }
  | { readonly is: 'top' | 'skip'; readonly value: number }
  | { readonly is: 'count'; readonly value: boolean }
)

export interface ParsedExpansion {
  readonly names: readonly string[]
  readonly options: readonly ParsedOption[]
  readonly at: number
}

/** The result of parsing, by start rule. */
export interface Parsed {
  readonly Path: readonly ParsedSegment[]
  readonly Filter: ParsedFilter
  readonly Expand: readonly ParsedExpansion[]
  readonly OrderBy: readonly ParsedOrder[]
  readonly Select: readonly ParsedName[]
  readonly Wkt: Geometry
}

/** A token that would have been valid at the position of the error. */
export interface Expectation {
  readonly type: string
  readonly description?: string
  readonly text?: string
}

declare class ParseError extends Error {
  readonly expected: readonly Expectation[] | null
  readonly location: { readonly start: { readonly offset: number } }
}

/** Throws `SyntaxError`. */
export function parse<R extends keyof Parsed>(text: string, options: { readonly startRule: R }): Parsed[R]

export { ParseError as SyntaxError }
