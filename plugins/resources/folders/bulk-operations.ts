import { authorize, type BulkOperations, DocumentStore, Folders, Invalid, type Kind, NotFound, Policy, wire } from 'pounce/sdk'
import { type BulkAct, type BulkOperation, type BulkRequest, orNotFound } from 'pounce/sdk/kit'
import { type Folder, folders, removedFolder } from './collection.ts'
import { FolderMoves } from './folder-moves.ts'

/** What bulk jobs do to folders, as the routes of one folder do. */
export class FolderBulkOperations implements BulkOperations {
  readonly #documents: DocumentStore
  readonly #folders: Folders
  readonly #moves: FolderMoves
  readonly #policy: Policy
  readonly #operations: Partial<Record<BulkAct, BulkOperation>> = {
    delete: (request, id) => this.#delete(request, id),
    move: (request, id) => this.#move(request, id),
  }

  constructor(documents: DocumentStore, all: Folders, moves: FolderMoves, policy: Policy) {
    this.#documents = documents
    this.#folders = all
    this.#moves = moves
    this.#policy = policy
  }

  of(act: BulkAct, kind: Kind): BulkOperation | undefined {
    return kind === 'folder' ? this.#operations[act] : undefined
  }

  async #delete({ caller }: BulkRequest, id: string): Promise<void> {
    await authorize(this.#policy, caller, 'RemoveResourceFromDataset', { kind: 'folder', id })
    const removed = removedFolder(await this.#existing(id), caller.user?.id)
    await orNotFound('folder', this.#documents.commit({ tombstone: id, in: folders }, [removed]))
  }

  async #move({ caller, parameters: { to } }: BulkRequest, id: string): Promise<void> {
    if (!to) throw new Invalid('to is missing: the dataset, or the folder in it, to move to')
    const ask = (permission: Parameters<typeof authorize>[2], dataset: string) =>
      authorize(this.#policy, caller, permission, { kind: 'dataset', id: dataset })
    await authorize(this.#policy, caller, 'AddResourceToDataset', { kind: 'folder', id })
    const folder = await this.#existing(id)
    if (folder.dataset !== to.dataset) {
      await ask('AddResourceToDataset', to.dataset)
      await ask('RemoveResourceFromDataset', folder.dataset)
      await ask('EditFile', folder.dataset)
    }
    const parent = to.folder === undefined ? { kind: 'dataset' as const, id: to.dataset } : { kind: 'folder' as const, id: to.folder }
    await this.#moves.move(folder, { dataset: to.dataset, parent }, caller.user?.id)
  }

  async #existing(id: string): Promise<Folder> {
    const folder = await this.#folders.get(id)
    if (!folder) throw new NotFound('folder')
    return folder
  }
}
wire(FolderBulkOperations, DocumentStore, Folders, FolderMoves, Policy)
