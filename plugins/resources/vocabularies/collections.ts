import { collection, createdBy, personalRecords, type Time, transferred } from 'pounce/sdk'

/** A list of words that everybody shares. */
export interface StandardRecord {
  readonly terms: readonly string[]
  readonly author: string
  readonly created: Time
  readonly modified: Time
}

export const standardVocabularies = collection<StandardRecord>('standard-vocabularies', { byCreated: { on: ['created'] } })

/** A word of a vocabulary, and what a value under it looks like. */
export interface Term {
  readonly id: string
  readonly key: string
  readonly units: string
  readonly defaultValue: string
  readonly description: string
}

/** Somebody's vocabulary. Its terms are in it, so that it is never there without them. */
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

export const vocabularies = collection<VocabularyRecord>('vocabularies', {
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
