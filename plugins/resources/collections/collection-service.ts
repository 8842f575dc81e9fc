import { Clock, type CollectionRecord, CommitConflict, DocumentStore, eq, event, Ids, NotFound, wire } from 'pounce/sdk'
import { naturalKey } from 'pounce/sdk/kit'
import { type Collected, Config, collections, type Settings } from './collection.ts'
import { CollectionTree } from './collection-tree.ts'

export interface NewCollection {
  readonly name: string
  readonly description: string
  readonly author: string
  readonly space?: string | undefined
  /** The new collection joins the spaces of its parent. */
  readonly parent?: string | undefined
}

/** Creates collections, moves them to and from the trash, and deletes them. */
export class CollectionService {
  #useTrash: boolean
  #documents: DocumentStore
  #tree: CollectionTree
  #ids: Ids
  #clock: Clock

  constructor({ useTrash }: Settings, documents: DocumentStore, tree: CollectionTree, ids: Ids, clock: Clock) {
    this.#useTrash = useTrash
    this.#documents = documents
    this.#tree = tree
    this.#ids = ids
    this.#clock = clock
  }

  /** The caller must have checked the rights on the space and parent. */
  async create({ name, description, author, space, parent }: NewCollection): Promise<Collected> {
    const id = this.#ids.next()
    const subject = { kind: 'collection', id } as const
    const above = parent === undefined ? undefined : await this.#documents.get(collections, parent)
    if (parent !== undefined && !above) throw new NotFound('collection')
    const rootSpaces = space === undefined ? [] : [space]
    const spaces = [...new Set([...rootSpaces, ...(above?.spaces ?? [])])]
    const now = this.#clock.now().toISOString()
    const record: CollectionRecord = {
      name,
      nameKey: naturalKey(name),
      description,
      author,
      created: now,
      modified: now,
      parents: parent === undefined ? [] : [parent],
      spaces,
      rootSpaces,
      thumbnail: null,
      isPublic: await this.#tree.isPublicIn(spaces),
      isTopLevel: parent === undefined || rootSpaces.length > 0,
      tags: [],
      state: 'live',
      trashedAt: null,
    }
    const into = [
      ...(parent === undefined ? [] : [{ kind: 'collection', id: parent } as const]),
      ...spaces.map(id => ({ kind: 'space', id }) as const),
    ]
    const collection = await this.#documents.commit({ insert: { id, ...record }, into: collections }, [
      event('collection.created', subject, {}, author),
      ...into.map(other => event('collection.attached', subject, { other, isNew: true }, author)),
    ])
    return spaces.length > 0 ? this.#tree.settle(id) : collection
  }

  /** Moves a live collection to the trash if the trash is enabled; deletes it otherwise. */
  async discard(id: string, actor: string | undefined): Promise<void> {
    const found = await this.#documents.get(collections, id)
    if (!found) throw new NotFound('collection')
    if (!this.#useTrash || found.state !== 'live') return this.remove(id, actor)
    const trashed = event('collection.trashed', { kind: 'collection', id }, {}, actor)
    const set = { state: 'trashed', trashedAt: this.#clock.now().toISOString() }
    await this.#unlessGone(this.#documents.commit({ update: id, in: collections, where: eq('state', 'live'), set }, [trashed]))
  }

  /** Restores a collection from the trash. No effect if it is not in the trash. */
  async restore(id: string, actor: string | undefined): Promise<void> {
    const restored = event('collection.restored', { kind: 'collection', id }, {}, actor)
    const set = { state: 'live', trashedAt: null }
    await this.#unlessGone(this.#documents.commit({ update: id, in: collections, where: eq('state', 'trashed'), set }, [restored]))
  }

  /** Deletes a collection permanently. Its contents are kept, outside of it. */
  async remove(id: string, actor: string | undefined, only?: { readonly fromTrash: boolean }): Promise<void> {
    for (;;) {
      const collection = await this.#documents.get(collections, id)
      if (!collection || (only?.fromTrash && collection.state !== 'trashed')) return
      const { name, spaces, parents, author, state } = collection
      const about = { wasTrashed: state === 'trashed', name, spaces, parents, author }
      const removed = event('collection.removed', { kind: 'collection', id }, about, actor)
      try {
        await this.#documents.commit({ tombstone: id, in: collections, where: eq('revision', collection.revision) }, [removed])
        return
      } catch (error) {
        if (!(error instanceof CommitConflict)) throw error
      }
    }
  }

  /** A concurrent request has already produced the requested state. */
  async #unlessGone(commit: Promise<unknown>): Promise<void> {
    try {
      await commit
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
    }
  }
}
wire(CollectionService, Config, DocumentStore, CollectionTree, Ids, Clock)
