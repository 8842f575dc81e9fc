import {
  type Archive,
  type Bytes,
  type Caller,
  Collections,
  type DatasetRecord,
  Datasets,
  type FileRecord,
  NotFound,
  type Stored,
  wire,
} from 'pounce/sdk'
import { ArchiveContents, type ArchiveFolder } from './archive-contents.ts'
import { ArchiveWriter } from './archive-writer.ts'
import { BagSubjects } from './bag-subjects.ts'
import { BagWriter } from './bag-writer.ts'
import { CollectionArchiveContents } from './collection-contents.ts'

type Dataset = DatasetRecord & Stored

/** The downloading user, and whether to write a bag. */
export interface DownloadRequest {
  readonly caller: Caller
  readonly bagit: boolean
}

/** Downloads of datasets and collections. The caller must have checked the right on the resource itself. */
export class DatasetDownloads {
  #datasets: Datasets
  #collections: Collections
  #contents: ArchiveContents
  #collectionContents: CollectionArchiveContents
  #writer: ArchiveWriter
  #bags: BagWriter
  #subjects: BagSubjects

  constructor(
    datasets: Datasets,
    collections: Collections,
    contents: ArchiveContents,
    collectionContents: CollectionArchiveContents,
    writer: ArchiveWriter,
    bags: BagWriter,
    subjects: BagSubjects,
  ) {
    this.#datasets = datasets
    this.#collections = collections
    this.#contents = contents
    this.#collectionContents = collectionContents
    this.#writer = writer
    this.#bags = bags
    this.#subjects = subjects
  }

  async whole(id: string, request: DownloadRequest): Promise<Archive> {
    const dataset = await this.#dataset(id)
    return this.#archive(dataset, await this.#contents.ofDataset(dataset), `${dataset.name}.zip`, request)
  }

  async folder(id: string, folderId: string, request: DownloadRequest): Promise<Bytes> {
    const dataset = await this.#dataset(id)
    const { top, folder } = await this.#contents.ofFolder(dataset, folderId)
    return (await this.#archive(dataset, top, `${dataset.name} (${folder.displayName} Folder).zip`, request)).bytes
  }

  async some(
    id: string,
    fileIds: readonly string[],
    request: DownloadRequest,
  ): Promise<{ readonly bytes: Bytes; readonly files: readonly (FileRecord & Stored)[] }> {
    const dataset = await this.#dataset(id)
    const { top, files } = await this.#contents.some(dataset, fileIds)
    const { bytes } = await this.#archive(dataset, top, `${dataset.name} (Partial).zip`, request)
    return { bytes, files }
  }

  /** A folder for each dataset and child collection. Datasets that the caller may view but not download are listed in a note. */
  async collection(id: string, { caller, bagit }: DownloadRequest): Promise<Bytes> {
    const collection = await this.#collections.get(id)
    if (!collection) throw new NotFound('collection')
    const { top, collections, datasets, leftOut } = await this.#collectionContents.of(caller, collection)
    const filename = `${collection.name}.zip`
    const note = leftOut.length === 0 ? undefined : noteOf(leftOut)
    if (!bagit) return (await this.#writer.plain(top, filename, new Map(note === undefined ? [] : [['_left_out.txt', note]]))).bytes
    const about = [
      ...(await this.#subjects.ofAll(caller, 'collection', collections)),
      ...(await this.#subjects.ofAll(caller, 'dataset', datasets)),
    ]
    const [subject, ...others] = about
    if (!subject) throw new NotFound('collection')
    const byId = new Map(others.map(other => [other.record.id, other]))
    return this.#bags.bag({ caller, top, subject, others: byId, leftOut: note, filename }).bytes
  }

  async #archive(dataset: Dataset, top: ArchiveFolder, filename: string, { caller, bagit }: DownloadRequest): Promise<Archive> {
    if (!bagit) return this.#writer.plain(top, filename)
    return this.#bags.bag({ caller, top, subject: await this.#subjects.of(caller, 'dataset', dataset), filename })
  }

  async #dataset(id: string): Promise<Dataset> {
    const dataset = await this.#datasets.get(id)
    if (!dataset) throw new NotFound('dataset')
    return dataset
  }
}
wire(DatasetDownloads, Datasets, Collections, ArchiveContents, CollectionArchiveContents, ArchiveWriter, BagWriter, BagSubjects)
const noteOf = (leftOut: readonly Dataset[]): string =>
  [
    'These datasets are part of the collection, and you may view but not download them:',
    '',
    ...leftOut.toSorted((one, other) => (one.id < other.id ? -1 : 1)).map(({ id, name }) => `${id}  ${name.replace(/\s+/g, ' ')}`),
    '',
  ].join('\r\n')
