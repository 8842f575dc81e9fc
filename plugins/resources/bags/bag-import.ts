import { buffer } from 'node:stream/consumers'
import {
  BlobStore,
  type CallerUser,
  Clock,
  type Contributions,
  Datasets,
  FileIngest,
  Files,
  Folders,
  Ids,
  Log,
  MetadataDocuments,
  type Progress,
  ProgressListeners,
  type StagedBlob,
  type Tag,
  wire,
} from 'pounce/sdk'
import { mediaTypeOf, type NewMetadata, type ProgressListener, reportProgress, streamed } from 'pounce/sdk/kit'
import { type BagContents, type BagFile, contentsOf } from './bag-contents.ts'
import { type DatasetDescription, describeDataset, describeFile, describeFolders } from './bag-descriptions.ts'
import { metadataIn } from './bag-metadata.ts'
import type { ReceivedBag } from './received-bag.ts'
import { Sidecars } from './sidecars.ts'

const smallBytes = 64 * 1024
const maxConcurrent = 8
/** Interval at which the lease of an import is renewed. An import whose lease was not renewed for an hour is rolled back. */
const signOfLifeMs = 5 * 60 * 1000

/** The importing user, and the name of the archive. */
export interface BagOrder {
  readonly user: CallerUser
  readonly keyId: string | undefined
  readonly archiveName: string
  readonly signal: AbortSignal
}

/** A complete dataset that nobody can view until it is revealed. Disposing of it removes it, unless it was kept. */
export interface HiddenDataset extends AsyncDisposable {
  readonly id: string
  reveal(): Promise<void>
  /** Ends the import. */
  keep(): void
}

/** An import in progress. */
interface Building {
  readonly dataset: string
  readonly bag: ReceivedBag
  readonly order: BagOrder
  readonly sidecars: Sidecars
  /** Ids of folders by path. */
  readonly folders: ReadonlyMap<string, string>
}

/** Creates datasets from bags: hidden while they are built, then shown in one commit or rolled back as a whole. */
export class BagImport {
  #datasets: Datasets
  #folders: Folders
  #files: Files
  #metadata: MetadataDocuments
  #blobs: BlobStore
  #ingest: FileIngest
  #ids: Ids
  #clock: Clock
  #progress: Contributions<ProgressListener>
  #log: Log

  constructor(
    datasets: Datasets,
    folders: Folders,
    files: Files,
    metadata: MetadataDocuments,
    blobs: BlobStore,
    ingest: FileIngest,
    ids: Ids,
    clock: Clock,
    progress: Contributions<ProgressListener>,
    log: Log,
  ) {
    this.#datasets = datasets
    this.#folders = folders
    this.#files = files
    this.#metadata = metadata
    this.#blobs = blobs
    this.#ingest = ingest
    this.#ids = ids
    this.#clock = clock
    this.#progress = progress
    this.#log = log
  }

  /** Builds a dataset that is private to its importer. Throws `Invalid` for a faulty bag, and then leaves nothing. */
  async build(bag: ReceivedBag, order: BagOrder): Promise<HiddenDataset> {
    const contents = contentsOf(bag)
    const total = contents.files.length
    const sidecars = new Sidecars(bag, total)
    const description = await describeDataset(bag, contents.info, order.archiveName, sidecars)
    const { id } = await this.#datasets.create(this.#newDataset(description, order.user))
    let isHidden = true
    let isKept = false
    await using undoing = new AsyncDisposableStack()
    undoing.defer(async () => {
      if (isKept) return
      await this.#takeBack(id, order.user, isHidden)
      this.#report(id, order, { state: 'failed', total })
    })
    const signOfLife = setInterval(() => {
      this.#datasets
        .stillImporting(id)
        .catch((error: unknown) => this.#log.warn('Failed to renew the lease of an import', { dataset: id, error }))
    }, signOfLifeMs)
    undoing.defer(() => clearInterval(signOfLife))
    await this.#fill(id, bag, contents, order, sidecars)
    sidecars.dates.report(this.#log, id)
    const undo = undoing.move()
    return {
      id,
      reveal: async () => {
        isHidden = false
        await this.#datasets.reveal(id)
      },
      keep: () => {
        isKept = true
        this.#report(id, order, { state: 'finished', done: total, total })
      },
      [Symbol.asyncDispose]: () => undo.disposeAsync(),
    }
  }

  /** Only the importer can view the dataset, and only once it is complete. */
  #report(dataset: string, { user, archiveName }: BagOrder, how: Pick<Progress, 'state' | 'done' | 'total'>): void {
    reportProgress(this.#progress, { activity: 'import', id: dataset, actor: user.id, unit: 'files', message: archiveName, ...how })
  }

  #newDataset({ name, description, creators, tags, license }: DatasetDescription, user: CallerUser) {
    return {
      ...{ name, description, creators, author: user.id, access: 'PRIVATE' as const, isImporting: true },
      tags: this.#tagsOf(tags, user),
      ...(license ? { license } : {}),
    }
  }

  async #fill(dataset: string, bag: ReceivedBag, contents: BagContents, order: BagOrder, sidecars: Sidecars): Promise<void> {
    await this.#addAll(metadataIn(sidecars, contents.metadata, { kind: 'dataset', id: dataset }, order.user), order.signal)
    const folders = await this.#makeFolders(dataset, contents.folders, await describeFolders(bag, sidecars), order.user)
    const failed = new AbortController()
    const signal = AbortSignal.any([order.signal, failed.signal])
    const building = { dataset, bag, order: { ...order, signal }, sidecars, folders }
    const waiting = contents.files[Symbol.iterator]()
    const total = contents.files.length
    let done = 0
    const work = async (): Promise<void> => {
      try {
        for (const file of waiting) {
          await this.#makeFile(file, building)
          done += 1
          this.#report(dataset, order, { state: 'running', done, total })
        }
      } catch (error) {
        // Report the first failure: the others result from it.
        failed.abort(error)
        throw error
      }
    }
    await Promise.allSettled(Array.from({ length: maxConcurrent }, work))
    signal.throwIfAborted()
  }

