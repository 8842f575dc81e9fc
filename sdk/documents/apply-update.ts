import type { Json, Update } from '../ports/document-store.ts'
import { Invalid } from '../problem.ts'
import { stepsOf } from './paths.ts'
import { sameJson } from './scalars.ts'

type Fields = Record<string, Json>

/** A deep copy. */
const copy = (value: Json | object): Json =>
  typeof value === 'object' && value !== null ? (JSON.parse(JSON.stringify(value)) as Json) : value

const copies = (values: readonly (Json | object)[]): readonly Json[] => values.map(copy)

/** Plain assignment to `__proto__` would change the prototype instead of adding a member. */
const put = (fields: Fields, key: string, value: Json): void => {
  if (key === '__proto__') Object.defineProperty(fields, key, { value, writable: true, enumerable: true, configurable: true })
  else fields[key] = value
}

const own = (fields: Fields, key: string): Json | undefined => (Object.hasOwn(fields, key) ? fields[key] : undefined)

const isFields = (value: Json | undefined): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The object with the last segment of a path; missing objects are created if `make` is true. */
const holderOf = (document: Fields, path: string, make: boolean): Fields | undefined => {
  let holder = document
  for (const step of stepsOf(path).slice(0, -1)) {
    let next = own(holder, step)
    if (next === undefined) {
      if (!make) return undefined
      next = {}
      put(holder, step, next)
    }
    if (!isFields(next)) throw new Invalid(`${path} leads through ${step}, which is not an object`)
    holder = next
  }
  return holder
}

const change = (document: Fields, path: string, make: boolean, how: (old: Json | undefined) => Json | undefined): void => {
  const holder = holderOf(document, path, make)
  if (holder === undefined) return
  const key = stepsOf(path).at(-1) as string
  const value = how(own(holder, key))
  if (value === undefined) delete holder[key]
  else put(holder, key, value)
}

const listAt = (old: Json | undefined, path: string): readonly Json[] => {
  if (old === undefined) return []
  if (!Array.isArray(old)) throw new Invalid(`${path} is not an array`)
  return old
}

const sum = (old: Json | undefined, by: number, path: string): number => {
  if (old !== undefined && typeof old !== 'number') throw new Invalid(`${path} is not a number`)
  const total = (old ?? 0) + by
  if (!Number.isFinite(total)) throw new Invalid(`${path} would exceed the range of numbers`)
  return total
}

const withAdded = (old: readonly Json[], values: readonly Json[]): readonly Json[] => {
  const list = [...old]
  for (const value of values) if (!list.some(element => sameJson(element, value))) list.push(value)
  return list
}

const isPulled = (element: Json, value: Json): boolean =>
  sameJson(element, value) ||
  (isFields(element) && isFields(value) && Object.keys(value).every(key => sameJson(own(element, key), value[key])))

const pathsOf = (update: Update): readonly string[] => [
  ...(update.unset ?? []),
  ...[update.set, update.inc, update.push, update.addToSet, update.pull].flatMap(part => Object.keys(part ?? {})),
]

/** Rejects paths that are empty, are `id` or `revision`, or overlap another path of the same update. */
const checkPaths = (paths: readonly string[]): void => {
  for (const path of paths) {
    const steps = stepsOf(path)
    if (steps.includes('')) throw new Invalid(`'${path}' is not a path of a field`)
    if (steps[0] === 'id' || steps[0] === 'revision') throw new Invalid(`${path} cannot be updated`)
  }
  if (paths.length < 2) return
  const sorted = [...paths].sort()
  for (const [at, path] of sorted.entries()) {
    const meets = sorted.some((other, place) => place !== at && (other === path || other.startsWith(`${path}.`)))
    if (meets) throw new Invalid(`The update changes ${path} twice`)
  }
}

/**
 * Applies an update in place; the document must be the caller's own copy and shares nothing with the update afterwards. The revision is not changed. Throws
 * `Invalid` for a path through something that is not an object, a wrong type, or two changes to one field; the copy is then unusable.
 */
export const applyUpdate = (document: object, update: Update): void => {
  const fields = document as Fields
  checkPaths(pathsOf(update))
  for (const [path, value] of Object.entries(update.set ?? {})) change(fields, path, true, () => copy(value))
  for (const path of update.unset ?? []) change(fields, path, false, () => undefined)
  for (const [path, by] of Object.entries(update.inc ?? {})) change(fields, path, true, old => sum(old, by, path))
  for (const [path, { values, keepLast }] of Object.entries(update.push ?? {})) {
    change(fields, path, true, old => {
      const list = [...listAt(old, path), ...copies(values)]
      return keepLast === undefined ? list : list.slice(Math.max(0, list.length - keepLast))
    })
  }
  for (const [path, values] of Object.entries(update.addToSet ?? {}))
    change(fields, path, true, old => withAdded(listAt(old, path), copies(values)))
  for (const [path, pulled] of Object.entries(update.pull ?? {})) {
    const values = copies(pulled)
    change(fields, path, false, old =>
      old === undefined ? undefined : listAt(old, path).filter(element => !values.some(value => isPulled(element, value))),
    )
  }
}
