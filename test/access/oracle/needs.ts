import { needsOfFiles } from './needs-files.ts'
import { needsOfGeostreams } from './needs-geostreams.ts'
import { needsOfPeople } from './needs-people.ts'
import { needsOfThings } from './needs-things.ts'
import { needsOfWords } from './needs-words.ts'
import type { By } from './rights.ts'

/**
 * Route → what it takes, in the order in which it is checked. `signedIn`, `serverAdmin`: a word. `CreateDataset`: a permission, on nothing in
 * particular. `EditFile file=id`: a permission on the file that the parameter `id` names, of the path, the query or the body. `a | b`: either
 * will do. `owner:P`: P, because one owns it or is in superadmin mode. `author:P`: P, because one is its author and nothing else. `live:P`: P, which in the trash is a change like any other.
 * `reading:P`: P, with which a POST only looks (0026: downloads of what is in the trash are allowed). Besides permissions: the words of `verdicts.ts`, `part` (must lie in what was named before), `known` (any that there is), `blind`
 * (never looked up: the same answer whether there is one or not), `each` (of a batch: those that may not are left out, or all is refused).
 */
export type Needs = Readonly<Record<string, string>>

export const needs: Needs = { ...needsOfPeople, ...needsOfThings, ...needsOfFiles, ...needsOfGeostreams, ...needsOfWords }

/** One condition: a word or right, and the parameter and kind of the resource that it is about. */
export interface Need {
  readonly right: string
  readonly by: By
  readonly kind?: string
  readonly parameter?: string
  readonly isEach: boolean
}

const read = new Map<string, readonly (readonly Need[])[]>()

/** All of the outer must hold, one of each inner. */
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
