import {
  type AccessDecision,
  and,
  type Caller,
  type Contributions,
  configPort,
  eq,
  Installation,
  isIn,
  isSuperAdmin,
  type Kind,
  type Membership,
  or,
  type Permission,
  type Policy,
  ReadAccess,
  type Ref,
  type Resource,
  Resources,
  s,
  type Where,
  wire,
} from 'pounce/sdk'
import { type CallerJob, capabilitiesBy, type TrashRule } from 'pounce/sdk/kit'
import type { SearchScope } from 'pounce/sdk/search'
import { Decision } from './decision.ts'
import { Explanation } from './explanation.ts'
import { extractionPermissions, placedPermissions } from './permission-sets.ts'
import { RightsReader } from './rights-graph.ts'
import { barred, includes, isOpen, isReading, JobKeyScope, type Mode, roleHolds, spacesHeld } from './rules.ts'

/** The rights without which words of a resource's annotations must not lead to it. */
const annotationRights = [
  ['metadata', 'ViewMetadata'],
  ['comments', 'ViewComments'],
  ['sections', 'ViewSection'],
] as const satisfies readonly (readonly [string, Permission])[]

/** Which of these permissions a role holds, as bits; cached by permission set, since the same set applies in very many spaces. */
const bitsHeld = (mode: Mode, permissions: readonly Permission[]): ((held: Membership) => number) => {
  const known = new Map<ReadonlySet<Permission>, number>()
  return held => {
    const found =
      known.get(held.permissions) ??
      permissions.reduce((bits, permission, at) => bits | (Number(roleHolds(mode, held, permission)) << at), 0)
    known.set(held.permissions, found)
    return found
  }
}

/**
 * Spaces in which all searchable kinds are visible, and those in which only some kinds are; and for each kind of annotation that is hidden in some of them
 * the spaces in which it may be viewed.
 */
const searchedSpaces = (mode: Mode, searched: readonly Resource[], memberships: readonly Membership[]) => {
  const count = annotationRights.length
  const heldBits = bitsHeld(mode, [...annotationRights.map(([, right]) => right), ...searched.map(({ view }) => view)])
  const bySpace = new Map<string, number>()
  for (const membership of memberships) bySpace.set(membership.space, (bySpace.get(membership.space) ?? 0) | heldBits(membership))
  const byBits = [...Map.groupBy(bySpace.keys(), space => bySpace.get(space) ?? 0)]
  const byKinds = Map.groupBy(byBits, ([bits]) => bits >> count)
  const spacesOf = (bits: number) => byKinds.get(bits)?.flatMap(([, spaces]) => spaces) ?? []
  const all = 2 ** searched.length - 1
  const inPart = [...byKinds.keys()].flatMap(bits => {
    const kinds = searched.filter((_, at) => (bits >> at) & 1).map(({ kind }) => kind)
    return bits === all || bits === 0 ? [] : [{ kinds, spaces: spacesOf(bits) }]
  })
  const annotated = annotationRights.flatMap(([name], at) => {
    const isShown = (bits: number): boolean => ((bits >> at) & 1) === 1
    const isHidden = byBits.some(([bits]) => bits >> count !== 0 && !isShown(bits))
    return isHidden ? [[name, byBits.flatMap(([bits, spaces]) => (isShown(bits) ? spaces : []))] as const] : []
  })
  return { spaces: spacesOf(all), ...(inPart.length === 0 ? {} : { inPart }), annotated }
}

export const config = s.Object({
  allowAnonymousDownload: s.Boolean({
    default: false,
    description: 'Anyone who may view a file may download it, anonymous callers included',
  }),
  makeGeostreamsPublicReadable: s.Boolean({ default: true, description: 'Anyone may read geostreams, on a private server too' }),
})

type Settings = s.Static<typeof config>

export const DownloadCapability = capabilitiesBy(configPort(config), ({ allowAnonymousDownload }) => ({
  anonymousDownload: allowAnonymousDownload,
}))

