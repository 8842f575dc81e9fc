import { hash } from 'node:crypto'
import { join } from 'node:path'
import {
  type After,
  type Archive,
  type Caller,
  Clock,
  CorruptContent,
  type FileRecord,
  Files,
  Installation,
  MetadataDocuments,
  type MetadataRecord,
  type Page,
  Policy,
  type Ref,
  type Stored,
  Users,
  wire,
} from 'pounce/sdk'
import { firstOfEach, shownMetadata } from 'pounce/sdk/kit'
import type { ArchiveFile, ArchiveFolder } from './archive-contents.ts'
import { layout, type Naming, type PlacedEntry } from './archive-paths.ts'
import { ArchiveWriter, noteEntry, zipBytes } from './archive-writer.ts'
import { bagEntries, type PayloadFile } from './bag.ts'
import { type BagSubject, clowderXml, datacite, fileInfo, subjectInfo } from './bag-documents.ts'
import { emailsShownTo } from './bag-subjects.ts'
import { JsonSpool } from './json-spool.ts'
import { zip } from './zip.ts'
import type { ZipEntry } from './zip-members.ts'

const infoEnding = '_info.json'
const metadataEnding = '_metadata.json'
const fileBatch = 100
/** Descriptions are passed on when they have this many bytes: those of one file can have any number. */
const maxDescriptionBytes = 65_536

/** File names in bags: two description files are added for each file, dataset and collection. In a manifest `%0A` would be a line break. */
const naming: Naming = {
  maxBytes: 255 - metadataEnding.length,
  cleaned: name => name.replace(/%(?=0[ad])/gi, '_'),
  reserved: ({ kind }) => (kind === 'folder' ? [] : [infoEnding, metadataEnding, '_dataset_metadata.json']),
  endings: [infoEnding, metadataEnding],
}

/** Within the limits of imports for a description. */
const maxFolderNames = 20_000
const maxFolderNamesBytes = 4 * 1024 * 1024

/** The names of folders that are renamed in the archive, by path: names that differ only in case, for example. */
class FolderNames {
  readonly #lines: string[] = []
  #bytes = 0

