import { DocumentStore, eq, isIn, Spaces, type StoredEvent, wire } from 'pounce/sdk'
import { removeFound } from 'pounce/sdk/kit'
import { definitions, everywhere } from './collection.ts'
import { derivedId } from './first-definitions.ts'
import { type Definition, requireThere } from './stored-definitions.ts'

const batchSize = 200

/**
 * Copies a new definition of the installation to each space, which may edit or delete its copy. A space without definitions uses those of
 * the installation: it gets a copy of each, so that it does not lose the others.
 */
export class CopyDefinitionToSpaces {
  #documents: DocumentStore
  #spaces: Spaces

  constructor(documents: DocumentStore, spaces: Spaces) {
    this.#documents = documents
    this.#spaces = spaces
  }

  async handle({ subject, data }: StoredEvent<'definition.added'>): Promise<void> {
    if (data.space !== null) return
    const general = await Array.fromAsync(this.#documents.scan(definitions, { using: 'byScope', where: eq('scope', everywhere) }))
    if (!general.some(({ id }) => id === subject.id)) return
    let some: string[] = []
    for await (const { id } of this.#spaces.all()) {
      if (some.push(id) < batchSize) continue
      await this.#copy(subject.id, general, some)
      some = []
    }
    if (some.length > 0) await this.#copy(subject.id, general, some)
  }

  async #copy(added: string, general: readonly Definition[], spaces: readonly string[]): Promise<void> {
    const own = await this.#withOwn(added, general, spaces)
    for (const original of general) {
      const scopes = spaces.filter(scope => original.id === added || !own.has(scope))
      const { revision: _revision, ...fields } = original
      const inserts = scopes.map(scope => ({
        change: { insert: { ...fields, id: copyId(added, original.id, scope), scope }, into: definitions },
      }))
      if (inserts.length > 0) requireThere(await this.#documents.commitEach(inserts))
    }
    await this.#takeBack(spaces)
  }

  /** The spaces that have definitions, apart from copies by an interrupted attempt at this event. */
  async #withOwn(added: string, general: readonly Definition[], spaces: readonly string[]): Promise<ReadonlySet<string>> {
    const originals = new Map(general.map(({ uri, id }) => [uri, id]))
    const own = new Set<string>()
    for await (const { id, scope, uri } of this.#documents.scan(definitions, { using: 'byScope', where: isIn('scope', spaces) })) {
      const original = originals.get(uri)
      if (!own.has(scope) && (original === undefined || id !== copyId(added, original, scope))) own.add(scope)
    }
    return own
  }

  /** A space may have been deleted after it was read, and the cascade that would delete the copies may have run. */
  async #takeBack(spaces: readonly string[]): Promise<void> {
    const there = await this.#spaces.getMany(spaces)
    const removed = spaces.filter(space => !there.has(space))
    if (removed.length > 0) await removeFound(this.#documents, definitions, { using: 'byScope', where: isIn('scope', removed) })
  }
}
wire(CopyDefinitionToSpaces, DocumentStore, Spaces)

/** Derived, so that a repeat finds the copies: of the added definition, and of others that are copied with it. */
const copyId = (added: string, original: string, space: string): string =>
  original === added ? derivedId(original, space) : derivedId(added, original, space)

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
