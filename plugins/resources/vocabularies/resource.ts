import { DocumentStore, defineResource, isIn, type Rights, type Stored, wire } from 'pounce/sdk'
import { createdBy, type RightsSource, transferred } from 'pounce/sdk/kit'
import { type VocabularyRecord, vocabularies } from './stored-vocabularies.ts'

export const vocabularyResource = defineResource<VocabularyRecord>({
  kind: 'vocabulary',
  collection: vocabularies,
  view: 'ViewVocabulary',
  rights: ({ author, spaces, isPublic }) => ({ author, spaces, isPublic, state: 'live' }),
  personalData: {
    name: 'vocabularies',
    summary: 'Vocabularies that you created.',
    ...createdBy<VocabularyRecord>('name', 'description', 'created', 'keys', 'tags', 'terms', 'isPublic', 'spaces'),
    erase: transferred(),
  },
})

/** A term has the rights of its vocabulary. */
class TermRights implements RightsSource {
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async rightsOf(ids: readonly string[]): Promise<ReadonlyMap<string, Rights>> {
    const wanted = new Set(ids)
    const { items } = await this.#documents.find(vocabularies, { using: 'byTerm', where: isIn('terms.id', ids), limit: 1000 })
    const rightsIn = ({ id, author }: VocabularyRecord & Stored): Rights => ({
      author,
      spaces: [],
      isPublic: false,
      state: 'live',
      parents: [{ kind: 'vocabulary', id }],
    })
    return new Map(
      items.flatMap(vocabulary => vocabulary.terms.filter(({ id }) => wanted.has(id)).map(({ id }) => [id, rightsIn(vocabulary)] as const)),
    )
  }
}
wire(TermRights, DocumentStore)

export const termResource = defineResource({ kind: 'term', view: 'ViewVocabularyTerm', rightsSource: TermRights })
