import { Installation, Invalid, NotFound, Policy, Recommenders, ref, routesFor, Spaces, s, signedIn, Users } from 'pounce/sdk'
import {
  answerList,
  ChangedMeanwhile,
  FollowAnswer,
  follow,
  type ListQuery,
  listParameters,
  sortParameters,
  unfollow,
  versionTag,
  viewParameter,
} from 'pounce/sdk/kit'
import { SpaceLists } from './space-lists.ts'
import { SpaceService } from './space-service.ts'
import { SpaceView, SpaceViews } from './space-view.ts'

const route = routesFor('spaces', {
  policy: Policy,
  spaces: Spaces,
  service: SpaceService,
  lists: SpaceLists,
  views: SpaceViews,
  users: Users,
  recommenders: Recommenders,
  installation: Installation,
})

const params = s.Object({ id: s.id() })

const { when, date, title, limit, after } = listParameters

const query = s.Object({ when, date, title, limit, after, ...sortParameters, view: viewParameter })

export const listSpaces = route({
  method: 'GET',
  path: '/api/spaces',
  summary: 'List spaces, newest first',
  description:
    'Public spaces, own spaces, and those that the caller may view by a role. `superAdmin=true` lists all spaces to a server admin.',
  permission: 'anyone',
  query,
  responses: { 200: s.list(SpaceView) },
  throws: [Invalid],
  async handle({ query, caller, url }, { lists, views, installation }) {
    const read = (listQuery: ListQuery) => lists.visible(caller, listQuery)
    return answerList(query, { read, show: views.showing(caller, query.view), baseUrl: installation.baseUrl, url, dated: true })
  },
})

export const listEditableSpaces = route({
  method: 'GET',
  path: '/api/spaces/canEdit',
  summary: 'List spaces the caller may edit, newest first',
  permission: 'anyone',
  query,
  responses: { 200: s.list(SpaceView) },
  throws: [Invalid],
  async handle({ query, caller, url }, { lists, views, installation }) {
    const read = (listQuery: ListQuery) => lists.editable(caller, listQuery)
    return answerList(query, { read, show: views.showing(caller, query.view), baseUrl: installation.baseUrl, url, dated: true })
  },
})

export const getSpace = route({
  method: 'GET',
  path: '/api/spaces/:id',
  summary: 'Get a space',
  permission: { right: 'ViewSpace', on: ref('space', 'id') },
  params,
  query: s.Object({ view: viewParameter }),
  responses: { 200: SpaceView },
  throws: [NotFound],
  async handle({ params, query, caller }, { spaces, views }) {
    const space = await spaces.get(params.id)
    if (!space) throw new NotFound('space')
    const [body] = await views.showing(caller, query.view)([space])
    if (!body) throw new NotFound('space')
    return { status: 200, body, headers: versionTag(space) }
  },
})

export const createSpace = route({
  method: 'POST',
  path: '/api/spaces',
  summary: 'Create a space',
  description:
    'The caller becomes its author and a member with the role Admin. It is on trial, and so not public, until a server admin verifies it.',
  permission: { right: 'CreateSpace', unscoped: 'The space is new.' },
  body: s.model('NewSpace', s.Object({ name: s.line(), description: s.prose() })),
  responses: { 200: s.Object({ id: s.String() }) },
  throws: [Invalid],
  async handle({ body, caller }, { service }) {
    const { id } = await service.create({ ...body, author: signedIn(caller).id })
    return { status: 200, body: { id } }
  },
})

export const deleteSpace = route({
  method: 'DELETE',
  path: '/api/spaces/:id',
  summary: 'Delete a space',
  description: 'Its contents are kept outside of the space; its members lose the rights that they had through it.',
  permission: { right: 'DeleteSpace', on: ref('space', 'id') },
  params,
  responses: { 200: s.success() },
  throws: [NotFound],
  async handle({ params, caller }, { service }) {
    await service.remove(params.id, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

const hours = s.Union([s.String({ pattern: '^[0-9]{1,7}$' }), s.Integer({ minimum: 0, maximum: 9_999_999 })], {
  description: 'Hours, as text or number',
})

export const updateSpace = route({
  method: 'POST',
  path: '/api/spaces/:id/update',
  summary: 'Update a space',
  description:
    'Updates name, description, time to live and access; `timetolive`, `enabled` and `access` are unchanged if absent. The access stays unchanged while the space is on trial.',
  permission: { right: 'EditSpace', on: ref('space', 'id') },
  params,
  body: s.model(
    'SpaceChange',
    s.Object({
      name: s.line(),
      description: s.prose(),
      timetolive: s.Optional(hours),
      enabled: s.Optional(s.Boolean({ description: 'Whether the time to live is in effect' })),
      access: s.Optional(s.Union([s.Literal('PUBLIC'), s.Literal('PRIVATE')])),
    }),
  ),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid, ChangedMeanwhile],
  async handle({ params, body: { name, description, timetolive, enabled, access }, caller, headers }, { service }) {
    const timeToLiveHours = timetolive === undefined ? undefined : Number(timetolive)
    const update = { name, description, timeToLiveHours, isTimeToLiveEnabled: enabled, access }
    await service.update(params.id, update, caller.user?.id, headers['if-match'])
    return { status: 200, body: { status: 'success' } }
  },
})

export const verifySpace = route({
  method: 'PUT',
  path: '/api/spaces/:id/verify',
  summary: 'Verify a space (end its trial)',
  description: 'It becomes PRIVATE, and users who may edit it can make it public. Its datasets on trial become DEFAULT.',
  permission: 'serverAdmin',
  params,
  responses: { 200: s.success() },
  throws: [NotFound, Invalid],
  async handle({ params, caller }, { service }) {
    await service.verify(params.id, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

export const followSpace = route({
  method: 'POST',
  path: '/api/spaces/:id/follow',
  summary: 'Follow a space',
  permission: 'signedIn',
  alsoRequires: [{ right: 'ViewSpace', on: ref('space', 'id') }],
  params,
  responses: { 200: FollowAnswer },
  throws: [NotFound],
  async handle({ params, caller }, needs) {
    return follow(needs, caller, { kind: 'space', id: params.id })
  },
})

export const unfollowSpace = route({
  method: 'POST',
  path: '/api/spaces/:id/unfollow',
  summary: 'Unfollow a space',
  permission: 'signedIn',
  params,
  responses: { 200: s.empty() },
  throws: [NotFound],
  async handle({ params, caller }, { users, policy }) {
    await unfollow(users, policy, caller, { kind: 'space', id: params.id })
    return { status: 200, body: undefined }
  },
})
