import { isPiecesPath, piecesOf } from './pieces.ts'

/**
 * Dotted paths into documents. Only own members are used, so `__proto__` and `constructor` are ordinary names. Absent members, empty arrays and paths through
 * non-objects yield null. `name~` yields the trigrams of the text at `name`: see `pieces.ts`.
 */
const parsed = new Map<string, readonly string[]>()

/** The segments of a path; cached, since a program uses few paths. */
export const stepsOf = (path: string): readonly string[] => {
  let steps = parsed.get(path)
  if (steps === undefined) {
    steps = path.split('.')
    if (parsed.size < 10_000) parsed.set(path, steps)
  }
  return steps
}

const some = (value: unknown, steps: readonly string[], at: number, test: (leaf: unknown) => boolean): boolean => {
  if (Array.isArray(value)) {
    if (value.length === 0) return test(null)
    return value.some(element => (Array.isArray(element) ? test(at === steps.length ? element : null) : some(element, steps, at, test)))
  }
  const step = steps[at]
  if (step === undefined) return test(value ?? null)
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return test(null)
  return some((value as Readonly<Record<string, unknown>>)[step], steps, at + 1, test)
}

const readAt = (document: unknown, path: string, test: (leaf: unknown) => boolean): boolean => some(document, stepsOf(path), 0, test)

/** True if any value at the path passes; arrays along the path or at its end are expanded one level deep. */
export const someAt = (document: unknown, path: string, test: (leaf: unknown) => boolean): boolean =>
  isPiecesPath(path) ? readAt(document, path.slice(0, -1), leaf => piecesOf(leaf).some(test)) : readAt(document, path, test)

/** The value at a path without arrays; undefined when absent. */
export const valueAt = (document: unknown, path: string): unknown => {
  let value = document
  for (const step of stepsOf(path)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = (value as Readonly<Record<string, unknown>>)[step]
  }
  return value
}

/** All values at the path; at least one, since an absent value is null. */
export const leavesAt = (document: unknown, path: string): readonly unknown[] => {
  const leaves: unknown[] = []
  someAt(document, path, leaf => {
    leaves.push(leaf)
    return false
  })
  return leaves
}
