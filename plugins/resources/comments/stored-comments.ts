import {
  type After,
  anonymousUserId,
  Clock,
  type CommentRecord,
  Comments,
  CommitConflict,
  DocumentStore,
  eq,
  event,
  Ids,
  type Page,
  type Ref,
  type Rights,
  type RightsOf,
  rewrite,
  type Stored,
  type StoredEvent,
  wire,
} from 'pounce/sdk'
import { comments } from './collection.ts'

type Comment = CommentRecord & Stored

/** Comments in the document store. */
export class StoredComments implements Comments {
  #documents: DocumentStore
  #ids: Ids
  #clock: Clock

  constructor(documents: DocumentStore, ids: Ids, clock: Clock) {
    this.#documents = documents
    this.#ids = ids
    this.#clock = clock
  }

  add(target: Ref, text: string, author: string | undefined): Promise<Comment> {
    const id = this.#ids.next()
    const comment = { target, parent: null, author: author ?? anonymousUserId, text, posted: this.#clock.now().toISOString() }
    const added = event('comment.added', { kind: 'comment', id }, { target }, author)
    return this.#documents.commit({ insert: { id, ...comment }, into: comments }, [added])
  }

  get(id: string): Promise<Comment | undefined> {
    return this.#documents.get(comments, id)
  }

  async edit(id: string, text: string, actor: string | undefined): Promise<void> {
    await rewrite(this.#documents, comments, { kind: 'comment', id }, ({ target }) => ({
      set: { text },
      events: [event('comment.updated', { kind: 'comment', id }, { target }, actor)],
    }))
  }

  of(target: Ref, page: { readonly after?: After; readonly limit: number }): Promise<Page<Comment>> {
    return this.#documents.find(comments, {
      using: 'byTarget',
      where: eq('target.id', target.id),
      sort: { by: 'posted', order: 'ascending' },
      ...page,
    })
  }
}
wire(StoredComments, DocumentStore, Ids, Clock)

/** A comment has the rights of what it is about; who wrote it owns it. */
export class CommentRights implements RightsOf {
  readonly kind = 'comment'
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async rightsOf(ids: readonly string[]): Promise<ReadonlyMap<string, Rights>> {
    const found = await this.#documents.getMany(comments, ids)
    return new Map(
      [...found].map(([id, { author, target }]) => [id, { author, spaces: [], isPublic: false, state: 'live', parents: [target] }]),
    )
  }
}
wire(CommentRights, DocumentStore)

/** Comments go with what they are about. */
export class FollowTarget {
  #documents: DocumentStore
  #comments: Comments

  constructor(documents: DocumentStore, stored: Comments) {
    this.#documents = documents
    this.#comments = stored
  }

  async handle({ subject, actor }: StoredEvent<'file.removed' | 'dataset.removed'>): Promise<void> {
    for (;;) {
      const { items } = await this.#comments.of(subject, { limit: 500 })
      if (items.length === 0) return
      const outcome = await this.#documents.commitEach(
        items.map(({ id }) => ({
          change: { tombstone: id, in: comments },
          events: [event('comment.removed', { kind: 'comment', id }, { target: subject }, actor)],
        })),
      )
      for (const each of outcome) if (!each.ok && !(each.error instanceof CommitConflict)) throw each.error
    }
  }
}
wire(FollowTarget, DocumentStore, Comments)
