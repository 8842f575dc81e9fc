import { DocumentStore, isIn, type Rights, type RightsOf, type Stored, wire } from 'pounce/sdk'
import { type VocabularyRecord, vocabularies } from './collections.ts'

/** A vocabulary takes its rights from its author, its spaces and its being public. */
export class VocabularyRights implements RightsOf {
  readonly kind = 'vocabulary'
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async rightsOf(ids: readonly string[]): Promise<ReadonlyMap<string, Rights>> {
    const found = await this.#documents.getMany(vocabularies, ids)
    return new Map([...found].map(([id, { author, spaces, isPublic }]) => [id, { author, spaces, isPublic, state: 'live' }]))
  }
}
wire(VocabularyRights, DocumentStore)

/** A term has the rights of the vocabulary that it is in. */
export class TermRights implements RightsOf {
  readonly kind = 'term'
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async rightsOf(ids: readonly string[]): Promise<ReadonlyMap<string, Rights>> {
    const wanted = new Set(ids)
    const { items } = await this.#documents.find(vocabularies, { using: 'byTerm', where: isIn('terms.id', ids), limit: 1000 })
    const rightsIn = (vocabulary: VocabularyRecord & Stored): Rights => ({
      author: vocabulary.author,
      spaces: [],
      isPublic: false,
      state: 'live',
      parents: [{ kind: 'vocabulary', id: vocabulary.id }],
    })
    return new Map(
      items.flatMap(vocabulary => vocabulary.terms.filter(({ id }) => wanted.has(id)).map(({ id }) => [id, rightsIn(vocabulary)] as const)),
    )
  }
}
wire(TermRights, DocumentStore)
