import { Clock, CommitConflict, Conflict, collection, DocumentStore, Ids, NotFound, type Time, wire } from 'pounce/sdk'
import { personalRecords } from 'pounce/sdk/kit'

/** A search that a user has saved. */
export interface SavedSearch {
  readonly id: string
  readonly name: string
  readonly query: string
  readonly created: Time
}

/** The saved searches of a user; the record's id is that of the user. Oldest first. */
interface Saved {
  readonly searches: readonly SavedSearch[]
}

export const savedSearches = collection<Saved>()('search.saved')

/** Maximum number of saved searches per user. */
export const maxSavedSearches = 100

export const PersonalSavedSearches = personalRecords({
  name: 'searches',
  summary: 'Searches that you have saved.',
  in: savedSearches,
  isOf: (saved, { id }) => saved.id === id,
  show: ({ searches }) => ({ searches }),
  erase: () => 'remove',
})

/** Saved searches, each visible to its user only. */
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

  /** Throws `Conflict` for a name that the user has used already, and beyond the limit. */
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

  /** Throws `NotFound` for a search that the user has not saved. */
  async remove(person: string, id: string): Promise<void> {
    if (!(await this.of(person)).some(search => search.id === id)) throw new NotFound('saved search')
    await this.#documents.commit({ update: person, in: savedSearches, pull: { searches: [{ id }] } })
  }
}
wire(SavedSearches, DocumentStore, Ids, Clock)
