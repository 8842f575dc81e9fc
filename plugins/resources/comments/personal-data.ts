import { personalRecords } from 'pounce/sdk'
import { comments, mentions } from './collection.ts'

export const PersonalComments = personalRecords({
  name: 'comments',
  summary: 'Comments that you wrote.',
  in: comments,
  isOf: ({ author }, { id }) => author === id,
  show: ({ id, target, parent, text, posted }) => ({ id, target, parent, text, posted }),
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