  add(path: string, name: string): void {
    if (path.split('/').at(-2) === name || this.#lines.length === maxFolderNames) return
    const line = `${JSON.stringify(path.slice(0, -1))}:${JSON.stringify(name)}`
    this.#bytes += Buffer.byteLength(line) + 1
    if (this.#bytes < maxFolderNamesBytes) this.#lines.push(line)
  }

  get tagFile(): readonly (readonly [string, string])[] {
    return this.#lines.length === 0 ? [] : [['metadata/folder-names.json', `{${this.#lines.join()}}`]]
  }
}

type Documents = Page<MetadataRecord & Stored>

type PlacedFile = Extract<PlacedEntry, { readonly file: ArchiveFile }>

/** What goes into a bag. */
export interface BagRequest {
  /** The downloading user. */
  readonly caller: Caller
  /** Its root is the folder of the subject. */
  readonly top: ArchiveFolder
  readonly subject: BagSubject
  /** The descriptions of each dataset and collection below the root, by id. */
  readonly others?: ReadonlyMap<string, BagSubject>
  /** A note on what is omitted, if anything. */
  readonly leftOut?: string | undefined
  readonly filename: string
}

/** Writes BagIt bags as streams. */
export class BagWriter {
  #files: Files
  #users: Users
  #metadata: MetadataDocuments
  #policy: Policy
  #writer: ArchiveWriter
  #installation: Installation
  #clock: Clock

  constructor(
    files: Files,
    users: Users,
    metadata: MetadataDocuments,
    policy: Policy,
    writer: ArchiveWriter,
    installation: Installation,
    clock: Clock,
  ) {
    this.#files = files
    this.#users = users
    this.#metadata = metadata
    this.#policy = policy
    this.#writer = writer
    this.#installation = installation
    this.#clock = clock
  }

  /** A bag of unknown length: the metadata of each file is read while the bag is sent. */
  bag(request: BagRequest): Archive {
    const { subject, leftOut, filename, top } = request
    const { baseUrl, version } = this.#installation
    const names = new FolderNames()
    const spool = new JsonSpool(join(this.#installation.dataFolder, 'downloads'))
    const entries = bagEntries({
      subject,
      info: { agent: `Pounce ${version} (${baseUrl})`, day: this.#clock.now().toISOString().slice(0, 10) },
      payload: this.#payload(request, names, spool),
      tagFiles: payloadBytes =>
        new Map([
          ['metadata/datacite.xml', datacite(subject, payloadBytes)],
          ['metadata/clowder.xml', clowderXml(subject, baseUrl)],
          ...names.tagFile,
          ...(leftOut === undefined ? [] : [['metadata/left-out.txt', leftOut] as const]),
        ]),
    })
    return { bytes: zipBytes(filename, () => disposing(spool, zip(entries))), ...top.counts }
  }

  async *#payload(request: BagRequest, names: FolderNames, spool: JsonSpool): AsyncGenerator<readonly (PayloadFile | ZipEntry)[]> {
    let batch: PlacedFile[] = []
    for (const placed of layout(request.top, naming)) {
      if ('file' in placed) {
        batch.push(placed)
        if (batch.length < fileBatch) continue
      }
      yield* this.#filesOf(batch, request.caller, spool)
      batch = []
      if (!('archiveFolder' in placed)) continue
      if (placed.path !== '') names.add(`data/${placed.path}`, placed.archiveFolder.name)
      yield await this.#folder(placed.archiveFolder, `data/${placed.path}`, request, spool)
    }
    yield* this.#filesOf(batch, request.caller, spool)
  }

  /** The description files of a dataset or collection; an empty folder gets an entry of its own. */
  async #folder(
    archiveFolder: ArchiveFolder,
    path: string,
    { subject, others }: BagRequest,
    spool: JsonSpool,
  ): Promise<readonly (PayloadFile | ZipEntry)[]> {
    const { kind, id } = archiveFolder
    const now = this.#clock.now()
    if (kind === 'folder')
      return archiveFolder.files.length + archiveFolder.subfolders.length === 0 ? [noteEntry(path, Buffer.alloc(0), now)] : []
    const about = id === subject.record.id ? subject : others?.get(id)
    if (!about) return []
    const name = kind === 'dataset' ? '_dataset_metadata.json' : metadataEnding
    const target = { kind: about.kind, id }
    const metadata = await this.#metadataFile(path + name, target, await this.#metadata.of(target), now, spool)
    return [jsonFile(path + infoEnding, subjectInfo(about), now), metadata]
  }

  async *#filesOf(batch: readonly PlacedFile[], caller: Caller, spool: JsonSpool): AsyncGenerator<readonly PayloadFile[]> {
    if (batch.length === 0) return
    const records = await this.#files.getMany([...new Set(batch.map(({ file }) => file.id))])
    const authors = await this.#users.getMany([...new Set([...records.values()].map(({ author }) => author))])
    const shown = await emailsShownTo(caller, this.#policy, [...authors.keys()])
    const now = this.#clock.now()
    let parts: PayloadFile[] = []
    let descriptionBytes = 0
    const owners = batch.map(placed => ({ ...placed, kind: 'file', id: placed.file.id }) as const)
    const documents = firstOfEach(owners, { read: (some, page) => this.#metadata.of(some, page), ownerOf: ({ target }) => target.id })
    for await (const { owner, ...first } of documents) {
      const { file, path } = owner
      const record = existing(records, file.id)
      const at = `data/${path}`
      const info = jsonFile(at + infoEnding, fileInfo(record, authors.get(record.author), shown.has(record.author)), now)
      const more = await this.#metadataFile(at + metadataEnding, { kind: 'file', id: file.id }, first, now, spool)
      parts.push(info, more, { entry: this.#writer.entryOf(at, file), sha256: file.sha256 })
      descriptionBytes += info.entry.sizeBytes + more.entry.sizeBytes
      if (descriptionBytes < maxDescriptionBytes) continue
      yield parts
      parts = []
      descriptionBytes = 0
    }
    yield parts
  }

  /** All documents of a resource. Those that fit into the first page are not worth a file. */
  async #metadataFile(path: string, target: Ref, { items, next }: Documents, modified: Date, spool: JsonSpool): Promise<PayloadFile> {
    const first = this.#shown(items)
    return next ? spool.list(path, this.#metadataFrom(target, first, next), modified) : jsonFile(path, first, modified)
  }

  async *#metadataFrom(target: Ref, first: readonly unknown[], next: After): AsyncGenerator<unknown> {
    yield* first
    for (let after: After | undefined = next; after; ) {
      const page: Documents = await this.#metadata.of(target, { after })
      yield* this.#shown(page.items)
      after = page.next
    }
  }

  #shown(documents: readonly (MetadataRecord & Stored)[]): readonly unknown[] {
    return documents.map(document => shownMetadata(document, this.#installation.baseUrl))
  }
}
wire(BagWriter, Files, Users, MetadataDocuments, Policy, ArchiveWriter, Installation, Clock)

async function* disposing(spool: JsonSpool, pieces: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  await using _ = spool
  yield* pieces
}

const jsonFile = (path: string, value: unknown, modified: Date): PayloadFile => {
  const bytes = Buffer.from(JSON.stringify(value))
  return { entry: noteEntry(path, bytes, modified), sha256: hash('sha256', bytes) }
}

const existing = (records: ReadonlyMap<string, FileRecord & Stored>, id: string): FileRecord & Stored => {
  const record = records.get(id)
  if (!record) throw new CorruptContent(undefined, { cause: new Error(`file ${id} was deleted during the download`) })
  return record
}
