import { definePlugin, NotificationPreferences, on, PersonalDataSources, provide, UnreadCounts } from 'pounce/sdk'
import { config } from './config.ts'
import { digests, EnqueueDigests, PersonalDigests, UpdateDigestOnUserUpdated } from './enqueue-digests.ts'
import { Inbox, InboxRetention, notifications, PersonalNotifications } from './inbox.ts'
import { followers, NotifyFollowers, PersonalFollower, TrackFollower } from './notify-followers.ts'
import { NotifyUsers, notifiedEvents } from './notify-users.ts'
import { PersonalPreferences, preferences, StoredPreferences } from './preferences.ts'
import * as routes from './routes.ts'
import { SendDigest } from './send-digest.ts'
import { SendNotificationMail } from './send-notification-mail.ts'

const minuteMs = 60_000

export const plugin = definePlugin({
  id: 'resources.notifications',
  summary: 'Notifications: an inbox, preferences, emails, and hourly or daily digests.',
  provides: [
    provide(NotificationPreferences, StoredPreferences),
    provide(UnreadCounts, Inbox),
    provide(PersonalDataSources, PersonalDigests),
    provide(PersonalDataSources, PersonalNotifications),
    provide(PersonalDataSources, PersonalPreferences),
    provide(PersonalDataSources, PersonalFollower),
  ],
  config,
  routes,
  collections: [digests, notifications, preferences, followers],
  handlers: [
    on('user.updated', UpdateDigestOnUserUpdated, 'keep-digest'),
    on('digest.due', SendDigest, 'send-digest'),
    on(notifiedEvents, NotifyUsers, 'notify-users'),
    on('notification.created', SendNotificationMail, 'send-notification-mail'),
    on('user.followed', TrackFollower, 'track-follower'),
  ],
  periodic: [
    { name: 'ask-digests', everyMs: 5 * minuteMs, task: EnqueueDigests },
    { name: 'notify-followers', everyMs: 5 * minuteMs, task: NotifyFollowers },
    { name: 'retention', everyMs: 60 * minuteMs, task: InboxRetention },
  ],
})
