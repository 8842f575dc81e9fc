import { authorize, type Caller, Forbidden, Invalid, NotFound, Policy, wire } from 'pounce/sdk'
import { type Comment, StoredComments } from './stored-comments.ts'

/** What people do to comments that are there: answer, edit, take away. */
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
    // Clowder 1.x: nobody else puts words into a mouth or takes them out, whatever rights they hold.
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
