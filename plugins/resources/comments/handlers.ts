import { type AnyEvent, type BatchHandler, type Caller, Policy, type StoredEvent, wire } from 'pounce/sdk'
import { MentionDesk, type Mentions } from './mentions.ts'
import { CommentDesk, type StoredComments } from './stored-comments.ts'

/** Comments go with what they are about, and what is kept of mentions. */
export class FollowTarget implements BatchHandler {
  #comments: StoredComments
  #mentions: Mentions

  constructor(comments: StoredComments, mentions: Mentions) {
    this.#comments = comments
    this.#mentions = mentions
  }

  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    await this.#comments.removeAllOf(new Map(events.map(({ subject, actor }) => [subject.id, actor])))
    await this.#mentions.removeAllOf(events.map(({ subject }) => subject.id))
  }
}
wire(FollowTarget, CommentDesk, MentionDesk)

/** Replies go with the comment they answer. */
export class FollowParent {
  #comments: StoredComments

  constructor(comments: StoredComments) {
    this.#comments = comments
  }

  async handle({ subject, actor }: StoredEvent<'comment.removed'>): Promise<void> {
    await this.#comments.removeReplies(subject.id, actor)
  }
}
wire(FollowParent, CommentDesk)

/** Sees everything there is, so that what it does not see is not there. */
const everywhere: Caller = { via: 'service', scope: 'full', superAdmin: true }

/** A comment that was written while what it is about, or answers, went has nobody else to take it away. */
export class DropOrphan {
  #comments: StoredComments
  #policy: Policy

  constructor(comments: StoredComments, policy: Policy) {
    this.#comments = comments
    this.#policy = policy
  }

  async handle({ subject, actor }: StoredEvent<'comment.added'>): Promise<void> {
    const comment = await this.#comments.get(subject.id)
    if (!comment) return
    const verdict = await this.#policy.canOn(everywhere, 'ViewComments', { kind: 'comment', id: comment.id })
    if (verdict === 'unseen') await this.#comments.remove([comment], actor)
  }
}
wire(DropOrphan, CommentDesk, Policy)

/** Tells people whom a comment speaks to, also when it was edited to do so. */
export class TellMentioned {
  #comments: StoredComments
  #mentions: Mentions

  constructor(comments: StoredComments, mentions: Mentions) {
    this.#comments = comments
    this.#mentions = mentions
  }

  async handle({ subject }: StoredEvent<'comment.added' | 'comment.updated'>): Promise<void> {
    const comment = await this.#comments.get(subject.id)
    if (comment) await this.#mentions.tellAll(comment)
  }
}
wire(TellMentioned, CommentDesk, MentionDesk)
