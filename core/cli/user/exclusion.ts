import { matchesGlob } from 'node:path'
import { UsageError } from '../built-in.ts'
import type { UserContext } from './command-context.ts'

/** Whether a transfer leaves out the file or folder at a relative path with `/`. */
export type Exclusion = (path: string) => boolean

/**
 * The patterns of `--exclude`, as shells have them: one without a slash is compared with each name, one with a slash with the path from where
 * the transfer begins. What is in a folder that matches is left out with it.
 */
export const exclusionOf = ({ options }: UserContext): Exclusion => {
  const value = options['exclude']
  const patterns = (Array.isArray(value) ? value : []).map(text => {
    const names = String(text)
      .split('/')
      .filter(name => name !== '')
    if (names.length === 0) throw new UsageError(`--exclude must name files or folders, such as "*.tmp" (is "${text}")`)
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
