import {
  type After,
  type Caller,
  type Contributions,
  Forbidden,
  Installation,
  Invalid,
  NotFound,
  NotSignedIn,
  Policy,
  routesFor,
  s,
  signedIn,
  TreeBranches,
  wire,
} from 'pounce/sdk'
import { afterParameter, defaultJsonLimits, linkToNext, parseJson, type TreeBranch, type TreeNode, type TreeParent } from 'pounce/sdk/kit'

/** The order of the kinds below one parent; kinds of other plugins come last. */
const order: readonly TreeNode['kind'][] = ['space', 'folder', 'dataset', 'collection', 'file']

const icons: Readonly<Partial<Record<TreeNode['kind'], string>>> = {
  space: 'glyphicon glyphicon-hdd',
  collection: 'glyphicon glyphicon-th-large',
  dataset: 'glyphicon glyphicon-briefcase',
}

/** A node in the format of v1's tree. Folders have neither type nor icon, but their dataset in `data`. */
const show = ({ kind, id, name, hasChildren, data }: TreeNode) => {
  const { parentDataset, authorId, spaces } = data
  const about = { id, name, text: name, children: hasChildren }
  if (kind === 'folder') return { ...about, data: { type: 'folder', parentDataset } }
  return {
    ...about,
    type: kind,
    data: { type: kind },
    icon: icons[kind] ?? 'glyphicon glyphicon-file',
    ...(typeof authorId === 'string' ? { authorId } : {}),
    ...(Array.isArray(spaces) ? { spaces: spaces as string[] } : {}),
  }
}

interface Cursor {
  readonly kind: TreeNode['kind']
  /** Absent: start with the first of this kind. */
  readonly after?: After
}

const readCursor = (text: string, order: readonly TreeNode['kind'][]): Cursor => {
  try {
    const { kind, after } = parseJson(Buffer.from(text, 'base64url'), defaultJsonLimits) as Cursor
    if (order.includes(kind) && after === undefined) return { kind }
    if (order.includes(kind) && Array.isArray(after) && after.every(part => part === null || typeof part !== 'object'))
      return { kind, after }
  } catch (error) {
    throw new Invalid('after must be a cursor from a Link header', { cause: error })
  }
  throw new Invalid('after must be a cursor from a Link header')
}

/** Maximum number of branch pages read for one response; pages can be short because of hidden resources. */
const maxPages = 16

const pageSize = 250

/** Combines the branches of all resource plugins, page by page. */
class ResourceTree {
  #branches: Contributions<TreeBranch>
  #policy: Policy

  constructor(branches: Contributions<TreeBranch>, policy: Policy) {
    this.#branches = branches
    this.#policy = policy
  }

  async below(parent: TreeParent, caller: Caller, page: { readonly after?: string; readonly limit: number }) {
    await this.#check(parent, caller)
    const branches = this.#branches.all()
    const kinds = [...new Set([...order, ...branches.map(each => each.kind)])]
    const start = page.after === undefined ? undefined : readCursor(page.after, kinds)
    const nodes: ReturnType<typeof show>[] = []
    let pages = 0
    for (const kind of kinds.slice(start ? kinds.indexOf(start.kind) : 0)) {
      const branch = branches.find(each => each.kind === kind)
      if (!branch) continue
      let after = start?.kind === kind ? start.after : undefined
      do {
        const left = page.limit - nodes.length
        if (left === 0 || pages === maxPages) return { nodes, next: cursor(kind, after) }
        pages += 1
        const found = await branch.below(parent, caller, { limit: Math.min(left, pageSize), ...(after ? { after } : {}) })
        nodes.push(...found.items.map(show))
        after = found.next
      } while (after)
    }
    return { nodes, next: undefined }
  }

  async #check({ kind, id = '' }: TreeParent, caller: Caller): Promise<void> {
    if (kind === 'root') return
    if (!(await this.#policy.seen(caller, kind, [id])).has(id)) throw new NotFound(kind)
  }
}
wire(ResourceTree, TreeBranches, Policy)

const cursor = (kind: TreeNode['kind'], after: After | undefined): string =>
  Buffer.from(JSON.stringify({ kind, after })).toString('base64url')

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
    signedIn(caller)
    const { nodeType: kind, nodeId: id, mine, limit, after } = query
    if (kind !== 'root' && id === undefined) throw new Invalid(`nodeId is missing: the id of the parent ${kind}`)
    const page = await tree.below({ kind, mine, ...(id === undefined ? {} : { id }) }, caller, { limit, ...(after ? { after } : {}) })
    return { status: 200, body: page.nodes, ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
  },
})
