import { Clock, CommitConflict, DocumentStore, Ids, Invalid, NotFound, type StandardVocabularies, type Stored, wire } from 'pounce/sdk'
import { type StandardRecord, standardVocabularies } from './stored-vocabularies.ts'

type Standard = StandardRecord & Stored

const tidied = (terms: readonly string[]): readonly string[] => {
  const words = terms.map(term => term.trim()).filter(term => term !== '')
  if (words.length === 0) throw new Invalid('Empty terms list is not allowed: send a JSON array with at least one term')
  return words
}

/** Translates a missing record into `NotFound`. */
const found = async <T>(commit: Promise<T>): Promise<T> => {
  try {
    return await commit
  } catch (error) {
    if (error instanceof CommitConflict) throw new NotFound('standard vocabulary', { cause: error })
    throw error
  }
}

/** Lists of terms in the document store. */
export class StoredStandards implements StandardVocabularies {
  #documents: DocumentStore
  #ids: Ids
  #clock: Clock

  constructor(documents: DocumentStore, ids: Ids, clock: Clock) {
    this.#documents = documents
    this.#ids = ids
    this.#clock = clock
  }

  async terms(id: string): Promise<readonly string[] | undefined> {
    return (await this.get(id))?.terms
  }

  get(id: string): Promise<Standard | undefined> {
    return this.#documents.get(standardVocabularies, id)
  }

  /** Oldest first, read during iteration. */
  all(): AsyncIterable<Standard> {
    return this.#documents.scan(standardVocabularies, { using: 'byCreated' })
  }

  add(terms: readonly string[], author: string): Promise<Standard> {
    const now = this.#clock.now().toISOString()
    const list = { terms: tidied(terms), author, created: now, modified: now }
    return this.#documents.commit({ insert: { id: this.#ids.next(), ...list }, into: standardVocabularies })
  }

  /** Throws `NotFound` for a missing one. */
  change(id: string, terms: readonly string[]): Promise<Standard> {
    const set = { terms: tidied(terms), modified: this.#clock.now().toISOString() }
    return found(this.#documents.commit({ update: id, in: standardVocabularies, set }))
  }

  /** Returns the deleted list. Throws `NotFound` for a missing one. */
  remove(id: string): Promise<Standard> {
    return found(this.#documents.commit({ tombstone: id, in: standardVocabularies }))
  }
}
wire(StoredStandards, DocumentStore, Ids, Clock)
