import { type AnyEvent, type BatchHandler, Files, type StoredEvent, wire } from 'pounce/sdk'
import { StoredSections } from './stored-sections.ts'

/** Sections go with their file. */
export class DeleteSectionsOnFileRemoved implements BatchHandler {
  #sections: StoredSections

  constructor(sections: StoredSections) {
    this.#sections = sections
  }

  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    await this.#sections.removeAllOf(new Map(events.map(({ subject, actor }) => [subject.id, actor])))
  }
}
wire(DeleteSectionsOnFileRemoved, StoredSections)

/** A section that was made while its file went has nobody else to take it away. */
export class DeleteOrphanedSection {
  #sections: StoredSections
  #files: Files

  constructor(sections: StoredSections, files: Files) {
    this.#sections = sections
    this.#files = files
  }

  async handle({ subject, data: { file }, actor }: StoredEvent<'section.created'>): Promise<void> {
    if (!(await this.#files.get(file))) await this.#sections.remove({ id: subject.id, file }, actor)
  }
}
wire(DeleteOrphanedSection, StoredSections, Files)
