import {
  CommitConflict,
  Conflict,
  DocumentStore,
  eq,
  event,
  Invalid,
  type NewEvent,
  NotFound,
  type Ref,
  type StoredEvent,
  wire,
} from 'pounce/sdk'
import { Mutex, requireDone } from 'pounce/sdk/kit'
import { type Folder, folders } from './collection.ts'
import { type FolderPlace, FolderPlaces, withDisplayName } from './folder-places.ts'
import { removeSubfolders } from './handlers.ts'

const tries = 20
const batchSize = 200

/**
 * Moves folders with their contents, within their dataset and to others. A move is one commit of the folder itself; its descendants follow
 * by events, level by level, each adopting the dataset of its parent.
 */
export class FolderMoves {
  #documents: DocumentStore
  #places: FolderPlaces
  readonly #mutex = new Mutex()

  constructor(documents: DocumentStore, places: FolderPlaces) {
    this.#documents = documents
    this.#places = places
  }

  /**
   * Serialized within this kernel, so that one of two conflicting moves wins; against other kernels and concurrent deletions it checks
   * again after the commit, and so does the event's handler. Throws `NotFound` when the folder has left its dataset meanwhile.
   */
  move(folder: Folder, to: FolderPlace, actor: string | undefined): Promise<Folder> {
    return this.#mutex.use(() => this.#move(folder, to, actor))
  }

  async #move(folderToMove: Folder, to: FolderPlace, actor: string | undefined): Promise<Folder> {
    for (let left = tries; left > 0; left--) {
      const now = await this.#documents.get(folders, folderToMove.id)
      if (now?.dataset !== folderToMove.dataset) throw new NotFound('folder')
      await this.#places.mustTake(to, await this.#places.levelsBelow(now.id))
      if (await this.#places.isInside(to, now.id)) throw new Invalid('A folder cannot be moved into itself or one of its subfolders')
      if (now.parent.id === to.parent.id) return now
      const moved = await this.#put(now, to, actor)
      if (!moved) continue
      if (await this.#places.isSound(moved)) return moved
      await this.#putBack(moved, now)
      // It was moved there just before the target was deleted, and was deleted with it.
      if (!(await this.#documents.get(folders, moved.id))) return moved
      throw new Conflict('The target was changed concurrently; try again')
    }
    throw new Conflict('Too many concurrent changes of this folder; try again')
  }

  /** Undefined when the folder was changed since it was read. */
  async #put(folder: Folder, { dataset, parent }: FolderPlace, actor: string | undefined): Promise<Folder | undefined> {
    const { id, name, revision, dataset: from } = folder
    const leaving: Ref = { kind: folder.parent.kind, id: folder.parent.id }
    const moved = event('folder.moved', { kind: 'folder', id }, { dataset, from, leaving }, actor)
    try {
      return await withDisplayName(this.#documents, { parent: parent.id, name }, displayName => {
        const set = { dataset, parent, displayName }
        return this.#documents.commit({ update: id, in: folders, where: eq('revision', revision), set }, [moved])
      })
    } catch (error) {
      if (error instanceof CommitConflict) return undefined
      throw error
    }
  }

  /** Moves the folder back, or to the root of its former dataset if the former parent is deleted too. */
  async #putBack(folder: Folder, { dataset, parent }: FolderPlace): Promise<void> {
    const isThere = parent.kind === 'dataset' || (await this.#documents.get(folders, parent.id)) !== undefined
    await this.#put(folder, { dataset, parent: isThere ? parent : { kind: 'dataset', id: dataset } }, undefined)
  }

  /**
   * The effects of a move: subfolders adopt the dataset of their parent, or are deleted if it was deleted with that dataset. A folder whose target was deleted
   * is moved back. A folder that was added while its parent moved, which the move has not seen, adopts the parent's dataset.
   */
  async handle({ subject, data, actor }: StoredEvent<'folder.created' | 'folder.moved'>): Promise<void> {
    const folder = await this.#documents.get(folders, subject.id)
    if (!folder) return removeSubfolders(this.#documents, subject.id, actor)
    if ('from' in data && data.leaving && !(await this.#places.isSound(folder))) {
      const { kind, id } = data.leaving
      await this.#putBack(folder, { dataset: data.from, parent: { kind: kind === 'folder' ? 'folder' : 'dataset', id } })
      return
    }
    const above = folder.parent.kind === 'folder' ? await this.#documents.get(folders, folder.parent.id) : undefined
    await this.#bringBelow(above && above.dataset !== folder.dataset ? above : folder)
  }

  async #bringBelow({ id, dataset }: Folder): Promise<void> {
    for await (const some of this.#misplacedIn(id, dataset)) {
      const done = await this.#documents.commitEach(
        some.map(child => ({
          change: { update: child.id, in: folders, where: eq('parent.id', id), set: { dataset } },
          events: [event('folder.moved', { kind: 'folder', id: child.id }, { dataset, from: child.dataset })] as readonly NewEvent[],
        })),
      )
      requireDone(done)
    }
  }

  /** Direct subfolders whose record names another dataset. */
  async *#misplacedIn(parent: string, dataset: string): AsyncIterable<readonly Folder[]> {
    let some: Folder[] = []
    const sort = { by: 'displayName', order: 'ascending' } as const
    for await (const child of this.#documents.scan(folders, { using: 'byParent', where: eq('parent.id', parent), sort })) {
      if (child.dataset !== dataset) some.push(child)
      if (some.length < batchSize) continue
      yield some
      some = []
    }
    if (some.length > 0) yield some
  }
}
wire(FolderMoves, DocumentStore, FolderPlaces)
