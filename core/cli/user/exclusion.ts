import { matchesGlob } from 'node:path'
import { UsageError } from '../built-in.ts'
import type { UserContext } from './command-context.ts'

/** Whether a transfer excludes the file or folder at a relative path with `/`. */
export type Exclusion = (path: string) => boolean

/**
 * The shell patterns of `--exclude`: a pattern without a slash matches names, one with a slash matches paths relative to the root of
 * the transfer. The contents of a matching folder are also excluded.
 */
export const exclusionOf = ({ options }: UserContext): Exclusion => {
  const value = options['exclude']
  const patterns = (Array.isArray(value) ? value : []).map(text => {
    const names = String(text)
      .split('/')
      .filter(name => name !== '')
    if (names.length === 0) throw new UsageError(`--exclude must match files or folders, such as "*.tmp" (is "${text}")`)
    return { pattern: names.join('/'), isOfName: names.length === 1 && !String(text).startsWith('/') }
  })
  if (patterns.length === 0) return () => false
  return path => {
    const names = path.split('/')
    return names.some((name, at) => {
      const upTo = names.slice(0, at + 1).join('/')
      return patterns.some(({ pattern, isOfName }) => matchesGlob(isOfName ? name : upTo, pattern))
    })
  }
}
