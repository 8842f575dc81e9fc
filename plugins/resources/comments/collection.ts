import { type CommentRecord, collection, type Ref, type Time } from 'pounce/sdk'

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
