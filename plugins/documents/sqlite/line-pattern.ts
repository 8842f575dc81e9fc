/** Texts of documents of one layout: the same members in the same order. What a group holds is JSON text. */
export interface Pattern {
  /** From the beginning of a text to its end. Strings that it catches have no escapes. */
  readonly regex: RegExp
  /** Which group holds what stands at a path, and how many steps of the path lead there: the rest is inside. Absent: nothing stands there. */
  readonly groups: ReadonlyMap<string, { readonly group: number; readonly steps: number }>
}

const text = '"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"'
const other = '-?[0-9][0-9.eE+-]*|null|true|false'
const scalar = `(?:${text}|${other})`
const caught = `("[^"\\\\]*"|${other})`
/** Each character starts one alternative at most, so nothing is tried twice. */
const flatArray = `\\[(?:[^\\]"\\[]|${text})*\\]`
const caughtArray = '(\\[(?:[^\\]"\\[]|"[^"\\\\]*")*\\])'
const flatObject = `\\{(?:[^{}"]|${text})*\\}`

const literal = (name: string): string => JSON.stringify(name).replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The pattern of texts that look like this document's, with what stands at the paths in groups. */
export const patternOf = (document: object, paths: readonly string[]): Pattern => {
  const groups = new Map<string, { group: number; steps: number }>()
  let last = 0
  const catching = (wanted: readonly string[], steps: number, source: string): string => {
    last += 1
    for (const path of wanted) groups.set(path, { group: last, steps })
    return source
  }
  const sourceOf = (value: unknown, wanted: readonly string[], steps: number): string => {
    const isWanted = wanted.length > 0
    if (Array.isArray(value)) return isWanted ? catching(wanted, steps, caughtArray) : flatArray
    if (!isObject(value)) return isWanted ? catching(wanted, steps, caught) : scalar
    return isWanted ? membersOf(value, wanted, steps) : flatObject
  }
  const membersOf = (value: Readonly<Record<string, unknown>>, wanted: readonly string[], steps: number): string => {
    const members = Object.entries(value).map(([name, member]) => {
      const inside = wanted.filter(path => path.split('.')[steps] === name)
      return `${literal(name)}:${sourceOf(member, inside, steps + 1)}`
    })
    return `\\{${members.join(',')}\\}`
  }
  return { regex: new RegExp(`^${membersOf(document as Readonly<Record<string, unknown>>, paths, 0)}$`), groups }
}
