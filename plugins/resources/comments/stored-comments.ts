import {
  type After,
  anonymousUserId,
  Clock,
  type CommentRecord,
  type Comments,
  DocumentStore,
  eq,
  event,
  Ids,
  Invalid,
  isIn,
  NotFound,
  type Page,
  type Ref,
  removeFound,
  requireDone,
  type Stored,
  updateWithRetry,
  wire,
} from 'pounce/sdk'
import { comments } from './collection.ts'

export type Comment = CommentRecord & Stored

/** Answers to answers to answers: deeper than this nobody reads. */
const deepest = 20

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

  async add(target: Ref, text: string, author: string | undefined, to?: Comment): Promise<Comment> {
    const above = to ? [...to.above, to.id] : []
    if (above.length > deepest) throw new Invalid(`Replies can be nested ${deepest} levels deep: reply to a comment further up`)
    const id = this.#ids.next()
    const posted = this.#clock.now().toISOString()
    const comment = { target, parent: to?.id ?? null, above, author: author ?? anonymousUserId, text, posted }
    const added = event('comment.added', { kind: 'comment', id }, { target }, author)
    const made = await this.#documents.commit({ insert: { id, ...comment }, into: comments }, [added])
    if (!to || (await this.get(to.id))) return made
    // It went meanwhile, and who swept its replies away may have come by already.
    await this.remove([made], author)
    throw new NotFound('comment')
  }

  get(id: string): Promise<Comment | undefined> {
    return this.#documents.get(comments, id)
  }

  async edit(id: string, text: string, actor: string | undefined): Promise<void> {
    await updateWithRetry(this.#documents, comments, { kind: 'comment', id }, ({ target }) => ({
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

  /** The newest of the last comments on a thing that is somebody's. */
  async latestOf(target: Ref, author: string): Promise<Comment | undefined> {
    const where = eq('target.id', target.id)
    const query = { using: 'byTarget', where, sort: { by: 'posted', order: 'descending' }, limit: 100 } as const
    return (await this.#documents.find(comments, query)).items.find(comment => comment.author === author)
  }

  /** Those that do not answer what is gone: replies go with the comment above them, whether swept away already or not. */
  async standing<T extends Comment>(some: readonly T[]): Promise<readonly T[]> {
    const here = new Set(some.map(({ id }) => id))
    const asked = [...new Set(some.flatMap(({ above }) => above))].filter(id => !here.has(id))
    for (let at = 0; at < asked.length; at += 1000) {
      const found = await this.#documents.getMany(comments, asked.slice(at, at + 1000))
      for (const id of found.keys()) here.add(id)
    }
    return some.filter(({ above }) => above.every(id => here.has(id)))
  }

  /** Takes comments away; those that are gone already are no error. */
  async remove(some: readonly Comment[], actor: string | undefined): Promise<void> {
    requireDone(
      await this.#documents.commitEach(
        some.map(comment => ({ change: { tombstone: comment.id, in: comments }, events: [removed(comment, actor)] })),
      ),
    )
  }

  /** The replies right below a comment, in batches; each takes its own with it by its event. */
  async removeReplies(parent: string, actor: string | undefined): Promise<void> {
    const where = eq('parent', parent)
    await removeFound(this.#documents, comments, { using: 'byParent', where, events: comment => [removed(comment, actor)] })
  }

  /** All comments on some things, in batches; `actors` says by thing who took it away. */
  async removeAllOf(actors: ReadonlyMap<string, string | undefined>): Promise<void> {
    const where = isIn('target.id', [...actors.keys()])
    const events = (comment: Comment) => [removed(comment, actors.get(comment.target.id))]
    await removeFound(this.#documents, comments, { using: 'byTarget', where, events })
  }
}
wire(StoredComments, DocumentStore, Ids, Clock)

const removed = ({ id, target }: Comment, actor: string | undefined) => event('comment.removed', { kind: 'comment', id }, { target }, actor)
