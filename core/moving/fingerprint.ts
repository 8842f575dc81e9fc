import { createHash } from 'node:crypto'
import type { Stored } from 'pounce/sdk'

/** A value as text, the same for objects whose members come in another order. */
export const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`)
    .join()}}`
}

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
