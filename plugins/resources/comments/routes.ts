import {
  afterParameter,
  Forbidden,
  Installation,
  Invalid,
  type Kind,
  linkToNext,
  NotFound,
  one,
  Policy,
  Problem,
  pageOf,
  type Ref,
  routesFor,
  s,
  signedIn,
  Users,
} from 'pounce/sdk'
import { CommentJson, showComments } from './comment-json.ts'
import { MentionDesk } from './mentions.ts'
import { CommentDesk } from './stored-comments.ts'
import { Threads, textOf } from './thread.ts'

const needs = { comments: CommentDesk, threads: Threads, mentions: MentionDesk, users: Users, policy: Policy, installation: Installation }
const route = routesFor('comments', needs)

const params = s.Object({ id: s.id() })

/** Clowder 1.x answers a comment without text with 404 on files and 400 elsewhere; clients read the status. */
const statusWithoutText = { file: 404, dataset: 400, section: 400 } as const

const addTo = (kind: 'file' | 'dataset' | 'section', path: string) =>
  route({
    method: 'POST',
    path,
    summary: `Comment on a ${kind}; the answer is the comment's id`,
    description: 'Who is spoken to by `@Full Name` or `@their@address` is told, by a line in their feed and by mail, if they may see it.',
    permission: 'AddComment',
    of: one(kind),
    params,
    body: s.Object({ text: s.Optional(s.prose()) }),
    responses: { 200: s.text() },
    throws: [Invalid, NotFound],
    async handle({ params, body, caller }, { comments }) {
      const text = body.text?.trim()
      if (!text) throw new Problem(statusWithoutText[kind], 'no-text', 'text is missing: say what the comment is')
      const comment = await comments.add({ kind, id: params.id }, text, caller.user?.id)
      return { status: 200, body: comment.id }
    },
  })

export const replyToComment = route({
  method: 'POST',
  path: '/api/comment/:id',
  summary: "Answer a comment; the answer is the reply's id",
  description: 'The reply is about what the comment is about.',
  permission: 'AddComment',
  of: one('comment'),
  params,
  body: s.Object({ text: s.prose() }),
  responses: { 200: s.text() },
  throws: [Invalid, NotFound],
  async handle({ params, body, caller }, { threads }) {
    return { status: 200, body: (await threads.reply(params.id, textOf(body.text, 'text'), caller)).id }
  },
})

export const editComment = route({
  method: 'POST',
  path: '/api/comment/:id/editComment',
  summary: 'Say something else in a comment',
  description: 'Its author alone may do this.',
  permission: 'EditComment',
  of: one('comment'),
  params,
  body: s.Object({ commentText: s.prose() }),
  responses: { 200: s.success() },
  throws: [Invalid, Forbidden, NotFound],
  async handle({ params, body, caller }, { threads }) {
    await threads.edit(params.id, textOf(body.commentText, 'commentText'), caller)
    return { status: 200, body: { status: 'success' } }
  },
})

export const removeComment = route({
  method: 'DELETE',
  path: '/api/comment/:id/removeComment',
  summary: 'Take a comment away, and all replies to it',
  description: 'Its author alone may do this, as in Clowder 1.x. The body, which Clowder 1.x insists on, is not read.',
  permission: 'DeleteComment',
  of: one('comment'),
  params,
  body: s.Optional(s.Unknown()),
  responses: { 200: s.success() },
  throws: [Forbidden, NotFound],
  async handle({ params, caller }, { threads }) {
    await threads.remove(params.id, caller)
    return { status: 200, body: { status: 'success' } }
  },
})

const listOf = (kind: Kind, plural: string) =>
  route({
    method: 'GET',
    path: `/api/${plural}/:id/comments`,
    summary: `The comments on a ${kind}, oldest first`,
    description:
      'Our own addition: Clowder 1.x had no route that reads comments. Replies stand among them and name the comment they answer. The `Link` header leads to the next page.',
    permission: 'ViewComments',
    of: one(kind),
    params,
    query: s.Object({
      limit: s.Integer({ default: 100, minimum: 1, maximum: 1000 }),
      after: afterParameter(),
    }),
    responses: { 200: s.Array(CommentJson) },
    throws: [NotFound, Invalid],
    async handle({ params, query, caller, url }, { comments, users, policy, installation }) {
      const page = await comments.of({ kind, id: params.id }, pageOf(query))
      const body = await showComments(users, policy, caller, await comments.standing(page.items))
      return { status: 200, body, ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
    },
  })

export const commentFile = addTo('file', '/api/files/:id/comment')
export const listFileComments = listOf('file', 'files')
export const commentDataset = addTo('dataset', '/api/datasets/:id/comment')
export const listDatasetComments = listOf('dataset', 'datasets')
export const commentSection = addTo('section', '/api/sections/:id/comments')
export const listSectionComments = listOf('section', 'sections')

const resource = ({ resourceType, resourceID }: { resourceType: 'file' | 'dataset'; resourceID: string }): Ref => ({
  kind: resourceType,
  id: resourceID,
})

export const mentionInComment = route({
  method: 'POST',
  path: '/api/comment/mention',
  summary: 'Tell someone that a comment mentions them',
  description:
    'For clients that look for the `@` themselves; the comment they posted before does the same, and the person is told once. The line is in the feed of the person mentioned, who must be able to see the resource. `resourceName` has no effect: the feed says what the resource is called.',
  permission: 'AddComment',
  of: resource,
  also: [{ permission: 'ViewUser', of: ({ userID }) => ({ kind: 'user', id: userID }) }],
  query: s.Object({
    userID: s.id(),
    resourceID: s.id(),
    resourceName: s.Optional(s.String({ maxLength: 1000 })),
    resourceType: s.Union([s.Literal('file'), s.Literal('dataset')]),
    commenterId: s.id(),
  }),
  responses: { 200: s.text() },
  throws: [Invalid, NotFound],
  async handle({ query, caller }, { comments, mentions, users }) {
    const by = signedIn(caller).id
    if (by !== query.commenterId) throw new Invalid('commenterId must be the id of who sends this')
    const user = await users.get(query.userID)
    if (!user) throw new NotFound('user')
    const target = resource(query)
    const comment = (await comments.latestOf(target, by))?.id ?? null
    const isTold = await mentions.tell({ user, by, target, comment })
    if (!isTold) throw new Invalid(`This person may not see the ${target.kind}, so they are not told`)
    return { status: 200, body: `Mention event added to user id ${query.userID}'s feed` }
  },
})
