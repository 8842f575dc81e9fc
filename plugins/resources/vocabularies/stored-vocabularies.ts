import {
  and,
  type Caller,
  Clock,
  CommitConflict,
  collection,
  DocumentStore,
  eq,
  Ids,
  Invalid,
  Policy,
  type Stored,
  type StoredEvent,
  type Time,
  wire,
} from 'pounce/sdk'
import { conditionsOf, createdBy, orNotFound, personalRecords, transferred, updateWithRetry } from 'pounce/sdk/kit'

/** A shared list of terms. */
export interface StandardRecord {
  readonly terms: readonly string[]
  readonly author: string
  readonly created: Time
  readonly modified: Time
}

export const standardVocabularies = collection<StandardRecord>()('standard-vocabularies', { byCreated: { on: ['created'] } })

/** A term of a vocabulary, and the format of its values. */
export interface Term {
  readonly id: string
  readonly key: string
  readonly units: string
  readonly defaultValue: string
  readonly description: string
}

/** A user's vocabulary. Its terms are part of the record, so that it never exists without them. */
export interface VocabularyRecord {
  readonly name: string
  readonly author: string
  readonly created: Time
  readonly description: string
  readonly keys: readonly string[]
  readonly tags: readonly string[]
  readonly isPublic: boolean
  readonly spaces: readonly string[]
  readonly terms: readonly Term[]
}

export const vocabularies = collection<VocabularyRecord>()('vocabularies', {
  byCreated: { on: ['created'] },
  bySpace: { on: ['spaces', 'created'], array: 'spaces' },
  byAuthor: { on: ['author', 'created'] },
  byName: { on: ['author', 'name', 'created'] },
  byPublic: { on: ['isPublic', 'created'] },
  byTerm: { on: ['terms.id'], array: 'terms.id' },
})

export const PersonalStandardVocabularies = personalRecords({
  name: 'standard-vocabularies',
  summary: 'Standard vocabularies that you created.',
  in: standardVocabularies,
  ...createdBy<StandardRecord>('terms', 'created', 'modified'),
  erase: transferred(),
})

type Vocabulary = VocabularyRecord & Stored

/** A term as sent by a client. */
export type NewTerm = Omit<Term, 'id'>

/** A vocabulary as sent by a client; keys and tags are comma-separated strings, as in v1. */
export interface VocabularyWords {
  readonly name: string
  readonly description: string
  readonly keys: string
  readonly tags: string
  readonly terms: readonly NewTerm[]
}

const max = { terms: 1000, words: 1000, spaces: 1000 } as const

const wordsOf = (name: string, text: string): readonly string[] => {
  const words = text
    .split(',')
    .map(word => word.trim())
    .filter(word => word !== '')
  if (words.length > max.words) throw new Invalid(`${name} can have at most ${max.words} words`)
  return words
}

/** Vocabularies in the document store. */
export class StoredVocabularies {
  #documents: DocumentStore
  #policy: Policy
  #ids: Ids
  #clock: Clock

  constructor(documents: DocumentStore, policy: Policy, ids: Ids, clock: Clock) {
    this.#documents = documents
    this.#policy = policy
    this.#ids = ids
    this.#clock = clock
  }

  get(id: string): Promise<Vocabulary | undefined> {
    return this.#documents.get(vocabularies, id)
  }

  async term(id: string): Promise<Term | undefined> {
    const { items } = await this.#documents.find(vocabularies, { using: 'byTerm', where: eq('terms.id', id), limit: 1 })
    return items[0]?.terms.find(term => term.id === id)
  }

  /** Vocabularies of an author, oldest first; with `name`, only those with that name. */
  by(author: string, name?: string): AsyncIterable<Vocabulary> {
    const own = eq('author', author)
    if (name === undefined) return this.#documents.scan(vocabularies, { using: 'byAuthor', where: own })
    return this.#documents.scan(vocabularies, { using: 'byName', where: and(own, eq('name', name)) })
  }

