import { personalRecords } from 'pounce/sdk'
import { mentions } from './collection.ts'

/** That somebody was told of a comment. */
export const PersonalMentions = personalRecords({
  name: 'mentions',
  summary: 'Comments in which you were mentioned, without their text.',
  in: mentions,
  isOf: ({ user, by }, { id }) => user === id || by === id,
  show: ({ target, comment, user, mailedAt }, { id }) => ({ target, comment, direction: user === id ? 'received' : 'sent', mailedAt }),
  erase: () => 'remove',
})
