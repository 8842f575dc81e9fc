import type { UserRecord } from '../model/people.ts'
import { wantsMail } from '../people.ts'
import { type Contributions, contributions } from '../port.ts'
import type { Stored } from './document-store.ts'

/** What people are notified of, each with a channel of its own. */
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

/** What people have chosen. */
export interface NotificationPreference {
  /** Whether a person wants a mail at once of what is of this kind. */
  wantsMail(user: UserRecord & Stored, kind: NotificationKind): Promise<boolean>
}
/** The plugin that keeps the preferences of people, if one does. */
export const NotificationPreferences = contributions<NotificationPreference>('notificationPreferences')

/** Whether a person wants a mail of what is of this kind; by their account alone where no plugin keeps preferences. */
export const wantsMailOf = async (
  preferences: Contributions<NotificationPreference>,
  user: UserRecord & Stored,
  kind: NotificationKind,
): Promise<boolean> => {
  const [preference] = preferences.all()
  return preference ? preference.wantsMail(user, kind) : wantsMail(user)
}

/** Counts the notifications that a person has not read; contributed by the plugin that keeps them. */
export interface UnreadCount {
  /** Counted up to 100. */
  unread(user: string): Promise<number>
}
/** Plugins that keep notifications. */
export const UnreadCounts = contributions<UnreadCount>('unreadCounts')
