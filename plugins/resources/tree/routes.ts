import { afterParameter, Forbidden, Installation, Invalid, linkToNext, NotFound, NotSignedIn, routesFor, s } from 'pounce/sdk'
import { ResourceTree } from './tree.ts'

const route = routesFor('tree', { tree: ResourceTree, installation: Installation })

const Node = s.model(
  'TreeNode',
  s.Object({
    id: s.String(),
    name: s.String(),
    text: s.String(),
    children: s.Boolean(),
    type: s.Optional(s.String()),
    data: s.Record(s.String(), s.Unknown()),
    icon: s.Optional(s.String()),
    authorId: s.Optional(s.String()),
    spaces: s.Optional(s.Array(s.String())),
  }),
)

export const getChildrenOfNode = route({
  method: 'GET',
  path: '/api/tree/getChildrenOfNode',
  summary: 'List the children of a tree node',
  description:
    'Below `root`: the spaces that the caller may view, and their own collections and datasets that are in no space or collection. Paginated by the `Link` header.',
  permission: 'reader',
  query: s.Object({
    nodeType: s.Union([s.Literal('root'), s.Literal('space'), s.Literal('collection'), s.Literal('dataset'), s.Literal('folder')]),
    nodeId: s.Optional(s.String({ maxLength: 24 })),
    mine: s.flag(false),
    limit: s.Integer({ default: 1000, minimum: 1, maximum: 1000 }),
    after: afterParameter(4000),
  }),
  responses: { 200: s.Array(Node) },
  throws: [Invalid, NotFound, NotSignedIn, Forbidden],
  async handle({ query, caller, url }, { tree, installation }) {
    if (!caller.user) throw new NotSignedIn()
    const { nodeType: kind, nodeId: id, mine, limit, after } = query
    if (kind !== 'root' && id === undefined) throw new Invalid(`nodeId is missing: the id of the parent ${kind}`)
    const page = await tree.below({ kind, mine, ...(id === undefined ? {} : { id }) }, caller, { limit, ...(after ? { after } : {}) })
    return { status: 200, body: page.nodes, ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
  },
})
