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

/** Comments; those of one resource in the order they were written. */
export const comments = collection<CommentRecord>()('comments', {
  byTarget: { on: ['target.id', 'posted'] },
  byParent: { on: ['parent'] },
})

/** A record that someone was notified of a comment. Its id follows from recipient, author and comment, so that no one is notified twice. */
interface MentionRecord {
  /** The file or dataset that the comment is about. */
  readonly target: Ref
  /** Absent when no comment of theirs was there. */
  readonly comment: string | null
  readonly user: string
  readonly by: string
  readonly isMailed: boolean
  /** When a mail went out, where one did. */
  readonly mailedAt?: Time
}

export const mentions = collection<MentionRecord>()('comments.mentions', {
  byTarget: { on: ['target.id'] },
  byPeople: { on: ['user', 'by', 'mailedAt'] },
})

/** A record that someone was notified of a comment. */
export const PersonalMentions = personalRecords({
  name: 'mentions',
  summary: 'Comments in which you were mentioned, without their text.',
  in: mentions,
  isOf: ({ user, by }, { id }) => user === id || by === id,
  show: ({ target, comment, user, mailedAt }, { id }) => ({ target, comment, direction: user === id ? 'received' : 'sent', mailedAt }),
  erase: () => 'remove',
})

export type Comment = CommentRecord & Stored

/** Answers to answers to answers: deeper than this no one reads. */
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
    const above = to ? [...(to.above ?? []), to.id] : []
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

  /** The newest of the last comments on a resource that is someone's. */
  async latestOf(target: Ref, author: string): Promise<Comment | undefined> {
    const where = eq('target.id', target.id)
    const query = { using: 'byTarget', where, sort: { by: 'posted', order: 'descending' }, limit: 100 } as const
    return (await this.#documents.find(comments, query)).items.find(comment => comment.author === author)
  }

  /** Those that do not answer what is gone: replies go with the comment above them, whether swept away already or not. */
  async standing<T extends Comment>(some: readonly T[]): Promise<readonly T[]> {
    const here = new Set(some.map(({ id }) => id))
    const asked = [...new Set(some.flatMap(({ above = [] }) => above))].filter(id => !here.has(id))
    for (let at = 0; at < asked.length; at += 1000) {
      const found = await this.#documents.getMany(comments, asked.slice(at, at + 1000))
      for (const id of found.keys()) here.add(id)
    }
    return some.filter(({ above = [] }) => above.every(id => here.has(id)))
  }

  /** Takes comments away; those that are gone already are not an error. */
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

  /** All comments on some resources, in batches; `actors` says by thing who took it away. */
  async removeAllOf(actors: ReadonlyMap<string, string | undefined>): Promise<void> {
    const where = isIn('target.id', [...actors.keys()])
    const events = (comment: Comment) => [removed(comment, actors.get(comment.target.id))]
    await removeFound(this.#documents, comments, { using: 'byTarget', where, events })
  }
}
wire(StoredComments, DocumentStore, Ids, Clock)

const removed = ({ id, target }: Comment, actor: string | undefined) => event('comment.removed', { kind: 'comment', id }, { target }, actor)

/** What people do to comments that exist: answer, edit, remove. */
export class CommentEdits {
  #comments: StoredComments
  #policy: Policy

  constructor(comments: StoredComments, policy: Policy) {
    this.#comments = comments
    this.#policy = policy
  }

  /** The reply, about what the comment is about. */
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
    // Clowder 1.x: no one else puts words into a mouth or takes them out, whatever rights they hold.
    if (comment.author !== caller.user?.id) throw new Forbidden(refusal)
    return comment
  }

  /** Who wrote a comment holds every right on it, but sees it only while they see what it is about. */
  async #seen(id: string, caller: Caller): Promise<Comment> {
    const comment = await this.#comments.get(id)
    const verdict = comment && (await this.#policy.canOn(caller, 'ViewComments', comment.target))
    if (!comment || verdict !== 'yes') throw new NotFound('comment')
    return comment
  }
}
wire(CommentEdits, StoredComments, Policy)

/** The text of a comment, without blanks around it; `Invalid` when nothing is left. */
export const textOf = (text: string, member: string): string => {
  const said = text.trim()
  if (said === '') throw new Invalid(`${member} is empty: the text of the comment is required`)
  return said
}
