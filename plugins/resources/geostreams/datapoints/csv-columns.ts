import type { Datapoint, Json } from 'pounce/sdk'

type Properties = Datapoint['properties']

/** A name, and what was seen under it. */
export interface Branch {
  /** Something that is no object stood here; or more may come than was seen. */
  isLeaf: boolean
  readonly inner: Map<string, Branch>
}

/** A column of properties: the names that lead there. */
export interface Column {
  readonly path: readonly string[]
  /** There are columns below this one too, so that it has only what is in none of them. */
  readonly isRest: boolean
}

const newBranch = (): Branch => ({ isLeaf: false, inner: new Map() })

const isObject = (value: unknown): value is Properties => typeof value === 'object' && value !== null && !Array.isArray(value)

const branchAt = ({ inner }: Branch, name: string): Branch => {
  let branch = inner.get(name)
  if (!branch) {
    branch = newBranch()
    inner.set(name, branch)
  }
  return branch
}

const byCodePoint = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other))

/** What columns the properties of datapoints need. */
export class PropertyColumns {
  readonly root = newBranch()

  /** How many names stand at the top. */
  get count(): number {
    return this.root.inner.size
  }

  /** Of a datapoint that was looked at, as far as its properties are shown. */
  see(properties: Properties, names?: ReadonlySet<string>): void {
    this.#see(this.root, properties, names)
  }

  #see(branch: Branch, value: Properties, names?: ReadonlySet<string>): void {
    for (const name of Object.keys(value)) {
      if (names && !names.has(name)) continue
      const inner = branchAt(branch, name)
      const below = value[name]
      if (isObject(below) && Object.keys(below).length > 0) this.#see(inner, below)
      else inner.isLeaf = true
    }
  }

  /** There are datapoints with this property that nobody has looked at. */
  expect(name: string): void {
    branchAt(this.root, name).isLeaf = true
  }

  /** By name, what is nested after what it is in. */
  all(): readonly Column[] {
    return columnsOf(this.root, [])
  }
}

const columnsOf = (branch: Branch, path: readonly string[]): readonly Column[] => [
  ...(branch.isLeaf ? [{ path, isRest: branch.inner.size > 0 }] : []),
  ...[...branch.inner.keys()].sort(byCodePoint).flatMap(name => columnsOf(branch.inner.get(name) ?? newBranch(), [...path, name])),
]

/** What of a value has no column below its branch; undefined when nothing is left. */
export const restOf = (value: Json | undefined, branch: Branch): Json | undefined => {
  if (!isObject(value)) return value
  const names = Object.keys(value)
  if (names.length === 0) return value
  const rest: Record<string, Json> = {}
  for (const name of names) {
    const inner = branch.inner.get(name)
    const left = inner ? restBelow(value[name], inner) : value[name]
    if (left !== undefined) rest[name] = left
  }
  return Object.keys(rest).length > 0 ? rest : undefined
}

/** A branch with a column of its own has room for whatever is left there. */
const restBelow = (value: Json | undefined, branch: Branch): Json | undefined => (branch.isLeaf ? undefined : restOf(value, branch))

/** The value at the end of a path through objects. */
export const valueAt = (properties: Properties, path: readonly string[]): Json | undefined => {
  let value: Json | undefined = properties
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value
}

/** The branch at the end of a path, which is there. */
export const branchOf = (root: Branch, path: readonly string[]): Branch => path.reduce(branchAt, root)
