import { Comments, Invalid, type Kind, NotFound, one, Problem, routesFor, s, Users } from 'pounce/sdk'

const route = routesFor('comments', { comments: Comments, users: Users })

const params = s.Object({ id: s.id() })
const ShownComment = s.Object({
  id: s.String(),
  text: s.String(),
  author: s.Object({ id: s.String(), fullName: s.String() }),
  comment_id: s.Union([s.String(), s.Null()]),
  posted: s.v1Date(),
})

/** Clowder 1.x answers a comment without text with 404 on files and 400 on datasets; clients read the status. */
const statusWithoutText = { file: 404, dataset: 400 } as const

const addTo = (kind: 'file' | 'dataset', plural: string) =>
  route({
    method: 'POST',
    path: `/api/${plural}/:id/comment`,
    summary: `Comment on a ${kind}; the answer is the comment's id`,
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
  throws: [Invalid, NotFound],
  async handle({ params, body, caller }, { comments }) {
    const text = body.commentText.trim()
    if (text === '') throw new Invalid('commentText is empty: say what the comment is')
    const comment = await comments.get(params.id)
    if (!comment) throw new NotFound('comment')
    if (comment.author !== caller.user?.id) throw new Invalid('Only owner can edit the comment.')
    await comments.edit(params.id, text, caller.user.id)
    return { status: 200, body: { status: 'success' } }
  },
})

const listOf = (kind: Kind, plural: string) =>
  route({
    method: 'GET',
    path: `/api/${plural}/:id/comments`,
    summary: `The comments on a ${kind}, oldest first`,
    description: 'Our own addition: Clowder 1.x had no route that reads comments. The `Link` header leads to the next page.',
    permission: 'ViewComments',
    of: one(kind),
    params,
    query: s.Object({
      limit: s.Integer({ default: 100, minimum: 1, maximum: 1000 }),
      after: s.Optional(s.String({ pattern: '^[0-9TZ:.-]{24}_[0-9a-f]{24}$' })),
    }),
    responses: { 200: s.Array(ShownComment) },
    throws: [NotFound],
    async handle({ params, query, url }, { comments, users }) {
      const [posted, id] = query.after?.split('_') ?? []
      const page = await comments.of({ kind, id: params.id }, { limit: query.limit, ...(posted && id ? { after: [posted, id] } : {}) })
      const authors = await users.getMany([...new Set(page.items.map(comment => comment.author))])
      const body = page.items.map(({ id, text, author, parent, posted }) => {
        const user = authors.get(author)
        return {
          id,
          text,
          author: { id: author, fullName: user ? `${user.firstName} ${user.lastName}`.trim() : 'Anonymous User' },
          comment_id: parent,
          posted: s.toV1Date(posted),
        }
      })
      if (!page.next) return { status: 200, body }
      return { status: 200, body, headers: { link: `<${url.pathname}?limit=${query.limit}&after=${page.next.join('_')}>; rel="next"` } }
    },
  })

export const commentFile = addTo('file', 'files')
export const listFileComments = listOf('file', 'files')
export const commentDataset = addTo('dataset', 'datasets')
export const listDatasetComments = listOf('dataset', 'datasets')
