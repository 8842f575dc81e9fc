import { createHash } from 'node:crypto'
import type { Stored } from 'pounce/sdk'

type Members = Readonly<Record<string, unknown>>

const isSorted = (names: readonly string[]): boolean => names.every((name, at) => at === 0 || (names[at - 1] ?? '') < name)

/** The same value with the members of objects in one order. */
const ordered = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.some(item => typeof item === 'object') ? value.map(ordered) : value
  const names = Object.keys(value)
  if (!isSorted(names)) names.sort()
  const members: Record<string, unknown> = {}
  for (const name of names) {
    const member = ordered((value as Members)[name])
    // Set like the others, it would be no member.
    if (name === '__proto__') Object.defineProperty(members, name, { value: member, enumerable: true })
    else members[name] = member
  }
  return members
}

/** A value as text, the same for objects whose members come in another order. */
export const canonical = (value: unknown): string => JSON.stringify(ordered(value))

const contentOf = ({ revision: _revision, ...document }: Partial<Stored> & object): string => canonical(document)

/** True when two documents hold the same, whatever their revisions. */
export const sameContent = (one: object, other: object): boolean => contentOf(one) === contentOf(other)

/** The number of documents and a digest of all they hold but their revisions, in whatever order they come. */
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
