import test from 'ava'
import { type Caller, Callers, type Credentials, NotFound, Policy, type Ref, RightsOf } from 'pounce/sdk'
import type { CallerName } from './callers.ts'
import { newCounts, runRefusals } from './matrix.ts'
import type { Mode } from './oracle/verdicts.ts'
import type { MatrixRoute } from './routes.ts'
import { makeWorld, type World } from './world.ts'

const worlds: Readonly<Record<Mode, World>> = { private: await makeWorld('private'), public: await makeWorld('public') }
test.after.always(() => Promise.all(Object.values(worlds).map(world => world.stop())))

type Declaration = MatrixRoute['declaration']

/** Takes a defect out again. */
type Undo = () => void

const changed = <T extends object>(target: T, members: { readonly [M in keyof T]?: unknown }): Undo => {
  const own = Object.keys(members).filter(name => Object.hasOwn(target, name))
  const before = Object.fromEntries(own.map(name => [name, target[name as keyof T]]))
  Object.assign(target, members)
  return () => {
    for (const name of Object.keys(members)) if (!own.includes(name)) Reflect.deleteProperty(target, name)
    Object.assign(target, before)
  }
}

const inRoute =
  (name: string, members: (declaration: Declaration, world: World) => { readonly [M in keyof Declaration]?: unknown }) =>
  (world: World): Undo => {
    const route = world.routes.find(each => each.name === name)
    if (!route) throw new Error(`There is no route ${name}`)
    return changed(route.declaration, members(route.declaration, world))
  }

const inCaller =
  (members: (caller: Caller) => Partial<Caller>) =>
  (world: World): Undo => {
    const callers = world.server.get(Callers)
    const { identify } = callers
    return changed(callers, {
      identify: async (sent: Credentials) => {
        const caller = await identify.call(callers, sent)
        return { ...caller, ...members(caller) }
      },
    })
  }

const inUser = (members: (user: NonNullable<Caller['user']>) => Partial<NonNullable<Caller['user']>>) =>
  inCaller(({ user }) => (user ? { user: { ...user, ...members(user) } } : {}))

const inPolicy =
  (members: (policy: Policy) => Partial<Policy>) =>
  (world: World): Undo => {
    const policy = world.server.get(Policy)
    const bound = {
      canOn: policy.canOn.bind(policy),
      allowed: policy.allowed.bind(policy),
      visibleTo: policy.visibleTo.bind(policy),
      searchScope: policy.searchScope.bind(policy),
    }
    return changed(policy, members({ ...policy, ...bound } as Policy))
  }

const inRights =
  (kind: Ref['kind'], rightsOf: (source: RightsOf['rightsOf']) => RightsOf['rightsOf']) =>
  (world: World): Undo => {
    const source = world.server
      .get(RightsOf)
      .all()
      .find(each => each.kind === kind)
    if (!source) throw new Error(`Nothing says the rights of a ${kind}`)
    return changed(source, { rightsOf: rightsOf(source.rightsOf.bind(source)) })
  }

/** Whoever is not let in does what the admin of the space does. */
const lettingIn =
  (outcast: CallerName) =>
  (world: World): Undo => {
    const callers = world.server.get(Callers)
    const { identify } = callers
    const bad = world.credentials.get(outcast)?.headers['x-api-key']
    const good = String(world.credentials.get('spaceAdmin')?.headers['x-api-key'])
    const changedKey = (sent: Credentials): Credentials => (sent.headerKey === bad ? { ...sent, headerKey: good } : sent)
    return changed(callers, { identify: (sent: Credentials) => identify.call(callers, changedKey(sent)) })
  }

const without = (name: 'verbs' | 'spaces') =>
  inCaller(({ limits }) => (limits ? { limits: Object.fromEntries(Object.entries(limits).filter(([limit]) => limit !== name)) } : {}))

