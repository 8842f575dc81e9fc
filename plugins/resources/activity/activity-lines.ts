import { collection, eq, or, personalRecords, type Ref, type Time } from 'pounce/sdk'

/** A line of the activity feed; its id is that of the event. */
export interface ActivityRecord {
  readonly user: string
  readonly type: string
  readonly object: Ref | null
  /** Empty while nobody knows it: the line is not shown. */
  readonly objectName: string
  readonly source: Ref | null
  readonly sourceName: string
  /** The person it concerns besides the one who acted. */
  readonly target: string | null
  /** Where a thing that is gone was. */
  readonly within: readonly Ref[]
  /** Of a comment: who made what it is about, and the spaces that is in. */
  readonly audience: readonly string[]
  readonly at: Time
}

/** The feed. */
export const activity = collection<ActivityRecord>('activity', {
  byUser: { on: ['user', 'at'] },
  byObject: { on: ['object.id', 'at'] },
  bySource: { on: ['source.id', 'at'] },
  byTarget: { on: ['target', 'at'] },
  byAudience: { on: ['audience', 'at'], array: 'audience' },
})

/** Lines of the feed. They name people by the id of their account; the name of one whose profile they are about follows the account. */
export const PersonalActivity = personalRecords({
  name: 'activity',
  summary: 'Your activity feed: what you did, and what others did that concerns you; names of resources are left out.',
  in: activity,
  find: ({ id }) => ({ using: ['byUser', 'byTarget'], where: or(eq('user', id), eq('target', id)) }),
  isOf: ({ user, target }, { id }) => user === id || target === id,
  show: ({ type, object, source, at, user }, { id }) => ({ type, object, source, at, byYou: user === id }),
})
