import {
  type After,
  Clock,
  DocumentStore,
  eq,
  event,
  Ids,
  isIn,
  type NewEvent,
  orNotFound,
  type Page,
  removeFound,
  requireDone,
  type Sections,
  type Update,
  type Where,
  wire,
} from 'pounce/sdk'
import { type Section, sections } from './collection.ts'
import { fromPosted, type PostedSection } from './section-json.ts'

/** Sections in the document store. */
export class StoredSections implements Sections {
  #documents: DocumentStore
  #ids: Ids
  #clock: Clock

  constructor(documents: DocumentStore, ids: Ids, clock: Clock) {
    this.#documents = documents
    this.#ids = ids
    this.#clock = clock
  }

  get(id: string): Promise<Section | undefined> {
    return this.#documents.get(sections, id)
  }

  getMany(ids: readonly string[]): Promise<ReadonlyMap<string, Section>> {
    return this.#documents.getMany(sections, ids)
  }

  change(id: string, update: Update & { readonly where?: Where }, events: readonly NewEvent[]): Promise<Section> {
    return orNotFound('section', this.#documents.commit({ update: id, in: sections, ...update }, events))
  }

  of(file: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<Section>> {
    return this.#documents.find(sections, { ...ofFile(file), ...page })
  }

  /** Ids of all sections of a file in their order, read while you iterate. */
  async *idsOf(file: string): AsyncIterable<string> {
    for await (const { id } of this.#documents.scan(sections, ofFile(file))) yield id
  }

  create(file: string, posted: PostedSection, author: string | undefined): Promise<Section> {
    const id = this.#ids.next()
    const record = { ...fromPosted(posted), file, author: author ?? null, created: this.#clock.now().toISOString() }
    const created = event('section.created', { kind: 'section', id }, { file }, author)
    return this.#documents.commit({ insert: { id, ...record }, into: sections }, [created])
  }

  /** One that is gone already is no error. */
  async remove({ id, file }: Pick<Section, 'id' | 'file'>, actor: string | undefined): Promise<void> {
    requireDone(await this.#documents.commitEach([{ change: { tombstone: id, in: sections }, events: [removed({ id, file }, actor)] }]))
  }

  /** All sections of some files, in batches; `actors` says by file who took it away. */
  async removeAllOf(actors: ReadonlyMap<string, string | undefined>): Promise<void> {
    await removeFound(this.#documents, sections, {
      using: 'byFile',
      where: isIn('file', [...actors.keys()]),
      events: section => [removed(section, actors.get(section.file))],
    })
  }
}
wire(StoredSections, DocumentStore, Ids, Clock)

const removed = ({ id, file }: Pick<Section, 'id' | 'file'>, actor: string | undefined) =>
  event('section.removed', { kind: 'section', id }, { file }, actor)

const ofFile = (file: string) => ({ using: 'byFile', where: eq('file', file), sort: { by: 'startTime', order: 'ascending' } }) as const
