import {
  type After,
  Clock,
  CommitConflict,
  DocumentStore,
  eq,
  event,
  Ids,
  isIn,
  type NewEvent,
  orNotFound,
  type Page,
  port,
  type Sections,
  type Update,
  type Where,
  wire,
} from 'pounce/sdk'
import { type Section, sections } from './collection.ts'
import { fromPosted, type PostedSection } from './section-json.ts'

const batch = 200

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
    await this.#removeAll([{ id, file }], () => actor)
  }

  /** All sections of some files, in batches; `actors` says by file who took it away. */
  async removeAllOf(actors: ReadonlyMap<string, string | undefined>): Promise<void> {
    const files = [...actors.keys()]
    for (;;) {
      const { items } = await this.#documents.find(sections, { using: 'byFile', where: isIn('file', files), limit: batch })
      if (items.length === 0) return
      await this.#removeAll(items, file => actors.get(file))
    }
  }

  async #removeAll(some: readonly Pick<Section, 'id' | 'file'>[], actorOf: (file: string) => string | undefined): Promise<void> {
    const outcome = await this.#documents.commitEach(
      some.map(({ id, file }) => ({
        change: { tombstone: id, in: sections },
        events: [event('section.removed', { kind: 'section', id }, { file }, actorOf(file))],
      })),
    )
    for (const each of outcome) if (!each.ok && !(each.error instanceof CommitConflict)) throw each.error
  }
}
wire(StoredSections, DocumentStore, Ids, Clock)

const ofFile = (file: string) => ({ using: 'byFile', where: eq('file', file), sort: { by: 'startTime', order: 'ascending' } }) as const

/** What the routes use besides `Sections`. */
export const SectionDesk = port<StoredSections>('sections.desk')
