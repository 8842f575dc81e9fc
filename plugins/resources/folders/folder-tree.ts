import { DocumentStore, event, Folders, NotFound, orNotFound, s, wire } from 'pounce/sdk'
import { type Folder, folders } from './collection.ts'
import { withDisplayName } from './display-names.ts'

/** Renames and removes folders. */
export class FolderTree {
  #documents: DocumentStore
  #folders: Folders

  constructor(documents: DocumentStore, all: Folders) {
    this.#documents = documents
    this.#folders = all
  }

  /** A folder in a dataset; `NotFound` for one of another dataset. */
  async inDataset(dataset: string, id: string): Promise<Folder> {
    const folder = s.isId(id) ? await this.#folders.get(id) : undefined
    if (folder?.dataset !== dataset) throw new NotFound('folder')
    return folder
  }

  /** Resolves to the folder with its new display name. */
  async rename(folder: Folder, name: string, actor: string | undefined): Promise<Folder> {
    if (folder.name === name) return folder
    const { id, dataset, parent } = folder
    const updated = event('folder.updated', { kind: 'folder', id }, { dataset }, actor)
    return withDisplayName(this.#documents, parent.id, name, displayName =>
      orNotFound('folder', this.#documents.commit({ update: id, in: folders, set: { name, displayName } }, [updated])),
    )
  }

  /** What is in it follows in the background and is out of sight at once. An absent one is no error. */
  async remove({ id, dataset }: Folder, actor: string | undefined): Promise<void> {
    const removed = event('folder.removed', { kind: 'folder', id }, { dataset }, actor)
    await orNotFound('folder', this.#documents.commit({ tombstone: id, in: folders }, [removed]))
  }
}
wire(FolderTree, DocumentStore, Folders)
