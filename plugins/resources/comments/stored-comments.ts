import {
  type After,
  anonymousUserId,
  authorize,
  type Caller,
  Clock,
  type CommentRecord,
  type Comments,
  collection,
  DocumentStore,
  eq,
  event,
  Forbidden,
  Ids,
  Invalid,
  isIn,
  NotFound,
  type Page,
  Policy,
  type Ref,
  type Stored,
  type Time,
  wire,
} from 'pounce/sdk'
import { personalRecords, removeFound, requireDone, updateWithRetry } from 'pounce/sdk/kit'

/** Comments; those on one resource in the order they were written. */
export const comments = collection<CommentRecord>()('comments', {
  byTarget: { on: ['target.id', 'posted'] },
  byParent: { on: ['parent'] },
})

/**
 * A record that a user was notified of a comment. Its id is derived from recipient, author and comment, so that no user is notified twice.
 */
interface MentionRecord {
  /** The file or dataset that the comment is on. */
  readonly target: Ref
  /** Null if no comment by the author was found. */
  readonly comment: string | null
  readonly user: string
  readonly by: string
  readonly isMailed: boolean
  /** When an email was sent, if one was. */
  readonly mailedAt?: Time
}

export const mentions = collection<MentionRecord>()('comments.mentions', {
  byTarget: { on: ['target.id'] },
  byPeople: { on: ['user', 'by', 'mailedAt'] },
})

/** Records that a user was notified of a comment. */
export const PersonalMentions = personalRecords({
  name: 'mentions',
  summary: 'Comments in which you were mentioned, without their text.',
  in: mentions,
  isOf: ({ user, by }, { id }) => user === id || by === id,
  show: ({ target, comment, user, mailedAt }, { id }) => ({ target, comment, direction: user === id ? 'received' : 'sent', mailedAt }),
  erase: () => 'remove',
})

export type Comment = CommentRecord & Stored

/** Maximum nesting depth of replies. */
const maxDepth = 20

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
    const above = to ? [...(to.above ?? []), to.id] : []
    if (above.length > maxDepth) throw new Invalid(`Replies can be nested ${maxDepth} levels deep: reply to a comment further up`)
    const id = this.#ids.next()
    const posted = this.#clock.now().toISOString()
    const comment = { target, parent: to?.id ?? null, above, author: author ?? anonymousUserId, text, posted }
    const added = event('comment.added', { kind: 'comment', id }, { target }, author)
    const created = await this.#documents.commit({ insert: { id, ...comment }, into: comments }, [added])
    if (!to || (await this.get(to.id))) return created
    // The target was deleted meanwhile, and its cascade may already have run.
    await this.remove([created], author)
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

  of(targets: Ref | readonly Ref[], page: { readonly after?: After; readonly limit: number }): Promise<Page<Comment>> {
    const ids = [targets].flat().map(({ id }) => id)
    return this.#documents.find(comments, {
      using: 'byTarget',
      where: isIn('target.id', ids),
      sort: { by: 'posted', order: 'ascending' },
      ...page,
    })
  }

  /** The newest comment by this author among the latest comments on a resource. */
  async latestOf(target: Ref, author: string): Promise<Comment | undefined> {
    const where = eq('target.id', target.id)
    const query = { using: 'byTarget', where, sort: { by: 'posted', order: 'descending' }, limit: 100 } as const
    return (await this.#documents.find(comments, query)).items.find(comment => comment.author === author)
  }

  /** Comments whose ancestors all exist: replies are deleted with their parents, whether or not the cascade has reached them. */
  async standing<T extends Comment>(some: readonly T[]): Promise<readonly T[]> {
    const here = new Set(some.map(({ id }) => id))
    const parents = [...new Set(some.flatMap(({ above = [] }) => above))].filter(id => !here.has(id))
    for (let at = 0; at < parents.length; at += 1000) {
      const found = await this.#documents.getMany(comments, parents.slice(at, at + 1000))
      for (const id of found.keys()) here.add(id)
    }
    return some.filter(({ above = [] }) => above.every(id => here.has(id)))
  }

  /** Deletes comments; missing ones are not an error. */
  async remove(some: readonly Comment[], actor: string | undefined): Promise<void> {
    requireDone(
      await this.#documents.commitEach(
        some.map(comment => ({ change: { tombstone: comment.id, in: comments }, events: [removed(comment, actor)] })),
      ),
    )
  }

  /** Deletes the direct replies to a comment, in batches; the event of each deletes its own replies. */
  async removeReplies(parent: string, actor: string | undefined): Promise<void> {
    const where = eq('parent', parent)
    await removeFound(this.#documents, comments, { using: 'byParent', where, events: comment => [removed(comment, actor)] })
  }

  /** Deletes all comments on some resources, in batches; `actors` maps each resource to the user who deleted it. */
  async removeAllOf(actors: ReadonlyMap<string, string | undefined>): Promise<void> {
    const where = isIn('target.id', [...actors.keys()])
    const events = (comment: Comment) => [removed(comment, actors.get(comment.target.id))]
    await removeFound(this.#documents, comments, { using: 'byTarget', where, events })
  }
}
wire(StoredComments, DocumentStore, Ids, Clock)

const removed = ({ id, target }: Comment, actor: string | undefined) => event('comment.removed', { kind: 'comment', id }, { target }, actor)

/** Operations on existing comments: reply, edit, delete. */
export class CommentEdits {
  #comments: StoredComments
  #policy: Policy

  constructor(comments: StoredComments, policy: Policy) {
    this.#comments = comments
    this.#policy = policy
  }

  /** Returns the reply, which has the same target as the comment. */
  async reply(id: string, text: string, caller: Caller): Promise<Comment> {
    const comment = await this.#seen(id, caller)
    await authorize(this.#policy, caller, 'AddComment', comment.target)
    return this.#comments.add(comment.target, text, caller.user?.id, comment)
  }

  async edit(id: string, text: string, caller: Caller): Promise<void> {
    await this.#own(id, caller, 'Only owner can edit the comment.')
    await this.#comments.edit(id, text, caller.user?.id)
  }

  async remove(id: string, caller: Caller): Promise<void> {
    await this.#comments.remove([await this.#own(id, caller, 'Only owner can delete the comment.')], caller.user?.id)
  }

  async #own(id: string, caller: Caller, refusal: string): Promise<Comment> {
    const comment = await this.#seen(id, caller)
    // As in Clowder 1.x only authors may change their comments, whatever rights others hold.
    if (comment.author !== caller.user?.id) throw new Forbidden(refusal)
    return comment
  }

  /** The author of a comment holds every right on it, but only while they may view its target. */
  async #seen(id: string, caller: Caller): Promise<Comment> {
    const comment = await this.#comments.get(id)
    const decision = comment && (await this.#policy.canOn(caller, 'ViewComments', comment.target))
    if (!comment || decision !== 'yes') throw new NotFound('comment')
    return comment
  }
}
wire(CommentEdits, StoredComments, Policy)

/** The text of a comment, trimmed; throws `Invalid` when it is empty. */
export const textOf = (text: string, member: string): string => {
  const trimmed = text.trim()
  if (trimmed === '') throw new Invalid(`${member} is empty: the text of the comment is required`)
  return trimmed
}
