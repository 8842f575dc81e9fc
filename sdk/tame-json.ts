import { Invalid } from './problem.ts'

const maxDepth = 64
const forbidden = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Throws `Invalid` for parsed JSON that could reach a prototype, is nested deeper than 64 levels and so not safe to be walked, or could not
 * be stored as it came. `whole` begins the message: `The body`. Whoever parses JSON from outside by themselves calls it.
 */
export const requireTame = (value: unknown, whole: string): void => walk(value, whole, 1)

const walk = (value: unknown, whole: string, depth: number): void => {
  if (typeof value === 'string' && !value.isWellFormed()) throw new Invalid('Text must not have half a surrogate pair')
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Invalid('A number is too large')
  if (typeof value !== 'object' || value === null) return
  if (depth > maxDepth) throw new Invalid(`${whole} must not be nested deeper than ${maxDepth} levels`)
  if (Array.isArray(value)) {
    for (const item of value) walk(item, whole, depth + 1)
    return
  }
  for (const name of Object.keys(value)) {
    if (forbidden.has(name)) throw new Invalid(`${whole} must not have a member named ${name}`)
    walk(name, whole, depth)
    walk((value as Record<string, unknown>)[name], whole, depth + 1)
  }
}
