import { Installation, Invalid, NotFound, Policy, ref, routesFor, Spaces, s, signedIn, TooMany, Users } from 'pounce/sdk'
import { afterParameter, linkToNext, pageOf, peopleFor, ShownPerson } from 'pounce/sdk/kit'
import { type Invitation, Invitations } from './invitations.ts'

const route = routesFor('spaces', {
  invitations: Invitations,
  users: Users,
  spaces: Spaces,
  policy: Policy,
  installation: Installation,
})
const params = s.Object({ id: s.id() })
const Role = s.Object({ id: s.String(), name: s.String() })
const page = s.Object({ limit: s.Integer({ default: 100, minimum: 1, maximum: 1000 }), after: afterParameter() })

const roleOf = async (invitations: Invitations, one: Invitation): Promise<s.Static<typeof Role>> => {
  const { id, name } = await invitations.roleOf(one)
  return { id, name }
}

export const inviteIntoSpace = route({
  method: 'POST',
  path: '/api/spaces/:id/invite',
  summary: 'Invite users to a space',
  description:
    'In Clowder 1.x this is on a web page only. A user whom the caller may view becomes a member at once and is notified by email. Others get an email, and become members when they sign up with that address, or accept.',
  permission: { right: 'EditSpace', on: ref('space', 'id') },
  params,
  body: s.model(
    'NewInvitation',
    s.Object({
      emails: s.Optional(s.Array(s.String({ minLength: 1, maxLength: 320 }), { maxItems: 100 })),
      userIds: s.Optional(s.Array(s.id(), { maxItems: 100 })),
      role: s.String({ default: 'Viewer', maxLength: 100, description: 'Name or id of the role' }),
      message: s.Optional(s.prose(2000)),
    }),
  ),
  responses: {
    200: s.Array(
      s.model(
        'InvitationResult',
        s.Object({
          email: s.Optional(s.String()),
          userId: s.Optional(s.String()),
          status: s.Union([s.Literal('added'), s.Literal('member'), s.Literal('invited'), s.Literal('unknown'), s.Literal('invalid')], {
            description: '`member`: already a member; the role is unchanged',
          }),
        }),
      ),
    ),
  },
  throws: [NotFound, Invalid, TooMany],
  async handle({ params, body: { emails = [], userIds = [], role, message }, caller }, { invitations }) {
    if (emails.length + userIds.length === 0) throw new Invalid('emails or userIds is required')
    return { status: 200, body: [...(await invitations.invite(caller, params.id, { emails, userIds, role, message }))] }
  },
})

export const listSpaceInvitations = route({
  method: 'GET',
  path: '/api/spaces/:id/invitations',
  summary: 'List the open invitations of a space, oldest first',
  permission: { right: 'EditSpace', on: ref('space', 'id') },
  params,
  query: page,
  responses: {
    200: s.Array(
      s.model(
        'Invitation',
        s.Object({ id: s.id(), email: s.String(), role: Role, author: ShownPerson, created: s.v1Date(), expires: s.v1Date() }),
      ),
    ),
  },
  throws: [NotFound, Invalid],
  async handle({ params, query, caller, url }, { invitations, users, policy, installation }) {
    const found = await invitations.ofSpace(params.id, pageOf(query))
    const person = await peopleFor(
      users,
      policy,
      caller,
      found.items.map(({ author }) => author),
    )
    const body = await Promise.all(
      found.items.map(async one => ({
        ...{ id: one.id, email: one.email, role: await roleOf(invitations, one), author: person(one.author) },
        ...{ created: s.toV1Date(one.created), expires: s.toV1Date(one.expires) },
      })),
    )
    return { status: 200, body, ...linkToNext(installation.baseUrl, url, found, { dated: false }) }
  },
})

export const withdrawSpaceInvitation = route({
  method: 'DELETE',
  path: '/api/spaces/:id/invitations/:invitation',
  summary: 'Revoke an invitation',
  permission: { right: 'EditSpace', on: ref('space', 'id') },
  params: s.Object({ id: s.id(), invitation: s.id() }),
  responses: { 200: s.success() },
  throws: [NotFound],
  async handle({ params: { id, invitation }, caller }, { invitations }) {
    await invitations.withdraw(id, invitation, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

export const listOwnInvitations = route({
  method: 'GET',
  path: '/api/invitations',
  summary: "List the caller's invitations, oldest first",
  permission: 'signedIn',
  limitedKeys: 'refused',
  query: page,
  responses: {
    200: s.Array(
      s.model(
        'ReceivedInvitation',
        s.Object({
          ...{ id: s.id(), space: s.Object({ id: s.id(), name: s.String() }), role: Role, message: s.String() },
          ...{ author: ShownPerson, created: s.v1Date(), expires: s.v1Date() },
        }),
      ),
    ),
  },
  throws: [Invalid],
  async handle({ query, caller, url }, { invitations, users, spaces, policy, installation }) {
    const me = await users.get(signedIn(caller).id)
    const found = me ? await invitations.of(me, pageOf(query)) : { items: [] }
    const named = await spaces.getMany([...new Set(found.items.map(({ space }) => space))])
    const person = await peopleFor(
      users,
      policy,
      caller,
      found.items.map(({ author }) => author),
    )
    const body = await Promise.all(
      found.items.map(async one => ({
        ...{ id: one.id, space: { id: one.space, name: named.get(one.space)?.name ?? '' }, role: await roleOf(invitations, one) },
        ...{ message: one.message, author: person(one.author) },
        ...{ created: s.toV1Date(one.created), expires: s.toV1Date(one.expires) },
      })),
    )
    return { status: 200, body, ...linkToNext(installation.baseUrl, url, found, { dated: false }) }
  },
})

const answer = (how: 'accepted' | 'declined', verb: 'accept' | 'decline', summary: string) =>
  route({
    method: 'POST',
    path: `/api/invitations/:id/${verb}`,
    summary,
    permission: 'signedIn',
    limitedKeys: 'refused',
    params: s.Object({ id: s.id('invitation') }),
    responses: { 200: s.success() },
    throws: [NotFound],
    async handle({ params, caller }, { invitations }) {
      await invitations.answer(params.id, signedIn(caller).id, how)
      return { status: 200, body: { status: 'success' } }
    },
  })

export const acceptInvitation = answer('accepted', 'accept', 'Accept an invitation to a space')
export const declineInvitation = answer('declined', 'decline', 'Decline an invitation to a space')
