import { Clock, CommitConflict, Conflict, collection, DocumentStore, Ids, NotFound, type Time, wire } from 'pounce/sdk'
import { personalRecords } from 'pounce/sdk/kit'

/** A query that a person wants to ask again. */
export interface SavedSearch {
  readonly id: string
  readonly name: string
  readonly query: string
  readonly created: Time
}

/** What a person has saved; the record's id is the person's. The oldest first. */
interface Saved {
  readonly searches: readonly SavedSearch[]
}

export const savedSearches = collection<Saved>()('search.saved')

/** What one person can save at most. */
export const maxSavedSearches = 100

export const PersonalSavedSearches = personalRecords({
  name: 'searches',
  summary: 'Searches that you have saved.',
  in: savedSearches,
  isOf: (saved, { id }) => saved.id === id,
  show: ({ searches }) => ({ searches }),
  erase: () => 'remove',
})

/** Searches that people have saved, each for themselves. */
export class SavedSearches {
  #documents: DocumentStore
  #ids: Ids
  #clock: Clock

  constructor(documents: DocumentStore, ids: Ids, clock: Clock) {
    this.#documents = documents
    this.#ids = ids
    this.#clock = clock
  }

  async of(person: string): Promise<readonly SavedSearch[]> {
    return (await this.#documents.get(savedSearches, person))?.searches ?? []
  }

  /** `Conflict` for a name that the person uses already, and when there are too many. */
  async save(person: string, about: Pick<SavedSearch, 'name' | 'query'>): Promise<SavedSearch> {
    const search = { id: this.#ids.next(), ...about, created: this.#clock.now().toISOString() }
    for (;;) {
      const saved = await this.#documents.get(savedSearches, person)
      const searches = saved?.searches ?? []
      if (searches.some(({ name }) => name === search.name)) throw new Conflict('There is a saved search with this name already')
      if (searches.length >= maxSavedSearches) throw new Conflict(`At most ${maxSavedSearches} searches can be saved; delete some first`)
      try {
        const all = { searches: [...searches, search] }
        await this.#documents.commit(
          saved ? { replace: { ...saved, ...all }, in: savedSearches } : { insert: { id: person, ...all }, into: savedSearches },
        )
        return search
      } catch (error) {
        if (!(error instanceof CommitConflict)) throw error
      }
    }
  }

  /** `NotFound` for one that the person has not saved. */
  async remove(person: string, id: string): Promise<void> {
    if (!(await this.of(person)).some(search => search.id === id)) throw new NotFound('saved search')
    await this.#documents.commit({ update: person, in: savedSearches, pull: { searches: [{ id }] } })
  }
}
wire(SavedSearches, DocumentStore, Ids, Clock)
