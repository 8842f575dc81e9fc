import {
  type DatasetRecord,
  Datasets,
  DocumentStore,
  type FileRecord,
  Files,
  range,
  type Stored,
  type UserRecord,
  Users,
  wire,
} from 'pounce/sdk'
import { type CellValue, inBatches, type Records, unquoted } from 'pounce/sdk/kit'
import { personOf, SpacePeopleReader } from './people-reports.ts'
import type { Span } from './record-reports.ts'
import { linesFrom, type Report, Sources } from './report.ts'

/** The files in a storage report, within a time range with exclusive bounds: all, or those of a space. */
class StoredFileReport {
  #documents: DocumentStore
  #sources: Sources
  #files: Files
  #datasets: Datasets

  constructor(documents: DocumentStore, sources: Sources, files: Files, datasets: Datasets) {
    this.#documents = documents
    this.#sources = sources
    this.#files = files
    this.#datasets = datasets
  }

  all({ since, until }: Span): AsyncIterable<File> {
    const { records, byCreated } = this.#sources.of('file')
    const bounds = { ...(since === undefined ? {} : { gt: since }), ...(until === undefined ? {} : { lt: until }) }
    const where = Object.keys(bounds).length > 0 ? { where: range('created', bounds) } : {}
    return this.#documents.scan(records, { using: byCreated.using, ...where }) as AsyncIterable<File>
  }

  /** Each file once, in any datasets and folders of the space. */
  async *ofSpace(space: string, { since, until }: Span): AsyncGenerator<File> {
    const { records, inSpace } = this.#sources.of('dataset')
    if (!inSpace) return
    for await (const { id } of this.#documents.scan(records, inSpace(space)) as AsyncIterable<DatasetRecord & Stored>) {
      for await (const file of this.#files.ofDataset(id)) {
        if (since !== undefined && file.created <= since) continue
        if (until !== undefined && file.created >= until) continue
        if (await this.#standsFor(file, id, space)) yield file
      }
    }
  }

  /** A file in several datasets of the space is listed with the first of them. */
  async #standsFor(file: File, dataset: string, space: string): Promise<boolean> {
    const others = [...new Set(file.places.map(place => place.dataset))].filter(id => id < dataset)
    if (others.length === 0) return true
    const found = await this.#datasets.getMany(others)
    return ![...found.values()].some(({ spaces, state }) => spaces.includes(space) && state !== 'importing')
  }
}
wire(StoredFileReport, DocumentStore, Sources, Files, Datasets)

type File = FileRecord & Stored

const remembered = 5000

const columns = [
  ...['file_type', 'id', 'name', 'owner', 'owner_email', 'owner_id', 'size_kb', 'uploaded', 'location'],
  ...['parent_datasets', 'parent_collections', 'parent_spaces', 'space_owners', 'space_admins'],
]

/** Records of a port, read in batches and cached up to a limit. */
class RecordCache<T extends object> {
  readonly #records: Records<T>
  #known = new Map<string, (T & Stored) | undefined>()

  constructor(records: Records<T>) {
    this.#records = records
  }

  async load(ids: readonly string[]): Promise<void> {
    const wanted = new Set(ids)
    if (this.#known.size + wanted.size > remembered) this.#known = new Map([...this.#known].filter(([id]) => wanted.has(id)))
    const missing = [...wanted].filter(id => !this.#known.has(id))
    for (let at = 0; at < missing.length; at += 1000) {
      const some = missing.slice(at, at + 1000)
      const found = await this.#records.getMany(some)
      for (const id of some) this.#known.set(id, found.get(id))
    }
  }

  get(id: string): (T & Stored) | undefined {
    return this.#known.get(id)
  }
}

const different = (texts: readonly string[]): readonly string[] => [...new Set(texts)]

/** Storage reports: each file with its owner, its containers, and the owners and admins of its spaces. */
export class StorageReports {
  #files: StoredFileReport
  #datasets: Datasets
  #users: Users
  #people: SpacePeopleReader

  constructor(files: StoredFileReport, datasets: Datasets, users: Users, people: SpacePeopleReader) {
    this.#files = files
    this.#datasets = datasets
    this.#users = users
    this.#people = people
  }

  /** Files of a space, or all files. The bounds are exclusive. */
  files(space: string | undefined, span: Span): Report {
    const found = () => (space === undefined ? this.#files.all(span) : this.#files.ofSpace(space, span))
    return {
      name: space === undefined ? 'SpaceStorage' : `SpaceStorage_${space}`,
      columns,
      lines: format => linesFrom(format, columns, this.#rows(found())),
    }
  }

  async *#rows(files: AsyncIterable<File>): AsyncGenerator<readonly CellValue[]> {
    const datasets = new RecordCache<DatasetRecord>(this.#datasets)
    const users = new RecordCache<UserRecord>(this.#users)
    const peopleOf = this.#people.finder()
    const rowOf = async (file: File): Promise<readonly CellValue[]> => {
      const parents = different(file.places.map(place => place.dataset))
      const known = parents.flatMap(id => datasets.get(id) ?? [])
      const spaces = different(known.flatMap(dataset => dataset.spaces))
      const people = await Promise.all(spaces.map(peopleOf))
      const { name, email } = personOf(users.get(file.author))
      return [
        ...[
          file.contentType,
          file.id,
          file.name,
          name,
          email,
          file.author,
          Math.floor(file.sizeBytes / 1000),
          unquoted(file.created),
          file.blob,
        ],
        ...[parents, different(known.flatMap(dataset => dataset.collections)), spaces],
        ...[different(people.flatMap(({ owners }) => owners)), different(people.flatMap(({ admins }) => admins))],
      ]
    }
    for await (const some of inBatches(files)) {
      await datasets.load(some.flatMap(file => file.places.map(place => place.dataset)))
      await users.load(some.map(file => file.author))
      for (const file of some) yield await rowOf(file)
    }
  }
}
wire(StorageReports, StoredFileReport, Datasets, Users, SpacePeopleReader)
