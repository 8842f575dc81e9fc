import {
  type Caller,
  type Contributions,
  Forbidden,
  Installation,
  Invalid,
  type Kind,
  NotFound,
  type Permission,
  Policy,
  type Ref,
  type Resource,
  Resources,
  routesFor,
  s,
  wire,
} from 'pounce/sdk'
import { sensorIdOf, streamIdOf } from 'pounce/sdk/geo'
import { didYouMean, type OwnPermission, type PermissionCatalog } from 'pounce/sdk/kit'
import { PermissionExplainer } from './permission-explainer.ts'
import { sentences } from './permission-sentences.ts'

/** Checks which permissions a caller holds on many resources. */
class PermissionChecker {
  #policy: Policy

  constructor(policy: Policy) {
    this.#policy = policy
  }

  /** The permissions held on each resource, in the order of the request. */
  async check(caller: Caller, permissions: readonly Permission[], on: readonly Ref[]): Promise<readonly (readonly Permission[])[]> {
    const byKind = new Map<Kind, ReadonlyMap<string, readonly Permission[]>>()
    for (const [kind, some] of Map.groupBy(on, ref => ref.kind)) {
      // Some permissions are open to everyone on every resource, and would reveal that a hidden one exists.
      const seen = await this.#policy.seen(caller, kind, [...new Set(some.map(({ id }) => id))])
      byKind.set(kind, await this.#policy.held(caller, permissions, kind, [...seen]))
    }
    return on.map(({ kind, id }) => byKind.get(kind)?.get(id) ?? [])
  }
}
wire(PermissionChecker, Policy)

const kinds = [
  ...(['space', 'collection', 'dataset', 'folder', 'file', 'section', 'preview', 'thumbnail'] as const),
  ...(['metadata', 'comment', 'relation', 'vocabulary', 'term', 'user', 'sensor', 'stream'] as const),
] satisfies readonly Kind[]

const readPermission = (permissions: PermissionCatalog, name: string): Permission => {
  if (permissions.has(name)) return name
  throw new Invalid(`Unknown permission ${name}${didYouMean(name, permissions.names)}`)
}
const describe = (permissions: PermissionCatalog, name: Permission): string =>
  permissions.descriptionOf(name) ?? sentences[name as OwnPermission]
/** The built-in kinds, and those that other plugins declare. */
class KnownKinds {
  readonly #resources: Contributions<Resource>

  constructor(resources: Contributions<Resource>) {
    this.#resources = resources
  }

