import { CommitConflict, DocumentStore, type StoredEvent, wire } from 'pounce/sdk'
import { type ChoiceRecord, choices } from './collections.ts'

const none: ChoiceRecord = { enabled: [], disabled: [] }
const everywhere = 'global'

/** Which extractors run by themselves: in the whole installation, and otherwise in single spaces. */
export class EnabledExtractors {
  #documents: DocumentStore
  #changes = 0

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  /** Differs after each change of the list for the whole installation that was made here. */
  get changes(): number {
    return this.#changes
  }

  /** Names of those that run by themselves unless a space says otherwise. */
  async enabled(): Promise<readonly string[]> {
    return (await this.#documents.get(choices, everywhere))?.enabled ?? []
  }

  /** Replaces the list whole. */
  async setEnabled(names: readonly string[]): Promise<void> {
    await this.#put(everywhere, { enabled: names, disabled: [] })
    this.#changes++
  }

  /** Adds one to the list. */
  async enable(name: string): Promise<void> {
    for (;;) {
      const known = await this.#documents.get(choices, everywhere)
      try {
        if (known) await this.#documents.commit({ update: everywhere, in: choices, addToSet: { enabled: [name] } })
        else await this.#documents.commit({ insert: { id: everywhere, enabled: [name], disabled: [] }, into: choices })
        this.#changes++
        return
      } catch (error) {
        // Another one was the first in this moment.
        if (!(error instanceof CommitConflict)) throw error
      }
    }
  }

  /** What a space says; nothing for one that was never asked. */
  async ofSpace(space: string): Promise<ChoiceRecord> {
    const { enabled, disabled } = (await this.#documents.get(choices, space)) ?? none
    return { enabled, disabled }
  }

  async ofSpaces(spaces: readonly string[]): Promise<readonly ChoiceRecord[]> {
    return spaces.length === 0 ? [] : [...(await this.#documents.getMany(choices, spaces)).values()]
  }

  /** Replaces what a space says; an extractor in neither list is as in the whole installation. */
  setOfSpace(space: string, choice: ChoiceRecord): Promise<void> {
    return this.#put(space, choice)
  }

  /** A space that is gone says nothing any more. */
  async forget(space: string): Promise<void> {
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

/** Deletes the choice of a space with it. */
export class DeleteExtractorChoicesOnSpaceRemoved {
  #choices: EnabledExtractors

  constructor(choices: EnabledExtractors) {
    this.#choices = choices
  }

  async handle({ subject }: StoredEvent<'space.removed'>): Promise<void> {
    await this.#choices.forget(subject.id)
  }
}
wire(DeleteExtractorChoicesOnSpaceRemoved, EnabledExtractors)
