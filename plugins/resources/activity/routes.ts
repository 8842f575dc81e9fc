import { type Caller, type Kind, NotSignedIn, type Permission, Policy, routesFor, type Stored, s, Users } from 'pounce/sdk'
import { Activity, type ActivityRecord } from './stored-activity.ts'

const route = routesFor('events', { activity: Activity, users: Users, policy: Policy })

const Shown = s.Object({
  id: s.String(),
  event_type: s.String(),
  user: s.Object({ id: s.String(), fullName: s.String() }),
  object_id: s.Optional(s.String()),
  object_name: s.Optional(s.String()),
  source_id: s.Optional(s.String()),
  source_name: s.Optional(s.String()),
  created: s.v1Date(),
})

const viewing: Partial<Record<Kind, Permission>> = {
  space: 'ViewSpace',
  collection: 'ViewCollection',
  dataset: 'ViewDataset',
  file: 'ViewFile',
  comment: 'ViewComments',
  user: 'ViewUser',
}

/** Somebody else's deed shows only while the caller may see what it was done to. */
const visible = async (policy: Policy, caller: Caller, lines: readonly (ActivityRecord & Stored)[]) => {
  const shown = new Set<string>()
  for (const [kind, permission] of Object.entries(viewing) as [Kind, Permission][]) {
    const ids = lines.flatMap(line => (line.object?.kind === kind ? [line.object.id] : []))
    if (ids.length > 0) for (const id of await policy.allowed(caller, permission, kind, [...new Set(ids)])) shown.add(id)
  }
  return lines.filter(line => line.user === caller.user?.id || (line.object !== null && shown.has(line.object.id)))
}

export const listEvents = route({
  method: 'GET',
  path: '/api/events',
  summary: 'What happened: own deeds, what concerns the caller, and what they follow; newest first',
  description: 'Our own addition: Clowder 1.x shows the feed on its web pages only. Further pages through the `Link` header.',
  permission: 'signedIn',
  query: s.Object({
    limit: s.Integer({ default: 20, minimum: 1, maximum: 200 }),
    after: s.Optional(s.String({ pattern: '^[0-9TZ:.-]{24}_[0-9a-f]{24}$' })),
  }),
  responses: { 200: s.Array(Shown) },
  async handle({ query, caller, url }, { activity, users, policy }) {
    const me = caller.user && (await users.get(caller.user.id))
    if (!me) throw new NotSignedIn()
    const [at, id] = query.after?.split('_') ?? []
    const page = await activity.feedOf(me, { limit: query.limit, ...(at && id ? { after: [at, id] } : {}) })
    const lines = await visible(policy, caller, page.items)
    const people = await users.getMany([...new Set(lines.map(line => line.user))])
    const body = lines.map(line => {
      const user = people.get(line.user)
      return {
        id: line.id,
        event_type: line.type,
        user: { id: line.user, fullName: user ? `${user.firstName} ${user.lastName}`.trim() : '' },
        ...(line.object ? { object_id: line.object.id, object_name: line.objectName } : {}),
        ...(line.source ? { source_id: line.source.id, source_name: line.sourceName } : {}),
        created: s.toV1Date(line.at),
      }
    })
    if (!page.next) return { status: 200, body }
    return { status: 200, body, headers: { link: `<${url.pathname}?limit=${query.limit}&after=${page.next.join('_')}>; rel="next"` } }
  },
})
