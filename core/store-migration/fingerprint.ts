import { createHash } from 'node:crypto'
import type { Stored } from 'pounce/sdk'

type Members = Readonly<Record<string, unknown>>

const isSorted = (names: readonly string[]): boolean => names.every((name, at) => at === 0 || (names[at - 1] ?? '') < name)

/** The same value with sorted object members. */
const ordered = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.some(item => typeof item === 'object') ? value.map(ordered) : value
  const names = Object.keys(value)
  if (!isSorted(names)) names.sort()
  const members: Record<string, unknown> = {}
  for (const name of names) {
    const member = ordered((value as Members)[name])
    // Plain assignment would set the prototype.
    if (name === '__proto__') Object.defineProperty(members, name, { value: member, enumerable: true })
    else members[name] = member
  }
  return members
}

/** A value as JSON, independent of the order of object members. */
export const canonical = (value: unknown): string => JSON.stringify(ordered(value))

const contentOf = ({ revision: _revision, ...document }: Partial<Stored> & object): string => canonical(document)

/** True if two documents are equal except for their revisions. */
export const sameContent = (one: object, other: object): boolean => contentOf(one) === contentOf(other)

/** The number of documents and a digest of their content without revisions, independent of their order. */
export class Fingerprint {
  readonly #sum = Buffer.alloc(32)
  count = 0

  add(document: object): void {
    const digest = createHash('sha256').update(contentOf(document)).digest()
    for (const [at, byte] of digest.entries()) this.#sum[at] = (this.#sum[at] ?? 0) ^ byte
    this.count += 1
  }

  /** Hex. */
  get digest(): string {
    return this.#sum.toString('hex')
  }

  equals(other: Fingerprint): boolean {
    return this.count === other.count && this.digest === other.digest
  }
}
