import { DocumentStore, eq, Spaces, type StoredEvent, wire } from 'pounce/sdk'
import { removeFound } from 'pounce/sdk/kit'
import { definitions } from './collection.ts'
import { derivedId } from './first-definitions.ts'
import { requireThere } from './stored-definitions.ts'

const batch = 200

/** Copies a new definition of the installation to each space, which may edit or delete its copy. */
export class CopyDefinitionToSpaces {
  #documents: DocumentStore
  #spaces: Spaces

  constructor(documents: DocumentStore, spaces: Spaces) {
    this.#documents = documents
    this.#spaces = spaces
  }

  async handle({ subject, data }: StoredEvent<'definition.added'>): Promise<void> {
    if (data.space !== null) return
    const definition = await this.#documents.get(definitions, subject.id)
    if (!definition) return
    const { id: original, revision: _revision, ...fields } = definition
    let some: string[] = []
    const copy = async (): Promise<void> => {
      const inserts = some.map(scope => ({ change: { insert: { ...fields, id: derivedId(original, scope), scope }, into: definitions } }))
      if (inserts.length > 0) requireThere(await this.#documents.commitEach(inserts))
      await this.#takeBack(original, some)
      some = []
    }
    for await (const { id } of this.#spaces.all()) if (some.push(id) === batch) await copy()
    await copy()
  }

  /** A space may have been deleted after it was read, and the cascade that would delete the copy may have run. */
  async #takeBack(original: string, spaces: readonly string[]): Promise<void> {
    const there = await this.#spaces.getMany(spaces)
    const gone = spaces.filter(space => !there.has(space))
    if (gone.length === 0) return
    requireThere(
      await this.#documents.commitEach(gone.map(space => ({ change: { tombstone: derivedId(original, space), in: definitions } }))),
    )
  }
}
wire(CopyDefinitionToSpaces, DocumentStore, Spaces)

/** Deletes the definitions of a deleted space. */
export class DeleteDefinitionsOnSpaceRemoved {
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async handle({ subject }: StoredEvent<'space.removed'>): Promise<void> {
    await removeFound(this.#documents, definitions, { using: 'byScope', where: eq('scope', subject.id) })
  }
}
wire(DeleteDefinitionsOnSpaceRemoved, DocumentStore)
