import { type Caller, wire } from 'pounce/sdk'
import type { NameFinder } from 'pounce/sdk/kit'
import { beginsWordsOf } from 'pounce/sdk/search'
import { SpaceLists } from './space-lists.ts'

/** Maximum number of spaces read for one response: a word may occur anywhere in a name. */
const maxLookedAt = 50

/** Finds spaces by name among those that are listed for the caller. */
export class SpaceNames implements NameFinder {
  readonly kind = 'space'
  #lists: SpaceLists

  constructor(lists: SpaceLists) {
    this.#lists = lists
  }

  async find(text: string, caller: Caller, limit: number): Promise<readonly { readonly id: string; readonly name: string }[]> {
    const longest = text.split(/\s+/u).toSorted((a, b) => b.length - a.length)[0] ?? ''
    if (longest === '') return []
    const { items } = await this.#lists.visible(caller, { title: longest, limit: maxLookedAt })
    return items
      .filter(({ name }) => beginsWordsOf(text, name))
      .slice(0, limit)
      .map(({ id, name }) => ({ id, name }))
  }
}
wire(SpaceNames, SpaceLists)
