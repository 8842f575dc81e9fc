import { isUtf8 } from 'node:buffer'
import { Invalid, TooLarge } from './problem.ts'

/** Limits for external JSON, counted before it is parsed. */
export interface JsonLimits {
  readonly maxBytes: number
  /** Nesting depth of arrays and objects. Parsed JSON is walked recursively, so never more than a few hundred. */
  readonly maxDepth: number
  /** Members of all objects together. */
  readonly maxMembers: number
  /** Scalars and empty arrays and objects, all together. */
  readonly maxLeaves: number
}

/** The counts for a JSON text. `depth` stops at one more than the given limit. */
export interface JsonCounts {
  readonly depth: number
  readonly members: number
  readonly leaves: number
}

/** The input is not JSON at all; for callers that then treat it as something else. */
export class NotJson extends Invalid {}

/** The default limits. */
export const defaultJsonLimits: JsonLimits = { maxBytes: 1024 * 1024, maxDepth: 64, maxMembers: 100_000, maxLeaves: 100_000 }

/**
 * The only parser for external JSON: counts bytes, depth, members and leaves before parsing, then rejects keys that reach a prototype and values that could not
 * be stored unchanged. Throws `TooLarge` or `Invalid`; `whole` starts their messages: `The body`.
 */
export const parseJson = (text: string | Uint8Array, limits: JsonLimits, whole = 'The JSON'): unknown => {
  const value = parseCounted(text, limits, whole)
  assertSafeJson(value, whole, limits.maxDepth)
  return value
}

/** Like `parseJson`, for callers that check keys, strings and numbers themselves. */
export const parseCounted = (text: string | Uint8Array, limits: JsonLimits, whole: string): unknown => {
  const bytes = typeof text === 'string' ? Buffer.byteLength(text) : text.byteLength
  if (bytes > limits.maxBytes) throw new TooLarge(`${whole} must be at most ${limits.maxBytes} bytes of JSON`)
  requireCounts(countJson(text, limits.maxDepth), limits, whole)
  return parse(textOf(text, whole), whole)
}

const requireCounts = ({ depth, members, leaves }: JsonCounts, { maxDepth, maxMembers, maxLeaves }: JsonLimits, whole: string): void => {
  if (depth > maxDepth) throw new Invalid(`${whole} must not be nested deeper than ${maxDepth} levels`)
  if (members > maxMembers) throw new TooLarge(`${whole} must have at most ${maxMembers} members, counted over all its objects`)
  if (leaves > maxLeaves) throw new TooLarge(`${whole} must have at most ${maxLeaves} values, counted over all its arrays and objects`)
}

const textOf = (text: string | Uint8Array, whole: string): string => {
  if (typeof text === 'string') return text
  if (!isUtf8(text)) throw new NotJson(`${whole} is not UTF-8`)
  const decoded = Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString('utf8')
  return decoded.startsWith('\ufeff') ? decoded.slice(1) : decoded
}

const parse = (text: string, whole: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new NotJson(`${whole} is not valid JSON: ${(error as Error).message}`, { cause: error })
  }
}

const quote = 0x22
const backslash = 0x5c
const colon = 0x3a
const comma = 0x2c
/** The only bit in which `[` and `{`, and likewise `]` and `}`, differ. */
const braceBit = 0x20
const opening = 0x7b
const closing = 0x7d

/**
 * Counts everything outside of strings in one pass: each colon is a member, each comma one more leaf. Counts of malformed JSON are meaningless; the parser
 * rejects it.
 */
export const countJson = (text: string | Uint8Array, maxDepth = Number.POSITIVE_INFINITY): JsonCounts =>
  typeof text === 'string' ? countText(text, maxDepth) : countBytes(text, maxDepth)

const countBytes = (bytes: Uint8Array, maxDepth: number): JsonCounts => {
  let level = 0
  let depth = 0
  let members = 0
  let leaves = 1
  const end = bytes.length
  for (let at = 0; at < end; at++) {
    const byte = bytes[at] as number
    if (byte === quote) {
      for (at++; at < end; at++) {
        const inside = bytes[at] as number
        if (inside === quote) break
        if (inside === backslash) at++
      }
    } else if (byte === comma) leaves++
    else if (byte === colon) members++
    else if ((byte | braceBit) === opening) {
      if (++level > depth) depth = level
      if (depth > maxDepth) break
    } else if ((byte | braceBit) === closing) level--
  }
  return { depth, members, leaves }
}

/** The same loop for strings: V8 specializes each loop for one kind of input, which makes both several times faster than a shared one. */
const countText = (text: string, maxDepth: number): JsonCounts => {
  let level = 0
  let depth = 0
  let members = 0
  let leaves = 1
  const end = text.length
  for (let at = 0; at < end; at++) {
    const unit = text.charCodeAt(at)
    if (unit === quote) {
      for (at++; at < end; at++) {
        const inside = text.charCodeAt(at)
        if (inside === quote) break
        if (inside === backslash) at++
      }
    } else if (unit === comma) leaves++
    else if (unit === colon) members++
    else if ((unit | braceBit) === opening) {
      if (++level > depth) depth = level
      if (depth > maxDepth) break
    } else if ((unit | braceBit) === closing) level--
  }
  return { depth, members, leaves }
}

const forbidden = new Set(['__proto__', 'constructor', 'prototype'])

/** The same checks for JSON that was parsed elsewhere. */
export const assertSafeJson = (value: unknown, whole: string, maxDepth = defaultJsonLimits.maxDepth): void =>
  walk(value, whole, maxDepth, 1)

const walk = (value: unknown, whole: string, maxDepth: number, depth: number): void => {
  if (typeof value === 'string' && !value.isWellFormed()) throw new Invalid(`${whole} has an unpaired surrogate in a text`)
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Invalid(`${whole} has a number that is too large`)
  if (typeof value !== 'object' || value === null) return
  if (depth > maxDepth) throw new Invalid(`${whole} must not be nested deeper than ${maxDepth} levels`)
  if (Array.isArray(value)) {
    for (const item of value) walk(item, whole, maxDepth, depth + 1)
    return
  }
  for (const name of Object.keys(value)) {
    if (forbidden.has(name)) throw new Invalid(`${whole} must not have a member named ${name}`)
    walk(name, whole, maxDepth, depth)
    walk((value as Record<string, unknown>)[name], whole, maxDepth, depth + 1)
  }
}

/** The index of the closing quote of the string that begins at `from`; -1 when it has none. */
const endOfString = (text: string, from: number): number => {
  for (let at = text.indexOf('"', from + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0
    while (text.charCodeAt(at - 1 - slashes) === backslash) slashes += 1
    if (slashes % 2 === 0) return at
  }
  return -1
}

const bareValue = /[^,\]}\s]+/y

/**
 * The index after the JSON value that begins at `from`, without parsing it: `from` if there is none, -1 if the text ends within it. Whether it is valid JSON
 * only parsing shows.
 */
export const endOfJsonValue = (text: string, from: number): number => {
  let depth = 0
  for (let at = from; at < text.length; at += 1) {
    const char = text[at]
    if (char === '"') {
      at = endOfString(text, at)
      if (at === -1) return -1
    } else if (char === '{' || char === '[') depth += 1
    else if (char === '}' || char === ']') depth -= 1
    else if (depth === 0) {
      bareValue.lastIndex = at
      return at + (bareValue.exec(text)?.[0].length ?? 0)
    }
    if (depth === 0) return at + 1
    if (depth < 0) return at
  }
  return -1
}
