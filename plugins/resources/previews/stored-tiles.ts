import { type Caller, Clock, DocumentStore, eq, event, Ids, InTrash, NotFound, Policy, Taken, wire } from 'pounce/sdk'
import { permissionDenied, removeFound, requireDone, updateWithRetry } from 'pounce/sdk/kit'
import { previews, type Tile, tiles } from './collections.ts'
import { DerivedStore, type Received, uploaderOf } from './derived-store.ts'

const tries = 20

/** `column_row_anything.jpg` is stored as `column_row.jpg` (Clowder 1.x drops the last part), the name that viewers request. */
const storedName = (filename: string): string => filename.replace(/^([^_]+_[^_]+)_.*?(\.\w+)?$/u, '$1$2')

const placeOf = (preview: string, level: number, filename: string): string => `${preview}/${level}/${filename}`

/** A key limited to spaces has no access to unattached tiles, a job's key only to those that it uploaded. */
const isWithin = ({ limits }: Caller, tile: Tile): boolean =>
  limits?.spaces === undefined && (limits?.job === undefined || limits.job.id === tile.job)

/** Tiles of Deep Zoom previews: records in the document store, images in the blob store. */
export class StoredTiles {
  #documents: DocumentStore
  #derived: DerivedStore
  #policy: Policy
  #ids: Ids
  #clock: Clock

  constructor(documents: DocumentStore, derived: DerivedStore, policy: Policy, ids: Ids, clock: Clock) {
    this.#documents = documents
    this.#derived = derived
    this.#policy = policy
    this.#ids = ids
    this.#clock = clock
  }

  async upload({ bytes, filename, contentType }: Received, caller: Caller): Promise<string> {
    const id = this.#ids.next()
    const common = { ...uploaderOf(caller), created: this.#clock.now().toISOString() }
    const shown = { filename: storedName(filename), contentType, blob: bytes.key, sizeBytes: bytes.sizeBytes }
    await this.#derived.keep(tiles, { id, ...shown, ...common, preview: null, level: null, place: null }, [])
    return id
  }

  /**
   * A tile that the caller may attach. An unattached one is visible to its uploader only, an attached one has the rights of its preview;
   * throws `NotFound` for everyone else.
   */
  async attachable(id: string, caller: Caller): Promise<Tile> {
    const tile = await this.#documents.get(tiles, id)
    if (!tile) throw new NotFound('tile')
    if (tile.preview !== null) await this.#requireRight(tile.preview, caller)
    else {
      const isOwn = tile.author === (caller.user?.id ?? null) && caller.via !== 'nothing' && isWithin(caller, tile)
      if (!(isOwn || caller.superAdmin)) throw new NotFound('tile')
    }
    return tile
  }

  /** Attaches a tile, replacing the one at its position. */
  async attach({ id, filename }: Tile, preview: string, level: number, actor: string | undefined): Promise<void> {
    const place = placeOf(preview, level, filename)
    const set = { preview, level, place }
    for (let left = tries; ; left -= 1) {
      try {
        await updateWithRetry(this.#documents, tiles, { kind: 'preview', id }, () => ({ set, events: [] }))
        break
      } catch (error) {
        if (!(error instanceof Taken) || left === 0) throw error
        const before = await this.#at(place)
        if (before)
          requireDone(await this.#documents.commitEach([{ change: { tombstone: before.id, in: tiles }, events: [removed(before, actor)] }]))
      }
    }
    if (await this.#documents.get(previews, preview)) return
    await this.removeAllOf(preview, actor)
    throw new NotFound('preview')
  }

  find(preview: string, level: number, filename: string): Promise<Tile | undefined> {
    return this.#at(placeOf(preview, level, filename))
  }

  /** All tiles of a preview, in batches. */
  async removeAllOf(preview: string, actor: string | undefined): Promise<void> {
    const where = eq('preview', preview)
    await removeFound(this.#documents, tiles, { using: 'byPreview', where, events: tile => [removed(tile, actor)] })
  }

  async #requireRight(preview: string, caller: Caller): Promise<void> {
    const decision = await this.#policy.canOn(caller, 'AddFile', { kind: 'preview', id: preview })
    if (decision === 'unseen') throw new NotFound('tile')
    if (decision === 'frozen') throw new InTrash('tile')
    if (decision === 'no') throw permissionDenied(caller, 'AddFile', 'preview')
  }

  async #at(place: string): Promise<Tile | undefined> {
    return (await this.#documents.find(tiles, { using: 'byPlace', where: eq('place', place), limit: 1 })).items[0]
  }
}
wire(StoredTiles, DocumentStore, DerivedStore, Policy, Ids, Clock)

const removed = ({ id, blob }: Tile, actor: string | undefined) =>
  event('preview.removed', { kind: 'preview', id }, { blob, target: null }, actor)