/** Rights from authorship, roles held in spaces and public flags (reference, api-platform §2, "Resource rules"). */
export class ResourcePolicy implements Policy {
  #access: ReadAccess
  #mode: Mode
  #reader: RightsReader

  constructor(
    settings: Settings,
    access: ReadAccess,
    resources: Contributions<Resource>,
    { permissions }: Pick<Installation, 'permissions'>,
  ) {
    this.#access = access
    this.#mode = {
      get isPrivate() {
        return access.isPrivate
      },
      isDownloadOpen: settings.allowAnonymousDownload,
      areGeostreamsOpen: settings.makeGeostreamsPublicReadable,
      permissions,
    }
    this.#reader = new RightsReader(resources)
  }

  get isPrivate(): boolean {
    return this.#access.isPrivate
  }

  can(caller: Caller, permission: Permission): AccessDecision {
    return this.#withoutResource(caller, permission).verdict
  }

  async canOn(caller: Caller, permission: Permission, ref: Ref, trash?: TrashRule): Promise<AccessDecision> {
    return (await this.#decision(caller, ref.kind, [ref.id])).decide(permission, ref, trash)
  }

  async allowed(
    caller: Caller,
    permission: Permission,
    kind: Kind,
    ids: readonly string[],
    trash?: TrashRule,
  ): Promise<ReadonlySet<string>> {
    if (ids.length === 0) return new Set()
    const decision = await this.#decision(caller, kind, ids)
    return new Set(ids.filter(id => decision.decide(permission, { kind, id }, trash) === 'yes'))
  }

  async held(
    caller: Caller,
    permissions: readonly Permission[],
    kind: Kind,
    ids: readonly string[],
    trash?: TrashRule,
  ): Promise<ReadonlyMap<string, readonly Permission[]>> {
    if (ids.length === 0) return new Map()
    const decision = await this.#decision(caller, kind, ids)
    return new Map(
      ids.flatMap(id => {
        const granted = permissions.filter(permission => decision.decide(permission, { kind, id }, trash) === 'yes')
        return granted.length > 0 ? [[id, granted] as const] : []
      }),
    )
  }

  async seen(caller: Caller, kind: Kind, ids: readonly string[], trash?: TrashRule): Promise<ReadonlySet<string>> {
    const resource = this.#reader.resourceOf(kind)
    return resource ? this.allowed(caller, resource.view, kind, ids, trash) : new Set()
  }

  async isInTrash(ref: Ref): Promise<boolean> {
    return (await this.#reader.read(ref.kind, [ref.id])).isInTrash(ref)
  }

  visibleTo(caller: Caller, permission: Permission): Where | 'all' | 'nothing' {
    if (barred(this.#mode, caller, permission)) return 'nothing'
    // Such a key can access single resources and their descendants, never a list of everything.
    if (caller.limits?.job) return 'nothing'
    const condition = this.#heldBy(caller, permission)
    const limit = caller.limits?.spaces
    if (limit === undefined || condition === 'nothing') return condition
    if (limit.size === 0) return 'nothing'
    const within = isIn('spaces', [...limit])
    const isHeldThroughout = condition === 'all' || limit.isSubsetOf(spacesHeld(this.#mode, caller, permission))
    return isHeldThroughout ? within : and(within, condition)
  }

  /** Ignores the scope of the key. */
  #heldBy(caller: Caller, permission: Permission): Where | 'all' | 'nothing' {
    if (isSuperAdmin(caller) || caller.via === 'service') return 'all'
    const reading = isReading(this.#mode, permission)
    if (isOpen(this.#mode, permission)) return 'all'
    const any: Where[] = []
    if (caller.user) {
      const spaces = spacesHeld(this.#mode, caller, permission)
      any.push(eq('author', caller.user.id))
      if (spaces.size > 0) any.push(isIn('spaces', [...spaces]))
    }
    if (reading) any.push(eq('isPublic', true))
    const [only] = any
    return only === undefined ? 'nothing' : any.length === 1 ? only : or(...any)
  }

  searchScope(caller: Caller): SearchScope {
    const searched = this.#reader.searched()
    if (searched.every(({ view }) => barred(this.#mode, caller, view) !== undefined))
      return { all: false, spaces: [], includePublic: false }
    if (caller.limits?.job) return { all: false, spaces: [], includePublic: false }
    const limit = caller.limits?.spaces
    const isAllowedAll = isSuperAdmin(caller) || caller.via === 'service'
    if (isAllowedAll || !this.isPrivate) {
      if (limit !== undefined) return { all: false, spaces: [...limit], includePublic: false }
      return { all: true, ...(isAllowedAll ? {} : { unplaced: caller.user ? { author: caller.user.id } : {} }) }
    }
    const within = limit === undefined ? {} : { within: [...limit] }
    const { user } = caller
    const closedKinds = searched.filter(({ view }) => view === 'ViewGeoStream' && !isOpen(this.#mode, view)).map(({ kind }) => kind)
    const open = { includePublic: true, ...(closedKinds.length === 0 ? {} : { closedKinds }) }
    if (!user) return { all: false, spaces: [], ...open }
    const { spaces, inPart, annotated } = searchedSpaces(this.#mode, searched, user.memberships)
    const withOwn = annotated.map(([name, shown]) => [name, [...shown, user.id]])
    return {
      ...{ all: false, spaces: [...spaces, user.id], ...open, author: user.id },
      ...(inPart ? { inPart } : {}),
      ...within,
      ...(withOwn.length > 0 ? { annotated: Object.fromEntries(withOwn) } : {}),
    }
  }

  async explain(
    caller: Caller,
    permission: Permission,
    ref?: Ref,
    reader = caller,
  ): Promise<{ verdict: AccessDecision; because: readonly string[] }> {
    if (ref === undefined) {
      const { verdict, because } = this.#withoutResource(caller, permission)
      return { verdict, because: [because] }
    }
    const seen = await this.#decision(reader, ref.kind, [ref.id])
    const isShown = (each: Ref): boolean => (each.kind === ref.kind && each.id === ref.id) || seen.shows(each)
    return new Explanation(await this.#decision(caller, ref.kind, [ref.id]), isShown).of(permission, ref)
  }

  async #decision(caller: Caller, kind: Kind, ids: readonly string[]): Promise<Decision> {
    const graph = await this.#reader.read(kind, ids)
    const job = caller.limits?.job
    return new Decision(this.#mode, graph, caller, job && (await this.#reachOf(job)))
  }

  async #reachOf(job: CallerJob): Promise<JobKeyScope> {
    return new JobKeyScope(this.#mode, job, await this.#reader.read('file', job.dataset === undefined ? [] : [job.target.id]))
  }

  #withoutResource(caller: Caller, permission: Permission): { verdict: AccessDecision; because: string } {
    const bar = barred(this.#mode, caller, permission)
    if (bar !== undefined) return { verdict: 'no', because: bar }
    if (caller.limits?.spaces && !placedPermissions.has(permission))
      return { verdict: 'no', because: `The key is limited to spaces, which excludes ${permission} without a resource` }
    if (isSuperAdmin(caller)) return { verdict: 'yes', because: 'superadmin mode is on' }
    if (caller.user) return { verdict: 'yes', because: `every active account holds ${permission} if no resource is named` }
    if (caller.via === 'service' && includes(this.#mode, extractionPermissions, permission))
      return { verdict: 'yes', because: `the communication key holds ${permission}` }
    if (isReading(this.#mode, permission) && !this.isPrivate)
      return { verdict: 'yes', because: `on a public server everyone holds ${permission}` }
    if (isOpen(this.#mode, permission)) return { verdict: 'yes', because: 'everyone may read geostreams' }
    return { verdict: 'no', because: `anonymous callers do not hold ${permission}` }
  }
}
wire(ResourcePolicy, configPort(config), ReadAccess, Resources, Installation)