/** A handler whose answer about a hidden dataset is other than that about none. */
const telling =
  (handle: Declaration['handle']): Declaration['handle'] =>
  async (request, needs) => {
    const ref = { kind: 'dataset', id: String((request.params as { readonly id: unknown }).id) } as const
    const policy = request.resolve(Policy)
    if ((await policy.canOn(request.caller, 'ViewDataset', ref)) === 'yes') return handle(request, needs)
    const rights = await request
      .resolve(RightsOf)
      .all()
      .find(each => each.kind === 'dataset')
      ?.rightsOf([ref.id])
    throw new NotFound(rights?.has(ref.id) ? 'hidden dataset' : 'dataset')
  }

interface Defect {
  readonly mode?: Mode
  /** Who gets further than they should. */
  readonly who: CallerName
  readonly put: (world: World) => Undo
  /** Routes that are asked. */
  readonly routes: readonly string[]
}

/** Those that let something be changed come last, and each of them lets in one caller alone: what is spoilt for that one is not for the next. */
const defects: Readonly<Record<string, Defect>> = {
  'an empty permit list means everything': {
    who: 'readOnly',
    put: inPolicy(policy => ({
      visibleTo: (caller, permission) => {
        const where = policy.visibleTo(caller, permission)
        return where === 'nothing' ? 'all' : where
      },
    })),
    routes: ['listEditableDatasets'],
  },
  'a list leaves out the condition': {
    who: 'stranger',
    put: inPolicy(() => ({ visibleTo: () => 'all' })),
    routes: ['listDatasets', 'listCollections'],
  },
  'no id of a batch is checked': {
    who: 'viewer',
    put: inPolicy(() => ({ allowed: async (_caller, _permission, _kind, ids) => new Set(ids) })),
    routes: ['getMetadataOfFiles'],
  },
  'what is in the trash counts as live': {
    who: 'editor',
    put: inRights(
      'dataset',
      rightsOf => async ids => new Map([...(await rightsOf(ids))].map(([id, rights]) => [id, { ...rights, state: 'live' }])),
    ),
    routes: ['getDataset', 'getDatasetTags'],
  },
  'inactive accounts are let in': { who: 'inactive', put: lettingIn('inactive'), routes: ['getDataset'] },
  'a revoked key is as good as before': { who: 'revoked', put: lettingIn('revoked'), routes: ['getDataset'] },
  'nobody asks for the terms of service': {
    who: 'termsPending',
    put: inUser(() => ({ termsPending: undefined }) as never),
    routes: ['getDataset'],
  },
  'server admins need not ask for superadmin mode': {
    who: 'serverAdmin',
    put: inCaller(({ user }) => ({ superAdmin: user?.status === 'Admin' })),
    routes: ['getDataset'],
  },
  'an extraction key deals with keys': {
    who: 'extractor',
    put: inCaller(() => ({ scope: 'full' })),
    routes: ['listKeys', 'getKey'],
  },
  'a key held to a space reaches all': { who: 'otherSpaceKey', put: without('spaces'), routes: ['getFileInfo'] },
  'private mode is forgotten in one list': {
    who: 'anonymous',
    put: inRoute('listDatasets', () => ({ permission: 'anyone' })),
    routes: ['listDatasets'],
  },
  'search shows what it finds without a look at the rights': {
    who: 'stranger',
    put: inPolicy(() => ({ searchScope: () => ({ all: true }), allowed: async (_caller, _permission, _kind, ids) => new Set(ids) })),
    routes: ['search'],
  },
  'a derived thing does not ask its parent': {
    who: 'stranger',
    put: inRoute('getPreviewInfo', () => ({ of: undefined, permission: 'signedIn' })),
    routes: ['getPreviewInfo'],
  },
  'a hidden thing is forbidden, not absent': {
    who: 'stranger',
    put: inPolicy(policy => ({
      canOn: async (caller, permission, ref) => {
        const verdict = await policy.canOn(caller, permission, ref)
        return verdict === 'unseen' ? 'no' : verdict
      },
    })),
    routes: ['getDataset'],
  },
  'the answer about a hidden thing tells that there is one': {
    who: 'stranger',
    put: inRoute('getDatasetTags', ({ handle }) => ({ of: undefined, permission: 'anyone', handle: telling(handle) })),
    routes: ['getDatasetTags'],
  },
  'a route of a space is open to all who see it': {
    who: 'viewer',
    put: inRoute('getSpaceExtractors', () => ({ permission: 'ViewSpace' })),
    routes: ['getSpaceExtractors'],
  },
  'an admin route is open to everybody who is signed in': {
    who: 'editor',
    put: inRoute('listUsers', () => ({ permission: 'signedIn' })),
    routes: ['listUsers'],
  },
  'on a public server everybody may download': {
    who: 'stranger',
    mode: 'public',
    put: inRoute('downloadDatasetFolder', () => ({ permission: 'ViewDataset' })),
    routes: ['downloadDatasetFolder'],
  },
  'a wrong id is not answered like an unknown one': {
    who: 'stranger',
    put: inRoute('getCollection', () => ({ of: ({ id }: { id: string }) => ({ kind: id.startsWith('f') ? 'space' : 'collection', id }) })),
    routes: ['getCollection'],
  },
  'accounts that only read may write': {
    who: 'readOnly',
    put: inUser(({ status }) => ({ status: status === 'ReadOnly' ? 'Active' : status })),
    routes: ['commentFile'],
  },
  'a key that only reads writes': { who: 'readKey', put: without('verbs'), routes: ['describeFile'] },
  'a change takes only the right to look': {
    who: 'viewer',
    put: inRoute('describeCollection', () => ({ permission: 'ViewCollection' })),
    routes: ['describeCollection'],
  },
  'a right is checked on nothing in particular': {
    who: 'stranger',
    put: inRoute('describeDataset', () => ({ of: undefined })),
    routes: ['describeDataset'],
  },
  'one of two ids is checked twice': {
    who: 'editor',
    put: inRoute('addDatasetToCollection', ({ of }) => ({ also: [{ permission: 'ViewCollection', of }] })),
    routes: ['addDatasetToCollection'],
  },
  'what is attached is not checked': {
    who: 'viewer',
    put: inRoute('attachFileToDataset', () => ({ also: [] })),
    routes: ['attachFileToDataset'],
  },
  'only the first id of a batch is checked': {
    who: 'grouped',
    put: inPolicy(policy => {
      const checked = new WeakSet<Caller>()
      return {
        canOn: async (caller, permission, ref) => {
          if (permission !== 'EditFile') return policy.canOn(caller, permission, ref)
          const verdict = checked.has(caller) ? 'yes' : await policy.canOn(caller, permission, ref)
          checked.add(caller)
          return verdict
        },
      }
    }),
    routes: ['attachFilesToDataset'],
  },
  'one end of a move is not checked': {
    who: 'stranger',
    put: inRoute('moveFolder', () => ({ of: ({ id }: { id: string }) => ({ kind: 'dataset', id }) })),
    routes: ['moveFolder'],
  },
}

/** What the matrix says against the routes, as one caller finds them. */
const disagreementsOn = async (world: World, names: readonly string[], who: CallerName): Promise<readonly string[]> => {
  const counts = newCounts()
  const routes = world.routes.filter(({ name }) => names.includes(name))
  await runRefusals(world, counts, routes, ({ caller }) => caller === who)
  return counts.disagreements.filter(text => text.startsWith(`${who} `))
}

for (const [title, { mode = 'private', who, put, routes }] of Object.entries(defects))
  test.serial(`a defect is found: ${title}`, async t => {
    const world = worlds[mode]
    t.deepEqual(await disagreementsOn(world, routes, who), [], 'without the defect')
    const undo = put(world)
    try {
      const found = await disagreementsOn(world, routes, who)
      t.true(found.length > 0)
      t.log(`${found.length}, such as ${found[0]?.slice(0, 200)}`)
    } finally {
      undo()
    }
  })

test('there are more than twenty defects', t => t.true(Object.keys(defects).length > 20))
