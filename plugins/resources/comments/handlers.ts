import { type AnyEvent, type BatchHandler, Datasets, Files, type Kind, Sections, type StoredEvent, wire } from 'pounce/sdk'
import type { Records } from 'pounce/sdk/kit'
import { Mentions } from './mentions.ts'
import { StoredComments } from './stored-comments.ts'

/** Deletes comments and mention records with their target. */
export class DeleteCommentsOnTargetRemoved implements BatchHandler {
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
wire(DeleteCommentsOnTargetRemoved, StoredComments, Mentions)

/** Deletes replies with the comment that they reply to. */
export class DeleteRepliesOnParentRemoved {
  #comments: StoredComments

  constructor(comments: StoredComments) {
    this.#comments = comments
  }

  async handle({ subject, actor }: StoredEvent<'comment.removed'>): Promise<void> {
    await this.#comments.removeReplies(subject.id, actor)
  }
}
wire(DeleteRepliesOnParentRemoved, StoredComments)

/** Deletes a comment that was written while its target or parent was being deleted, and so was missed by that cascade. */
export class DeleteOrphanedComment {
  #comments: StoredComments
  #about: Partial<Record<Kind, Records<object>>>

  constructor(comments: StoredComments, files: Files, sections: Sections, datasets: Datasets) {
    this.#comments = comments
    this.#about = { file: files, section: sections, dataset: datasets }
  }

  async handle({ subject, actor }: StoredEvent<'comment.added'>): Promise<void> {
    const comment = await this.#comments.get(subject.id)
    if (!comment) return
    const isThere = (await this.#about[comment.target.kind]?.get(comment.target.id)) !== undefined
    if (!isThere || (await this.#comments.standing([comment])).length === 0) await this.#comments.remove([comment], actor)
  }
}
wire(DeleteOrphanedComment, StoredComments, Files, Sections, Datasets)

/** Notifies users mentioned in a comment, also after an edit. */
export class NotifyMentionedUsers {
  #comments: StoredComments
  #mentions: Mentions

  constructor(comments: StoredComments, mentions: Mentions) {
    this.#comments = comments
    this.#mentions = mentions
  }

  async handle({ subject }: StoredEvent<'comment.added' | 'comment.updated'>): Promise<void> {
    const comment = await this.#comments.get(subject.id)
    if (comment) await this.#mentions.notifyAll(comment)
  }
}
wire(NotifyMentionedUsers, StoredComments, Mentions)
