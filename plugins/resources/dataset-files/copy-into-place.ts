import { hash } from 'node:crypto'
import {
  authorize,
  type BulkOperations,
  CommitConflict,
  type FileRecord,
  Files,
  Folders,
  Invalid,
  type Kind,
  MetadataDocuments,
  NotFound,
  Policy,
  type Stored,
  signedIn,
  wire,
} from 'pounce/sdk'
import { allowsDownload, type BulkAct, type BulkOperation, type BulkPlace, type BulkRequest, requireUsable } from 'pounce/sdk/kit'
import { placeOf } from './file-places.ts'

type File = FileRecord & Stored

/** Maximum number of metadata documents copied per file: one page. */
const maxDocuments = 200

/**
 * Copies files to a dataset or folder for bulk jobs. A copy belongs to the requester, so it requires the right to download the file; nothing
 * is copied from the trash. Ids are derived from the job, the file and the target, so a repeated step creates no second copy.
 */
export class CopyIntoPlace implements BulkOperations {
  readonly #files: Files
  readonly #folders: Folders
  readonly #metadata: MetadataDocuments
  readonly #policy: Policy

  constructor(files: Files, folders: Folders, metadata: MetadataDocuments, policy: Policy) {
    this.#files = files
    this.#folders = folders
    this.#metadata = metadata
    this.#policy = policy
  }

  of(act: BulkAct, kind: Kind): BulkOperation | undefined {
    if (act !== 'copy') return undefined
    if (kind === 'file') return (request, id) => this.#copy(request, id)
    return kind === 'folder' ? (request, id) => this.#copyFolder(request, id) : undefined
  }

  async #copy(request: BulkRequest, id: string): Promise<void> {
    const { caller, parameters, job } = request
    await authorize(this.#policy, caller, 'ViewFile', { kind: 'file', id }, 'frozen')
    const file = await this.#files.get(id)
    if (!file) throw new NotFound('file')
    if (!allowsDownload(file.license)) await authorize(this.#policy, caller, 'DownloadFiles', { kind: 'file', id })
    requireUsable(file)
    const folders = parameters.from ? await this.#foldersOf(file, parameters.from) : []
    const place = await this.#target(request, folders)
    const copyId = idFrom(job, id, place.in)
    const author = signedIn(caller).id
    const copies = await this.#files.copy([file], { author, placesOf: () => [place], shown: { idOf: () => copyId, batch: job } })
    if (copies.size === 0) throw new NotFound('file')
    await this.#copyMetadata(id, copyId)
  }

  /** Copies a folder that is empty, or whose files are separate items of the job. */
  async #copyFolder(request: BulkRequest, id: string): Promise<void> {
    const { caller, parameters } = request
    const folder = await this.#folders.get(id)
    if (!folder) throw new NotFound('folder')
    await authorize(this.#policy, caller, 'ViewDataset', { kind: 'dataset', id: folder.dataset }, 'frozen')
    await this.#target(request, await this.#pathFrom(id, parameters.from))
  }

  /** The target location; missing folders of `path` are created below it. */
  async #target({ caller, parameters: { to } }: BulkRequest, path: readonly string[]) {
    if (!to) throw new Invalid('to is missing: the dataset, or the folder in it, to copy to')
    const { dataset, folder } = to
    await authorize(this.#policy, caller, 'AddResourceToDataset', { kind: 'dataset', id: dataset })
    if (folder !== undefined && (await this.#folders.get(folder))?.dataset !== dataset) throw new NotFound('folder')
    if (path.length === 0) return placeOf(dataset, folder)
    const parent = folder === undefined ? ({ kind: 'dataset', id: dataset } as const) : ({ kind: 'folder', id: folder } as const)
    const { id } = await this.#folders.ensure({ dataset, parent, path, author: signedIn(caller).id, isToldApart: true })
    return placeOf(dataset, id)
  }

  async #foldersOf({ places }: File, from: BulkPlace): Promise<readonly string[]> {
    for (const { dataset, folder } of places)
      if (dataset === from.dataset && folder !== null) {
        const path = await this.#pathFrom(folder, from)
        if (path.length > 0) return path
      }
    return []
  }

  /** The folder names from a location down to a folder; empty if the folder is not below it. */
  async #pathFrom(id: string, from: BulkPlace | undefined): Promise<readonly string[]> {
    const above = from?.folder
    const paths = await this.#folders.paths(above === undefined ? [id] : [id, above])
    const [path = [], base = []] = [paths.get(id), above === undefined ? [] : paths.get(above)]
    return base.every((name, at) => path[at] === name) ? path.slice(base.length) : []
  }

  /** As when datasets are copied: metadata of extractors is copied, metadata of users is not. */
  async #copyMetadata(from: string, to: string): Promise<void> {
    const { items } = await this.#metadata.of({ kind: 'file', id: from }, { limit: maxDocuments })
    for (const { id, agent, content, context, created, author } of items) {
      if (agent.kind !== 'extractor') continue
      const document = { id: idFrom(to, id), target: { kind: 'file', id: to } as const, agent, content, created, author }
      try {
        await this.#metadata.add(context === undefined ? document : { ...document, context })
      } catch (error) {
        if (!(error instanceof CommitConflict && error.reason === 'exists')) throw error
      }
    }
  }
}
wire(CopyIntoPlace, Files, Folders, MetadataDocuments, Policy)

const idFrom = (...parts: readonly string[]): string => hash('sha256', parts.join(' ')).slice(0, 24)
