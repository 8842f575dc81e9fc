import type { TestFn } from 'ava'
import { type Caller, Callers, NotFound, NotSignedIn, type Permission, Policy, type Ref, type Resource, Resources } from 'pounce/sdk'
import type { Credentials } from 'pounce/sdk/kit'
import type { CallerName, WrongCredentials } from './callers.ts'
import { newCounts, runRefusals } from './matrix.ts'
import type { Mode } from './oracle/letters.ts'
import type { MatrixRoute } from './routes.ts'
import { newTrash, type World } from './world.ts'

type Declaration = MatrixRoute['declaration']

/** Removes a defect. */
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

export const inRoute =
  (name: string, members: (declaration: Declaration, world: World) => { readonly [M in keyof Declaration]?: unknown }) =>
  (world: World): Undo => {
    const route = world.routes.find(each => each.name === name)
    if (!route) throw new Error(`Unknown route ${name}`)
    return changed(route.declaration, members(route.declaration, world))
  }

/** Replaces a route's permission, or the resource that it is checked on. */
export const inRight = (name: string, members: { readonly right?: Permission; readonly on?: unknown; readonly unscoped?: string }) =>
  inRoute(name, ({ permission }) => ({ permission: { ...(permission as object), ...members } }))

export const inCaller =
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

export const inUser = (members: (user: NonNullable<Caller['user']>) => Partial<NonNullable<Caller['user']>>) =>
  inCaller(({ user }) => (user ? { user: { ...user, ...members(user) } } : {}))

export const inPolicy =
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

export const inRights =
  (kind: Ref['kind'], rightsOf: (source: Resource['rightsOf']) => Resource['rightsOf']) =>
  (world: World): Undo => {
    const source = world.server
      .get(Resources)
      .all()
      .find(each => each.kind === kind)
    if (!source) throw new Error(`No rights are declared for ${kind}`)
    return changed(source, { rightsOf: rightsOf(source.rightsOf.bind(source)) })
  }

/** Gives callers who are refused everywhere the rights of the space's admin. */
export const lettingIn =
  (outcast: CallerName) =>
  (world: World): Undo => {
    const callers = world.server.get(Callers)
    const { identify } = callers
    const bad = world.credentials.get(outcast)?.headers['x-api-key']
    const good = String(world.credentials.get('spaceAdmin')?.headers['x-api-key'])
    const changedKey = (sent: Credentials): Credentials => (sent.headerKey === bad ? { ...sent, headerKey: good } : sent)
    return changed(callers, { identify: (sent: Credentials) => identify.call(callers, changedKey(sent)) })
  }

/** Refuses invalid credentials on routes that do not require any. */
export const shuttingOut =
  (wrong: WrongCredentials) =>
  (world: World): Undo => {
    const callers = world.server.get(Callers)
    const { identify } = callers
    const bad = world.credentials.get(wrong)?.headers['x-api-key']
    return changed(callers, {
      identify: async (sent: Credentials) => {
        if (sent.headerKey === bad) throw new NotSignedIn()
        return identify.call(callers, sent)
      },
    })
  }

export const without = (name: 'verbs' | 'spaces') =>
  inCaller(({ limits }) => (limits ? { limits: Object.fromEntries(Object.entries(limits).filter(([limit]) => limit !== name)) } : {}))

/** Replaces the policy's access decision on resources in the trash. */
export const inTrash =
  (verdictOn: (permission: string, ref: Ref) => Awaited<ReturnType<Policy['canOn']>> | undefined) => (world: World) => {
    const ids = new Set([world.standing['trashed'], world.standing['trashedShared']].flatMap(found => Object.values(found ?? {})))
    const put = inPolicy(policy => ({
      canOn: async (caller, permission, ref) =>
        (ids.has(ref.id) ? verdictOn(permission, ref) : undefined) ?? policy.canOn(caller, permission, ref),
    }))
    return put(world)
  }

/** A handler whose response for a hidden dataset differs from that for an absent one. */
export const telling =
  (handle: Declaration['handle']): Declaration['handle'] =>
  async (request, needs) => {
    const ref = { kind: 'dataset', id: String((request.params as { readonly id: unknown }).id) } as const
    const policy = request.resolve(Policy)
    if ((await policy.canOn(request.caller, 'ViewDataset', ref)) === 'yes') return handle(request, needs)
    const rights = await request
      .resolve(Resources)
      .all()
      .find(each => each.kind === 'dataset')
      ?.rightsOf([ref.id])
    throw new NotFound(rights?.has(ref.id) ? 'hidden dataset' : 'dataset')
  }

/** A defect that is injected into a running server and must be detected. */
export interface Defect {
  readonly mode?: Mode
  /** The caller who gets too much access. */
  readonly who: CallerName
  readonly put: (world: World) => Undo
  /** It permits changes in the trash, and is therefore tested on separate resources. */
  readonly isInTrash?: true
  /** Routes to request. */
  readonly routes: readonly string[]
}

/** Disagreements of the matrix with the routes, for one caller. */
const disagreementsOn = async (world: World, names: readonly string[], who: CallerName): Promise<readonly string[]> => {
  const counts = newCounts()
  const routes = world.routes.filter(({ name }) => names.includes(name))
  await runRefusals(world, counts, routes, ({ caller }) => caller === who)
  return counts.disagreements.filter(text => text.startsWith(`${who} `))
}

/** Registers a test of each defect; all are injected into one server per mode. */
export const defectTests = (
  test: TestFn,
  worlds: Readonly<Partial<Record<Mode, World>>>,
  usual: Mode,
  defects: Readonly<Record<string, Defect>>,
): void => {
  for (const [title, { mode = usual, who, put, isInTrash, routes }] of Object.entries(defects))
    test.serial(`a defect is found: ${title}`, async t => {
      const usualWorld = worlds[mode]
      if (!usualWorld) throw new Error(`There is no ${mode} world`)
      const world = isInTrash ? { ...usualWorld, standing: { ...usualWorld.standing, ...(await newTrash(usualWorld)) } } : usualWorld
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
}