  read(name: string): Kind {
    const all = new Set<Kind>([...kinds, ...this.#resources.all().flatMap(({ kind, events }) => (events.length > 0 ? [kind] : []))])
    const kind = [...all].find(each => each === name)
    if (kind !== undefined) return kind
    throw new Invalid(`Unknown type ${name}${didYouMean(name, all)}; type must be one of ${[...all].join(', ')}`)
  }
}
wire(KnownKinds, Resources)

const route = routesFor('permissions', {
  explaining: PermissionExplainer,
  permissionChecker: PermissionChecker,
  kindsKnown: KnownKinds,
  installation: Installation,
})

/** Sensors and streams are identified by their numbers; an invalid number identifies nothing. */
const readThing = (known: KnownKinds, type: string, id: string): Ref => {
  const kind = known.read(type)
  if (kind !== 'sensor' && kind !== 'stream') return { kind, id }
  const idOf = kind === 'sensor' ? sensorIdOf : streamIdOf
  return { kind, id: /^[1-9]\d{0,14}$/.test(id) ? idOf(Number(id)) : 'none' }
}

export const listPermissions = route({
  method: 'GET',
  path: '/api/permissions',
  summary: 'List all permissions',
  description: 'An addition to Clowder 1.x. The verb is used by API keys that are limited to verbs.',
  permission: 'signedIn',
  limitedKeys: 'allowed',
  responses: { 200: s.Array(s.model('Permission', s.Object({ name: s.String(), description: s.String(), verb: s.String() }))) },
  async handle(_request, { installation: { permissions } }) {
    const names = [...permissions.names].filter(name => permissions.has(name))
    const body = names.map(name => ({ name, description: describe(permissions, name), verb: permissions.verbOf(name) ?? '' }))
    return { status: 200, body }
  },
})

export const checkPermissions = route({
  method: 'POST',
  path: '/api/permissions/check',
  summary: 'Check the permissions of the caller on many resources',
  description:
    'An addition to Clowder 1.x. Evaluates the same rules as any route, for the caller with the current key; nothing is changed. One item per resource, in the order of the request. A resource that does not exist is like one that the caller may not view: no permission.',
  permission: 'reader',
  limitedKeys: 'allowed',
  body: s.model(
    'PermissionCheck',
    s.Object({
      resources: s.Array(
        s.Object({ type: s.String({ maxLength: 100, description: `One of ${kinds.join(', ')}` }), id: s.String({ maxLength: 100 }) }),
        { maxItems: 1000 },
      ),
      permissions: s.Optional(
        s.Array(s.String({ maxLength: 100 }), { minItems: 1, maxItems: 100, description: 'Permissions to check; default: all' }),
      ),
    }),
  ),
  responses: {
    200: s.Array(s.model('HeldPermissions', s.Object({ type: s.String(), id: s.String(), permissions: s.Array(s.String()) }))),
  },
  throws: [Invalid],
  async handle({ body, caller }, { permissionChecker, installation, kindsKnown }) {
    const { permissions: known } = installation
    const permissions = [...new Set(body.permissions ?? known.names)].map(name => readPermission(known, name))
    const resources = body.resources.map(({ type, id }) => readThing(kindsKnown, type, id))
    const granted = await permissionChecker.check(caller, permissions, resources)
    return { status: 200, body: body.resources.map(({ type, id }, at) => ({ type, id, permissions: [...(granted[at] ?? [])] })) }
  },
})

export const explainPermission = route({
  method: 'GET',
  path: '/api/permissions/explain',
  summary: 'Explain why a user has or lacks a permission',
  description:
    'An addition to Clowder 1.x. Evaluates the same rules as any route, and returns those that led to the result: `yes`, `no` (403), or `unseen` (404, as if it did not exist). For the caller with the current key, or for anonymous callers; server admins for any user. Without `id` it evaluates a permission that applies to no single resource.',
  permission: 'signedIn',
  limitedKeys: 'allowed',
  query: s.Object({
    permission: s.String({ maxLength: 100, description: 'Such as `EditDataset`; see `GET /api/permissions`' }),
    user: s.Optional(s.String({ maxLength: 100, description: 'Id of an account, or `anonymous`; default: the caller' })),
    type: s.Optional(s.String({ maxLength: 100, description: `One of ${kinds.join(', ')}` })),
    id: s.Optional(s.String({ maxLength: 100, description: 'Id of a resource of that type; for sensors and streams the number' })),
  }),
  responses: {
    200: s.model(
      'PermissionExplanation',
      s.Object({
        user: s.Union([s.Object({ id: s.String(), fullName: s.String() }), s.Null()]),
        permission: s.String(),
        verb: s.String(),
        resource: s.Union([s.Object({ type: s.String(), id: s.String() }), s.Null()]),
        verdict: s.Union([s.Literal('yes'), s.Literal('no'), s.Literal('unseen'), s.Literal('frozen')]),
        because: s.Array(s.String(), { description: 'Rules in the order of evaluation' }),
      }),
    ),
  },
  throws: [Invalid, Forbidden, NotFound],
  async handle({ query, caller }, { explaining, kindsKnown, installation: { permissions } }) {
    const permission = readPermission(permissions, query.permission)
    if ((query.type === undefined) !== (query.id === undefined)) throw new Invalid('type and id must be sent together')
    const on = query.type === undefined || query.id === undefined ? undefined : readThing(kindsKnown, query.type, query.id)
    const { user, verdict, because } = await explaining.explain(caller, { user: query.user, permission, on })
    const resource = on && query.id !== undefined ? { type: on.kind, id: query.id } : null
    return { status: 200, body: { user, permission, verb: permissions.verbOf(permission) ?? '', resource, verdict, because: [...because] } }
  },
})
