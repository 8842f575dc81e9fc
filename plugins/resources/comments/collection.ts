import { type CommentRecord, collection, personalRecords, type Ref, type Time } from 'pounce/sdk'

/** Comments; those of one thing in the order they were written. */
export const comments = collection<CommentRecord>('comments', {
  byTarget: { on: ['target.id', 'posted'] },
  byParent: { on: ['parent'] },
})

/** That somebody was told of a comment. Its id follows from whom, by whom and which comment, so that nobody is told twice. */
export interface MentionRecord {
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
export const mentions = collection<MentionRecord>('comments.mentions', {
  byTarget: { on: ['target.id'] },
  byPeople: { on: ['user', 'by', 'mailedAt'] },
})

/** That somebody was told of a comment. */
export const PersonalMentions = personalRecords({
  name: 'mentions',
  summary: 'Comments in which you were mentioned, without their text.',
  in: mentions,
  isOf: ({ user, by }, { id }) => user === id || by === id,
  show: ({ target, comment, user, mailedAt }, { id }) => ({ target, comment, direction: user === id ? 'received' : 'sent', mailedAt }),
  erase: () => 'remove',
})
