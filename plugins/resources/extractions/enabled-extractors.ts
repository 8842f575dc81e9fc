import { CommitConflict, DocumentStore, type StoredEvent, wire } from 'pounce/sdk'
import { type ChoiceRecord, choices } from './collections.ts'

const noChoice: ChoiceRecord = { enabled: [], disabled: [] }
const globalId = 'global'

/** The extractors that run automatically: by default in the whole installation, with overrides per space. */
export class EnabledExtractors {
  #documents: DocumentStore
  #changes = 0

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  /** Changes with each update of the default list by this kernel. */
  get changes(): number {
    return this.#changes
  }

  /** Names of the extractors that run automatically unless a space overrides it. */
  async enabled(): Promise<readonly string[]> {
    return (await this.#documents.get(choices, globalId))?.enabled ?? []
  }

  /** Replaces the whole list. */
  async setEnabled(names: readonly string[]): Promise<void> {
    await this.#put(globalId, { enabled: names, disabled: [] })
    this.#changes++
  }

  /** Adds one to the list. */
  async enable(name: string): Promise<void> {
    for (;;) {
      const known = await this.#documents.get(choices, globalId)
      try {
        if (known) await this.#documents.commit({ update: globalId, in: choices, addToSet: { enabled: [name] } })
        else await this.#documents.commit({ insert: { id: globalId, enabled: [name], disabled: [] }, into: choices })
        this.#changes++
        return
      } catch (error) {
        // Another request has created the record concurrently.
        if (!(error instanceof CommitConflict)) throw error
      }
    }
  }

  /** The overrides of a space; empty if there are none. */
  async ofSpace(space: string): Promise<ChoiceRecord> {
    const { enabled, disabled } = (await this.#documents.get(choices, space)) ?? noChoice
    return { enabled, disabled }
  }

  async ofSpaces(spaces: readonly string[]): Promise<readonly ChoiceRecord[]> {
    return spaces.length === 0 ? [] : [...(await this.#documents.getMany(choices, spaces)).values()]
  }

  /** Replaces the overrides of a space; extractors in neither list follow the default. */
  setOfSpace(space: string, choice: ChoiceRecord): Promise<void> {
    return this.#put(space, choice)
  }

  /** Deletes the overrides of a deleted space. */
  async removeOfSpace(space: string): Promise<void> {
    try {
      await this.#documents.commit({ tombstone: space, in: choices })
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
    }
  }

  async #put(id: string, choice: ChoiceRecord): Promise<void> {
    for (;;) {
      const known = await this.#documents.get(choices, id)
      try {
        if (known) await this.#documents.commit({ update: id, in: choices, set: { ...choice } })
        else await this.#documents.commit({ insert: { id, ...choice }, into: choices })
        return
      } catch (error) {
        if (!(error instanceof CommitConflict)) throw error
      }
    }
  }
}
wire(EnabledExtractors, DocumentStore)

/** Deletes the overrides of a deleted space. */
export class DeleteExtractorChoicesOnSpaceRemoved {
  #choices: EnabledExtractors

  constructor(choices: EnabledExtractors) {
    this.#choices = choices
  }

  async handle({ subject }: StoredEvent<'space.removed'>): Promise<void> {
    await this.#choices.removeOfSpace(subject.id)
  }
}
wire(DeleteExtractorChoicesOnSpaceRemoved, EnabledExtractors)
