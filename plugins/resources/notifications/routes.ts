import { Clock, Installation, Invalid, NotFound, NotSignedIn, routesFor, s, signedIn, Users } from 'pounce/sdk'
import { afterParameter, linkToNext, notificationKinds, pageOf, readTime } from 'pounce/sdk/kit'
import { Inbox, type Notification } from './inbox.ts'
import { channels, type NotificationChannel, type Preferences, StoredPreferences } from './preferences.ts'

const route = routesFor('notifications', {
  inbox: Inbox,
  preferences: StoredPreferences,
  users: Users,
  installation: Installation,
  clock: Clock,
})

const Kind = s.Unsafe<(typeof notificationKinds)[number]>({ type: 'string', enum: [...notificationKinds] })
const NotificationJson = s.model(
  'Notification',
  s.Object({
    id: s.id(),
    kind: Kind,
    title: s.String(),
    text: s.Optional(s.String({ description: 'Additional text, such as that of a comment' })),
    url: s.String({ description: 'URL of its subject' }),
    actor: s.Optional(s.String({ description: 'Id of the user who caused it' })),
    about: s.Optional(s.Object({ kind: s.String(), id: s.String() })),
    created: s.String({ description: 'ISO 8601' }),
    read: s.Boolean(),
  }),
)
const ChannelJson = s.Unsafe<NotificationChannel>({ type: 'string', enum: [...channels] })
const PreferencesJson = s.model(
  'NotificationPreferences',
  s.Object(
    Object.fromEntries(notificationKinds.map(kind => [kind, ChannelJson])) as Record<
      (typeof notificationKinds)[number],
      typeof ChannelJson
    >,
    {
      description: '`inbox`; `mail`: in the inbox and an immediate email; `digest`: in the inbox and in the next digest; `off`',
    },
  ),
)
const PreferencesUpdate = s.model(
  'NotificationPreferencesUpdate',
  s.Object(
    Object.fromEntries(notificationKinds.map(kind => [kind, s.Optional(ChannelJson)])) as Record<
      (typeof notificationKinds)[number],
      ReturnType<typeof s.Optional<typeof ChannelJson>>
    >,
    { additionalProperties: false, minProperties: 1 },
  ),
  { mention: 'mail', followed: 'off' },
)

const shown = ({ id, kind, title, text, path, actor, about, created, read }: Notification, baseUrl: string) => ({
  ...{ id, kind, title, ...(text !== '' && { text }), url: `${baseUrl}${path}` },
  ...(actor !== null && { actor }),
  ...(about && { about: { kind: about.kind as string, id: about.id } }),
  ...{ created, read: read !== null },
})

const params = s.Object({ id: s.id() })

export const listNotifications = route({
  method: 'GET',
  path: '/api/me/notifications',
  summary: 'List my notifications',
  description: 'Newest first; without those whose subject the caller may no longer view. `GET /api/me` returns the number of unread ones.',
  permission: 'signedIn',
  limitedKeys: 'refused',
  query: s.Object({
    unread: s.Optional(s.Boolean({ description: 'Only unread ones' })),
    kind: s.Optional(Kind),
    limit: s.Integer({ default: 50, minimum: 1, maximum: 1000 }),
    after: afterParameter(),
  }),
  responses: { 200: s.Array(NotificationJson) },
  throws: [Invalid],
  async handle({ caller, query, url }, { inbox, installation }) {
    const page = await inbox.page(signedIn(caller).id, { isUnread: query.unread === true, kind: query.kind }, pageOf(query))
    const body = page.items.map(each => shown(each, installation.baseUrl))
    return { status: 200, body, ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
  },
})

export const markNotificationRead = route({
  method: 'PUT',
  path: '/api/me/notifications/:id/read',
  summary: 'Mark a notification as read',
  permission: 'signedIn',
  limitedKeys: 'refused',
  params,
  responses: { 204: s.empty() },
  throws: [NotFound],
  async handle({ caller, params: { id } }, { inbox }) {
    await inbox.mark(signedIn(caller).id, id, true)
    return { status: 204, body: undefined }
  },
})

export const markNotificationUnread = route({
  method: 'DELETE',
  path: '/api/me/notifications/:id/read',
  summary: 'Mark a notification as unread',
  permission: 'signedIn',
  limitedKeys: 'refused',
  params,
  responses: { 204: s.empty() },
  throws: [NotFound],
  async handle({ caller, params: { id } }, { inbox }) {
    await inbox.mark(signedIn(caller).id, id, false)
    return { status: 204, body: undefined }
  },
})

export const markNotificationsRead = route({
  method: 'PUT',
  path: '/api/me/notifications/read',
  summary: 'Mark all notifications as read',
  permission: 'signedIn',
  limitedKeys: 'refused',
  query: s.Object({ until: s.Optional(s.String({ maxLength: 40, description: 'Only those created up to this time; ISO 8601' })) }),
  responses: { 204: s.empty() },
  throws: [Invalid],
  async handle({ caller, query: { until } }, { inbox, clock }) {
    const time = until === undefined ? clock.now() : new Date(readTime(until, '`until`'))
    await inbox.markAll(signedIn(caller).id, time.toISOString())
    return { status: 204, body: undefined }
  },
})

export const deleteNotification = route({
  method: 'DELETE',
  path: '/api/me/notifications/:id',
  summary: 'Delete a notification',
  permission: 'signedIn',
  limitedKeys: 'refused',
  params,
  responses: { 204: s.empty() },
  throws: [NotFound],
  async handle({ caller, params: { id } }, { inbox }) {
    await inbox.remove(signedIn(caller).id, id)
    return { status: 204, body: undefined }
  },
})

export const getNotificationPreferences = route({
  method: 'GET',
  path: '/api/me/notifications/preferences',
  summary: 'Get my notification preferences',
  permission: 'signedIn',
  limitedKeys: 'refused',
  responses: { 200: PreferencesJson },
  async handle({ caller }, ports) {
    return { status: 200, body: await preferencesOf(signedIn(caller).id, ports) }
  },
})

export const setNotificationPreferences = route({
  method: 'PUT',
  path: '/api/me/notifications/preferences',
  summary: 'Change my notification preferences',
  description: 'Absent kinds are unchanged.',
  permission: 'signedIn',
  limitedKeys: 'refused',
  body: PreferencesUpdate,
  responses: { 200: PreferencesJson },
  async handle({ caller, body }, ports) {
    const { id } = signedIn(caller)
    await ports.preferences.choose(id, body as Partial<Preferences>)
    return { status: 200, body: await preferencesOf(id, ports) }
  },
})

const preferencesOf = async (
  id: string,
  { users, preferences }: { readonly users: Users; readonly preferences: StoredPreferences },
): Promise<Preferences> => {
  const user = await users.get(id)
  if (!user) throw new NotSignedIn()
  return preferences.of(user)
}
