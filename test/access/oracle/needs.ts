import { needsOfFiles } from './needs-files.ts'
import { needsOfGeostreams } from './needs-geostreams.ts'
import { needsOfPeople } from './needs-people.ts'
import { needsOfThings } from './needs-things.ts'
import { needsOfWords } from './needs-words.ts'

/**
 * Route → what it takes, in the order in which it is asked. `signedIn`, `serverAdmin`: a word. `CreateDataset`: a permission, on nothing in
 * particular. `EditFile file=id`: a permission on the file that the parameter `id` names, of the path, the query or the body. `a | b`: either
 * will do. Besides permissions: `made` (whoever made it, and superadmin mode), `authored` (the same, also by a limited key), `written` (whoever made it alone), a kind of right
 * (`edit`), `lookAround` (to look, where a key held to a space has nothing to look at), `part` (must lie in what was named before), `known` (any that there is), `blind`
 * (never looked up: the same answer whether there is one or not), `each` (of a batch: those that may not are left out, or all is refused), `account` (the account
 * itself: never by a key that reaches less far), `anyKey` (`signedIn` by
 * limited keys too), `placed` (as AddFile, by a key held to spaces too).
 */
export type Needs = Readonly<Record<string, string>>

export const needs: Needs = { ...needsOfPeople, ...needsOfThings, ...needsOfFiles, ...needsOfGeostreams, ...needsOfWords }

/** One condition: a word or right, and the parameter and kind of the thing that it is about. */
export interface Need {
  readonly right: string
  readonly kind?: string
  readonly parameter?: string
  readonly isEach: boolean
}

/** All of the outer must hold, one of each inner. */
export const readNeeds = (text: string): readonly (readonly Need[])[] =>
  text.split(';').map(all =>
    all.split('|').map(one => {
      const words = one.trim().split(' ')
      const isEach = words[0] === 'each'
      const [right = '', about] = isEach ? words.slice(1) : words
      const [kind, parameter] = about?.split('=') ?? []
      return { right, isEach, ...(kind !== undefined && parameter !== undefined ? { kind, parameter } : {}) }
    }),
  )
