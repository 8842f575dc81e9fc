import {
  type After,
  type AnyEvent,
  type BatchHandler,
  Clock,
  collection,
  DocumentStore,
  eq,
  event,
  Files,
  Ids,
  Invalid,
  isIn,
  type Json,
  type NewEvent,
  type Page,
  type SectionRecord,
  type Sections,
  type Stored,
  type StoredEvent,
  s,
  type Update,
  type Where,
  wire,
} from 'pounce/sdk'
import { KeyedMutex, optionalOrNull, orNotFound, removeFound, requireDone } from 'pounce/sdk/kit'

const Area = s.model('Area', s.Object({ x: s.Number(), y: s.Number(), w: s.Number(), h: s.Number() }))

/** A section as extractors send it. Unknown members are stored and returned unchanged. */
export const PostedSection = s.model(
  'NewSection',
  s.Object(
    {
      file_id: s.Optional(s.String({ maxLength: 100, description: 'Id of the file' })),
      area: optionalOrNull(Area),
      startTime: optionalOrNull(s.Number({ description: 'Seconds from the start of the file' })),
      endTime: optionalOrNull(s.Number()),
      order: optionalOrNull(s.Integer()),
      description: optionalOrNull(s.prose()),
    },
    { additionalProperties: true },
  ),
)

export type PostedSection = s.Static<typeof PostedSection>

/** A section in the format of Clowder 1.x; `endTime`, `order`, `thumbnail` and `more` are additions. */
export const SectionJson = s.model(
  'Section',
  s.Object({
    id: s.String(),
    file_id: s.String(),
    startTime: s.String({ description: 'Seconds as text; `-1` if there is none' }),
    tags: s.Array(s.String()),
    area: s.Union([Area, s.Null()]),
    description: s.String(),
    endTime: s.Union([s.Number(), s.Null()]),
    order: s.Union([s.Integer(), s.Null()]),
    thumbnail: s.Union([s.String(), s.Null()]),
    more: s.Optional(s.Record(s.String(), s.Unknown(), { description: 'Other members that were sent' })),
  }),
)

/** Members that are never taken from the body: ids, authors, creation times and tags. */
const own = new Set(['id', 'file_id', 'area', 'startTime', 'endTime', 'order', 'description', 'author', 'created', 'tags', 'thumbnail_id'])

const fromPosted = (posted: PostedSection): Omit<SectionRecord, 'file' | 'author' | 'created'> => {
  const { area = null, startTime = null, endTime = null, order = null, description } = posted
  const rest = Object.entries(posted as Readonly<Record<string, Json>>).filter(([name]) => !own.has(name))
  const shape = area && { x: area.x, y: area.y, w: area.w, h: area.h }
  return {
    area: shape,
    startTime,
    endTime,
    order,
    description: description ?? '',
    thumbnail: null,
    tags: [],
    more: Object.fromEntries(rest),
  }
}

export const toSectionJson = (section: Section): s.Static<typeof SectionJson> => {
  const { id, file, startTime, tags, area, description, endTime, order, thumbnail, more } = section
  return {
    id,
    file_id: file,
    startTime: String(startTime ?? -1),
    tags: tags.map(({ name }) => name),
    area,
    description,
    endTime,
    order,
    thumbnail,
    ...(Object.keys(more).length > 0 ? { more } : {}),
  }
}

type Section = SectionRecord & Stored

/** Sections; those of one file by start time. */
export const sections = collection<SectionRecord>()('sections', {
  byFile: { on: ['file', 'startTime'] },
})

/** Maximum number of sections of a file. */
const maxSections = 10_000

/** Sections in the document store. */
export class StoredSections implements Sections {
  #documents: DocumentStore
  #ids: Ids
  #clock: Clock
  /** By file: concurrent requests must not exceed `maxSections` together. */
  readonly #creations = new KeyedMutex()

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

  of(files: string | readonly string[], page: { readonly after?: After; readonly limit: number }): Promise<Page<Section>> {
    return this.#documents.find(sections, { ...ofFiles([files].flat()), ...page })
  }

  /** Ids of all sections of a file in order, read during iteration. */
  async *idsOf(file: string): AsyncIterable<string> {
    for await (const { id } of this.#documents.scan(sections, ofFiles([file]))) yield id
  }

  /** Throws `Invalid` for a file that has the maximum number of sections. */
  create(file: string, posted: PostedSection, author: string | undefined): Promise<Section> {
    return this.#creations.use(file, () => this.#create(file, posted, author))
  }

  async #create(file: string, posted: PostedSection, author: string | undefined): Promise<Section> {
    const existing = await this.#documents.count(sections, { using: 'byFile', where: eq('file', file), upTo: maxSections })
    if (existing === maxSections) throw new Invalid(`A file can have at most ${maxSections} sections`)
    const id = this.#ids.next()
    const record = { ...fromPosted(posted), file, author: author ?? null, created: this.#clock.now().toISOString() }
    const created = event('section.created', { kind: 'section', id }, { file }, author)
    return this.#documents.commit({ insert: { id, ...record }, into: sections }, [created])
  }

  /** A deleted one is not an error. */
  async remove({ id, file }: Pick<Section, 'id' | 'file'>, actor: string | undefined): Promise<void> {
    requireDone(await this.#documents.commitEach([{ change: { tombstone: id, in: sections }, events: [removed({ id, file }, actor)] }]))
  }

  /** Deletes all sections of some files, in batches; `actors` maps each file to the user who deleted it. */
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

const ofFiles = (files: readonly string[]) =>
  ({ using: 'byFile', where: isIn('file', files), sort: { by: 'startTime', order: 'ascending' } }) as const

/** Deletes sections with their file. */
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

/** Deletes a section that was created while its file was being deleted, and so was missed by that cascade. */
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