  async #makeFolders(
    dataset: string,
    folders: BagContents['folders'],
    names: ReadonlyMap<string, string>,
    user: CallerUser,
  ): Promise<ReadonlyMap<string, string>> {
    const folderIds = new Map<string, string>()
    const usedNames = new Set<string>()
    for (const path of folders) {
      const above = folderIds.get(path.slice(0, -1).join('/'))
      const parent = above === undefined ? ({ kind: 'dataset', id: dataset } as const) : ({ kind: 'folder', id: above } as const)
      const given = names.get(`data/${path.join('/')}`) ?? ''
      const isUsable = given !== '' && !usedNames.has(`${parent.id}/${given}`)
      const name = (isUsable ? given : (path.at(-1) as string)).normalize('NFC')
      usedNames.add(`${parent.id}/${name}`)
      const { id } = await this.#folders.create({ name, dataset, parent, author: user.id, isImporting: true })
      folderIds.set(path.join('/'), id)
    }
    return folderIds
  }

  async #makeFile({ path, folders, name: entryName, info, metadata }: BagFile, building: Building): Promise<void> {
    const { bag, order, dataset, sidecars } = building
    order.signal.throwIfAborted()
    const { name = entryName, contentType, created, license, tags, description } = await describeFile(sidecars, info)
    const folder = building.folders.get(folders.join('/'))
    await using staged = await this.#receive(bag, path, order.signal)
    const { bytes } = staged
    const { key: blob, sizeBytes, sha256 } = bytes
    const file = {
      ...{ name: name.normalize('NFC'), blob, sizeBytes, sha256, dataset, description, isImporting: true, extract: true },
      contentType: await mediaTypeOf(this.#blobs, { name, bytes, ...(contentType === undefined ? {} : { contentType }) }),
      author: order.user.id,
      tags: this.#tagsOf(tags, order.user),
      ...(folder === undefined ? {} : { folder }),
      ...(order.keyId === undefined ? {} : { keyId: order.keyId }),
      ...(created === undefined ? {} : { created }),
      ...(license ? { license } : {}),
    }
    const { id } = await staged.commit(() => this.#files.create(file))
    await this.#addAll(metadataIn(sidecars, metadata, { kind: 'file', id }, order.user), order.signal)
  }

  async #receive(bag: ReceivedBag, path: string, signal: AbortSignal): Promise<StagedBlob> {
    const sizeBytes = bag.sizeOf(path)
    if (sizeBytes <= smallBytes) return this.#ingest.receive(await buffer(bag.read(path)), { sizeBytes, signal })
    return this.#ingest.receive(streamed(bag.read(path), 4), { sizeBytes, signal })
  }

  async #addAll(documents: AsyncIterable<NewMetadata>, signal: AbortSignal): Promise<void> {
    for await (const document of documents) {
      signal.throwIfAborted()
      await this.#metadata.add(document)
    }
  }

  #tagsOf(names: readonly string[], user: CallerUser): readonly Tag[] {
    const created = this.#clock.now().toISOString()
    return names.map(name => ({ id: this.#ids.next(), name, user: user.id, extractor: null, created }))
  }

  async #takeBack(id: string, { id: user }: CallerUser, isHidden: boolean): Promise<void> {
    try {
      await this.#datasets.drop(id)
      if (!isHidden) await this.#datasets.remove(id, user)
    } catch (error) {
      const outcome = isHidden ? 'it will be rolled back later' : 'it may remain visible'
      this.#log.warn(`Failed to roll back an import; ${outcome}`, { dataset: id, error })
    }
  }
}
wire(BagImport, Datasets, Folders, Files, MetadataDocuments, BlobStore, FileIngest, Ids, Clock, ProgressListeners, Log)
