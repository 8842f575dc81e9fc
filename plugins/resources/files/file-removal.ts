import { CommitConflict, DocumentStore, eq, event, type FileRecord, type NewEvent, type Place, type Stored, wire } from 'pounce/sdk'
import { filePlaced, requireDone } from 'pounce/sdk/kit'
import { files, usedFileIds } from './collection.ts'

type File = FileRecord & Stored

const tries = 100

/** Deletes files, or removes them from one location. */
export class FileRemoval {
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  /** Deletes the record; its event deletes the bytes and everything derived from the file. A missing file is not an error. */
  async remove(file: File, actor: string | undefined): Promise<void> {
    await this.#take(file, everything, actor)
  }

  /** Removes a file from the matching locations, evaluated at the time of the change; a file left without location is deleted. */
  async leave(file: File, fits: (place: Place) => boolean, actor: string | undefined): Promise<void> {
    await this.#take(file, fits, actor)
  }

  async #take(file: File, fits: PlaceFilter, actor: string | undefined): Promise<void> {
    let now: File | undefined = file
    for (let left = tries; now && left > 0; left--) {
      const change = leaving(now, fits, actor)
      if (!change) return
      try {
        await this.#keepIds([change])
        await this.#documents.commit(change.change, change.events)
        return
      } catch (error) {
        if (!(error instanceof CommitConflict) || left === 1) throw error
        now = await this.#documents.get(files, file.id)
      }
    }
  }

  /** Like `leave`, for up to 1,000 files. */
  async leaveAll(some: readonly File[], fits: (place: Place) => boolean, actor: string | undefined): Promise<void> {
    const changes = some.flatMap(file => leaving(file, fits, actor) ?? [])
    await this.#keepIds(changes)
    const done = await this.#documents.commitEach(changes)
    for (const [at, result] of done.entries()) {
      if (result.ok) continue
      if (!(result.error instanceof CommitConflict)) throw result.error
      const file = await this.#documents.get(files, changes[at]?.id ?? '')
      if (file) await this.leave(file, fits, actor)
    }
  }

  /** Before the deletion, so that an upload that no longer finds the file finds its id here. */
  async #keepIds(changes: readonly { readonly id: string; readonly keepsId: boolean }[]): Promise<void> {
    const retained = changes.filter(({ keepsId }) => keepsId)
    if (retained.length > 0)
      requireDone(await this.#documents.commitEach(retained.map(({ id }) => ({ change: { insert: { id }, into: usedFileIds } }))))
  }
}
wire(FileRemoval, DocumentStore)
type PlaceFilter = (place: Place) => boolean
const everything: PlaceFilter = () => true

/** The commit that removes a file from locations; undefined when it is in none of them. */
const leaving = (file: File, fits: PlaceFilter, actor: string | undefined) => {
  const { id, places } = file
  if (places.length === 0 && fits !== everything) return undefined
  const where = eq('revision', file.revision)
  const left = places.filter(place => !fits(place))
  if (left.length === 0) {
    const keepsId = file.hasDerivedId === true
    return { id, keepsId, change: { tombstone: id, in: files, where }, events: [removed(file, actor)] }
  }
  if (left.length === places.length) return undefined
  const removedPlaces = new Map(places.filter(fits).map(({ dataset, folder }) => [dataset, folder]))
  for (const place of left) removedPlaces.delete(place.dataset)
  const detached = [...removedPlaces].map(([dataset, folder]) => event('file.detached', { kind: 'file', id }, { dataset, folder }, actor))
  const events: readonly NewEvent[] = [...detached, filePlaced(id, places, left)]
  return { id, keepsId: false, change: { update: id, in: files, where, set: { places: left } }, events }
}

const removed = (file: File, actor: string | undefined): NewEvent => {
  const { id, places, blob, sizeBytes, name, contentType, author, untold } = file
  const datasets = [...new Set(places.map(place => place.dataset))]
  const folders = places.flatMap(({ folder }) => (folder === null ? [] : [folder]))
  const about = { datasets, folders, author, blob, sizeBytes, name, contentType, ...(untold ? { wasImporting: true } : {}) }
  return event('file.removed', { kind: 'file', id }, about, actor)
}
