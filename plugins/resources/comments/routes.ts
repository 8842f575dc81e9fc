import {
  type Caller,
  Forbidden,
  Installation,
  Invalid,
  type Kind,
  NotFound,
  Policy,
  Problem,
  type Ref,
  ref,
  routesFor,
  s,
  signedIn,
  Users,
} from 'pounce/sdk'
import { afterParameter, linkToNext, optionalOrNull, pageOf, peopleFor, ShownPerson } from 'pounce/sdk/kit'
import { Mentions } from './mentions.ts'
import { type Comment, CommentEdits, StoredComments, textOf } from './stored-comments.ts'

/** A comment in the format of Clowder 1.x; replies name the comment that they reply to. */
const CommentJson = s.model(
  'Comment',
  s.Object({
    id: s.String(),
    text: s.String(),
    author: ShownPerson,
    comment_id: s.Union([s.String({ description: 'The comment that this one replies to' }), s.Null()]),
    file_id: s.Optional(s.String()),
    dataset_id: s.Optional(s.String()),
    section_id: s.Optional(s.String()),
    posted: s.v1Date(),
  }),
)

type CommentJson = s.Static<typeof CommentJson>

/** Renders comments for a caller. */
const showComments = async (users: Users, policy: Policy, caller: Caller, some: readonly Comment[]): Promise<CommentJson[]> => {
  const person = await peopleFor(
    users,
    policy,
    caller,
    some.map(({ author }) => author),
  )
  return some.map(({ id, text, author, parent, target, posted }) => ({
    id,
    text,
    author: person(author),
    comment_id: parent,
    [`${target.kind}_id`]: target.id,
    posted: s.toV1Date(posted),
  }))
}

const needs = {
  comments: StoredComments,
  commentEdits: CommentEdits,
  mentions: Mentions,
  users: Users,
  policy: Policy,
  installation: Installation,
}

const route = routesFor('comments', needs)

const params = s.Object({ id: s.id() })

/** Clowder 1.x answers a comment without text with 404 on files and 400 elsewhere; clients read the status. */
const statusWithoutText = { file: 404, dataset: 400, section: 400 } as const

const addTo = (kind: 'file' | 'dataset' | 'section', path: string) =>
  route({
    method: 'POST',
    path,
    summary: `Comment on a ${kind}`,
    description:
      'Returns the id of the comment. Users mentioned by `@Full Name` or `@their@address` who may view it are notified in their feed and by email.',
    permission: { right: 'AddComment', on: ref(kind, 'id') },
    params,
    body: s.Object({ text: optionalOrNull(s.prose()) }),
    responses: { 200: s.text() },
    throws: [Invalid, NotFound],
    async handle({ params, body, caller }, { comments }) {
      const text = body.text?.trim()
      if (!text) throw new Problem(statusWithoutText[kind], 'no-text', 'text is missing: the text of the comment')
      const comment = await comments.add({ kind, id: params.id }, text, caller.user?.id)
      return { status: 200, body: comment.id }
    },
  })

export const replyToComment = route({
  method: 'POST',
  path: '/api/comment/:id',
  summary: 'Reply to a comment',
  description: 'Returns the id of the reply, which belongs to the same resource as the comment.',
  permission: { right: 'AddComment', on: ref('comment', 'id') },
  params,
  body: s.Object({ text: s.prose() }),
  responses: { 200: s.text() },
  throws: [Invalid, NotFound],
  async handle({ params, body, caller }, { commentEdits }) {
    return { status: 200, body: (await commentEdits.reply(params.id, textOf(body.text, 'text'), caller)).id }
  },
})

export const editComment = route({
  method: 'POST',
  path: '/api/comment/:id/editComment',
  summary: 'Edit a comment',
  description: 'Only for the author.',
  permission: { right: 'EditComment', on: ref('comment', 'id') },
  params,
  body: s.Object({ commentText: s.prose() }),
  responses: { 200: s.success() },
  throws: [Invalid, Forbidden, NotFound],
  async handle({ params, body, caller }, { commentEdits }) {
    await commentEdits.edit(params.id, textOf(body.commentText, 'commentText'), caller)
    return { status: 200, body: { status: 'success' } }
  },
})

export const removeComment = route({
  method: 'DELETE',
  path: '/api/comment/:id/removeComment',
  summary: 'Delete a comment and its replies',
  description: 'Only for the author, as in Clowder 1.x. The body, which Clowder 1.x requires, is ignored.',
  permission: { right: 'DeleteComment', on: ref('comment', 'id') },
  params,
  body: s.Optional(s.Unknown()),
  responses: { 200: s.success() },
  throws: [Forbidden, NotFound],
  async handle({ params, caller }, { commentEdits }) {
    await commentEdits.remove(params.id, caller)
    return { status: 200, body: { status: 'success' } }
  },
})

const listOf = (kind: Kind, plural: string) =>
  route({
    method: 'GET',
    path: `/api/${plural}/:id/comments`,
    summary: `List the comments on a ${kind}, oldest first`,
    description:
      'An addition to Clowder 1.x, which has no route to read comments. Replies are included and name the comment they reply to. Paginated by the `Link` header.',
    permission: { right: 'ViewComments', on: ref(kind, 'id') },
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
  summary: 'Notify a user mentioned in a comment',
  description:
    'For clients that detect mentions (`@`) themselves; posting the comment does the same, and the user is notified once. The entry is in the feed of the mentioned user, who must be able to view the resource. `resourceName` has no effect: the feed shows the name of the resource.',
  permission: { right: 'AddComment', on: resource },
  alsoRequires: [{ right: 'ViewUser', on: ref('user', 'userID') }],
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
    if (by !== query.commenterId) throw new Invalid('commenterId must be the id of the caller')
    const user = await users.get(query.userID)
    if (!user) throw new NotFound('user')
    const target = resource(query)
    const comment = (await comments.latestOf(target, by))?.id ?? null
    const isNotified = await mentions.notify({ user, by, target, comment })
    if (!isNotified) throw new Invalid(`This user may not view the ${target.kind} and is not notified`)
    return { status: 200, body: `Mention event added to user id ${query.userID}'s feed` }
  },
})
