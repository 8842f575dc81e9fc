import { type CommentRecord, collection } from 'pounce/sdk'

/** Comments; those of one thing in the order they were written. */
export const comments = collection<CommentRecord>('comments', {
  byTarget: { on: ['target.id', 'posted'] },
})
