import { afterParameter, Forbidden, Installation, Invalid, linkToNext, NotFound, NotSignedIn, routesFor, s } from 'pounce/sdk'
import { Tree } from './tree.ts'

const route = routesFor('tree', { tree: Tree, installation: Installation })

const Node = s.Object({
  id: s.String(),
  name: s.String(),
  text: s.String(),
  children: s.Boolean(),
  type: s.Optional(s.String()),
  data: s.Record(s.String(), s.Unknown()),
  icon: s.Optional(s.String()),
  authorId: s.Optional(s.String()),
  spaces: s.Optional(s.Array(s.String())),
})

export const getChildrenOfNode = route({
  method: 'GET',
  path: '/api/tree/getChildrenOfNode',
  summary: 'What lies right below a thing',
  description:
    'Below `root`: the spaces one may see, and own collections and datasets that are in neither space nor collection. Further pages through the `Link` header.',
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
    if (kind !== 'root' && id === undefined) throw new Invalid(`nodeId is missing: the id of the ${kind} to look below`)
    const page = await tree.below({ kind, mine, ...(id === undefined ? {} : { id }) }, caller, { limit, ...(after ? { after } : {}) })
    return { status: 200, body: page.nodes, ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
  },
})
