import { eq, or, personalRecords } from 'pounce/sdk'
import { activity } from './activity-lines.ts'

/** Lines of the feed. They name people by the id of their account; the name of one whose profile they are about follows the account. */
export const PersonalActivity = personalRecords({
  name: 'activity',
  summary: 'Your activity feed: what you did, and what others did that concerns you; names of resources are left out.',
  in: activity,
  find: ({ id }) => ({ using: ['byUser', 'byTarget'], where: or(eq('user', id), eq('target', id)) }),
  isOf: ({ user, target }, { id }) => user === id || target === id,
  show: ({ type, object, source, at, user }, { id }) => ({ type, object, source, at, byYou: user === id }),
})
