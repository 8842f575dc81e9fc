import type { Refused } from './read-point.ts'

const maxDepth = 64
/** As everywhere in what is sent: `requireTame`. */
const forbidden: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

const [quote, backslash, colon, openBrace, closeBrace, openBracket, closeBracket] = [0x22, 0x5c, 0x3a, 0x7b, 0x7d, 0x5b, 0x5d]

/** Where the string that begins at `from` has its closing quote; -1 when it has none. */
export const endOfString = (text: string, from: number): number => {
  for (let at = text.indexOf('"', from + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0
    while (text.charCodeAt(at - 1 - slashes) === backslash) slashes += 1
    if (slashes % 2 === 0) return at
  }
  return -1
}

/** The names that an object gives, and how deep it goes. The text may be no JSON at all. */
const surveyed = (text: string): { readonly names: number; readonly depth: number } => {
  let [names, depth, deepest] = [0, 0, 0]
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      const end = endOfString(text, at)
      if (end === -1) break
      at = end
    } else if (code === colon) names += 1
    else if (code === openBrace || code === openBracket) deepest = Math.max(deepest, ++depth)
    else if (code === closeBrace || code === closeBracket) depth -= 1
  }
  return { names, depth: deepest }
}

/** How many names there are; the first forbidden one instead. */
const namesIn = (value: unknown): number | string => {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (const item of value) {
      if (typeof item !== 'object') continue
      const inner = namesIn(item)
      if (typeof inner === 'string') return inner
      count += inner
    }
    return count
  }
  for (const name of Object.keys(value)) {
    if (forbidden.has(name)) return name
    const inner = namesIn((value as Readonly<Record<string, unknown>>)[name])
    if (typeof inner === 'string') return inner
    count += 1 + inner
  }
  return count
}

/** Parses the JSON of one datapoint, which nobody has looked at: strictly, no name twice, no prototypes, at most 64 levels. */
export const parsePoint = (text: string): { readonly value: unknown } | Refused => {
  const { names, depth } = surveyed(text)
  if (depth > maxDepth) return { message: `It must not be nested deeper than ${maxDepth} levels` }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { message: `It is not valid JSON: ${error instanceof Error ? error.message : String(error)}` }
  }
  const found = namesIn(value)
  if (typeof found === 'string') return { message: `It must not have a member named ${found}` }
  return found === names ? { value } : { message: 'It has the same name twice in one object' }
}
