import { needsOfFiles } from './needs-files.ts'
import { needsOfGeostreams } from './needs-geostreams.ts'
import { needsOfPeople } from './needs-people.ts'
import { needsOfThings } from './needs-things.ts'
import { needsOfWords } from './needs-words.ts'
import type { By } from './rights.ts'

/**
 * Route → its requirements, in the order in which they are checked.
 *
 * - `signedIn`, `serverAdmin`: a word of `verdicts.ts`.
 * - `CreateDataset`: a permission without a resource.
 * - `EditFile file=id`: a permission on the file of the parameter `id`, in the path, the query or the body.
 * - `a | b`: either is sufficient.
 * - `owner:P`: P, held as the owner or in superadmin mode.
 * - `author:P`: P, held as the author only.
 * - `live:P`: P; in the trash, a change like any other.
 * - `reading:P`: P, for a POST that only reads (0026: downloads from the trash are allowed).
 * - `part`: must be in the resource named before.
 * - `known`: any existing resource.
 * - `blind`: never looked up, so the response does not depend on its existence.
 * - `each`: an item of a batch; items without the right are skipped, or the whole batch is refused.
 */
export type Needs = Readonly<Record<string, string>>

export const needs: Needs = { ...needsOfPeople, ...needsOfThings, ...needsOfFiles, ...needsOfGeostreams, ...needsOfWords }

/** One condition: a word or permission, and the parameter and kind of its resource. */
export interface Need {
  readonly right: string
  readonly by: By
  readonly kind?: string
  readonly parameter?: string
  readonly isEach: boolean
}

const read = new Map<string, readonly (readonly Need[])[]>()

/** A conjunction of disjunctions. */
export const readNeeds = (text: string): readonly (readonly Need[])[] => {
  const found = read.get(text) ?? parsed(text)
  read.set(text, found)
  return found
}

const parsed = (text: string): readonly (readonly Need[])[] =>
  text.split(';').map(all =>
    all.split('|').map(one => {
      const words = one.trim().split(' ')
      const isEach = words[0] === 'each'
      const [said = '', about] = isEach ? words.slice(1) : words
      const [right = '', by = 'anybody'] = said.split(':').toReversed() as [string, By?]
      const [kind, parameter] = about?.split('=') ?? []
      return { right, by, isEach, ...(kind !== undefined && parameter !== undefined ? { kind, parameter } : {}) }
    }),
  )
