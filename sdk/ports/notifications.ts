import type { UserRecord } from '../model/people.ts'
import { wantsMail } from '../people.ts'
import { type Contributions, contributions } from '../port.ts'
import type { Stored } from './document-store.ts'

/** The kinds of notifications; each can be configured separately. */
export const notificationKinds = [
  'mention',
  'reply',
  'invitation',
  'request',
  'role-change',
  'extraction-failed',
  'share',
  'followed',
  'webhook-paused',
] as const
/** A kind of `notificationKinds`. */
export type NotificationKind = (typeof notificationKinds)[number]

/** Users' notification preferences. */
export interface NotificationPreference {
  /** Whether a person wants immediate mail for this kind. */
  wantsMail(user: UserRecord & Stored, kind: NotificationKind): Promise<boolean>
}
/** The plugin that stores notification preferences, if any. */
export const NotificationPreferences = contributions<NotificationPreference>('notificationPreferences')

/** Whether a person wants mail for this kind; based on the account alone if no plugin stores preferences. */
export const wantsMailOf = async (
  preferences: Contributions<NotificationPreference>,
  user: UserRecord & Stored,
  kind: NotificationKind,
): Promise<boolean> => {
  const [preference] = preferences.all()
  return preference ? preference.wantsMail(user, kind) : wantsMail(user)
}

/** Counts a person's unread notifications; contributed by the plugin that stores them. */
export interface UnreadCount {
  /** Counted up to 100. */
  unread(user: string): Promise<number>
}
/** Plugins that store notifications. */
export const UnreadCounts = contributions<UnreadCount>('unreadCounts')