  /** Public vocabularies within the limits of the caller's key, oldest first. */
  async *public(caller: Caller): AsyncIterable<Vocabulary> {
    const visible = this.#policy.visibleTo(caller, 'ViewVocabulary')
    if (visible === 'nothing') return
    yield* this.#documents.scan(vocabularies, { using: 'byPublic', where: and(eq('isPublic', true), ...conditionsOf(visible)) })
  }

  /** Vocabularies whose terms the caller may view, oldest first. */
  async *visible(caller: Caller): AsyncIterable<Vocabulary> {
    const visible = this.#policy.visibleTo(caller, 'ViewVocabularyTerm')
    if (visible === 'nothing') return
    yield* this.#documents.scan(vocabularies, {
      using: ['byCreated', 'bySpace', 'byAuthor', 'byPublic'],
      where: and(...conditionsOf(visible)),
      sort: { by: 'created', order: 'ascending' },
    })
  }

  async add({ terms, ...words }: VocabularyWords, isPublic: boolean, author: string): Promise<Vocabulary> {
    const vocabulary: VocabularyRecord = {
      name: words.name,
      description: words.description,
      keys: wordsOf('keys', words.keys),
      tags: wordsOf('tags', words.tags),
      author,
      created: this.#clock.now().toISOString(),
      isPublic,
      spaces: [],
      terms: this.#withIds([], terms),
    }
    return this.#documents.commit({ insert: { id: this.#ids.next(), ...vocabulary }, into: vocabularies })
  }

  /** Replaces the other fields, and appends the terms. Throws `NotFound` for a missing vocabulary. */
  async edit(id: string, { terms, ...words }: VocabularyWords): Promise<void> {
    const keys = wordsOf('keys', words.keys)
    const tags = wordsOf('tags', words.tags)
    await updateWithRetry(this.#documents, vocabularies, { kind: 'vocabulary', id }, now => ({
      set: {
        name: words.name === '' ? now.name : words.name,
        description: words.description,
        keys,
        tags,
        terms: this.#withIds(now.terms, terms),
      },
      events: [],
    }))
  }

  /** Throws `NotFound` for a missing vocabulary. */
  async addToSpace(id: string, space: string): Promise<Vocabulary> {
    return updateWithRetry(this.#documents, vocabularies, { kind: 'vocabulary', id }, ({ spaces }) => {
      if (spaces.includes(space)) return undefined
      if (spaces.length >= max.spaces) throw new Invalid(`A vocabulary can be in at most ${max.spaces} spaces`)
      return { set: { spaces: [...spaces, space] }, events: [] }
    })
  }

  /** No error if it is not in the space. Throws `NotFound` for a missing vocabulary. */
  removeFromSpace(id: string, space: string): Promise<Vocabulary> {
    return orNotFound('vocabulary', this.#documents.commit({ update: id, in: vocabularies, pull: { spaces: [space] } }))
  }

  #withIds(known: readonly Term[], terms: readonly NewTerm[]): readonly Term[] {
    if (known.length + terms.length > max.terms) throw new Invalid(`A vocabulary can have at most ${max.terms} terms`)
    return [...known, ...terms.map(term => ({ id: this.#ids.next(), ...term }))]
  }
}
wire(StoredVocabularies, DocumentStore, Policy, Ids, Clock)

/** Removes vocabularies from a deleted space. */
export class DetachVocabulariesOnSpaceRemoved {
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async handle({ subject }: StoredEvent<'space.removed'>): Promise<void> {
    const pull = { spaces: [subject.id] }
    for await (const { id } of this.#documents.scan(vocabularies, { using: 'bySpace', where: eq('spaces', subject.id) })) {
      const [outcome] = await this.#documents.commitEach([{ change: { update: id, in: vocabularies, pull } }])
      if (outcome && !outcome.ok && !(outcome.error instanceof CommitConflict)) throw outcome.error
    }
  }
}
wire(DetachVocabulariesOnSpaceRemoved, DocumentStore)
