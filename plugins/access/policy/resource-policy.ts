import {
  type Caller,
  type Contributions,
  configPort,
  eq,
  Installation,
  isIn,
  type Kind,
  or,
  type Permission,
  type Policy,
  type Ref,
  RightsOf,
  type SearchScope,
  s,
  type Verdict,
  type Where,
  wire,
} from 'pounce/sdk'
import { Decision } from './decision.ts'
import { extractionPermissions } from './permission-sets.ts'
import { RightsReader } from './rights-graph.ts'
import { barred, isReading, type Mode, roleHolds } from './rules.ts'

export const config = s.Object({
  allowAnonymousDownload: s.Boolean({ default: false, description: 'Whoever may look at a file may also download it, signed in or not' }),
  makeGeostreamsPublicReadable: s.Boolean({ default: true, description: 'Anybody may read geostreams, on a private server too' }),
})
type Settings = s.Static<typeof config>

const searchable: readonly Permission[] = ['ViewDataset', 'ViewFile', 'ViewCollection']

/** Rights from authorship, roles held in spaces and public flags (reference, api-platform §2, "Resource rules"). */
export class ResourcePolicy implements Policy {
  readonly isPrivate: boolean
  #mode: Mode
  #areGeostreamsOpen: boolean
  #reader: RightsReader

  constructor(settings: Settings, installation: Installation, sources: Contributions<RightsOf>) {
    this.isPrivate = installation.isPrivate
    this.#mode = { isPrivate: installation.isPrivate, isDownloadOpen: settings.allowAnonymousDownload }
    this.#areGeostreamsOpen = settings.makeGeostreamsPublicReadable
    this.#reader = new RightsReader(sources)
  }

  can(caller: Caller, permission: Permission): Verdict {
    return this.#withoutResource(caller, permission).verdict
  }

  async canOn(caller: Caller, permission: Permission, ref: Ref): Promise<Verdict> {
    const graph = await this.#reader.read(ref.kind, [ref.id])
    return new Decision(this.#mode, graph, caller).verdict(permission, ref)
  }

  async allowed(caller: Caller, permission: Permission, kind: Kind, ids: readonly string[]): Promise<ReadonlySet<string>> {
    if (ids.length === 0) return new Set()
    const graph = await this.#reader.read(kind, ids)
    const decision = new Decision(this.#mode, graph, caller)
    return new Set(ids.filter(id => decision.verdict(permission, { kind, id }) === 'yes'))
  }

  visibleTo(caller: Caller, permission: Permission): Where | 'all' | 'nothing' {
    if (caller.superAdmin) return 'all'
    if (barred(caller, permission)) return 'nothing'
    const reading = isReading(this.#mode, permission)
    if (caller.via === 'service' || (reading && !this.isPrivate)) return 'all'
    const any: Where[] = []
    if (caller.user) {
      const spaces = caller.user.memberships.filter(held => roleHolds(this.#mode, held, permission)).map(held => held.space)
      any.push(eq('author', caller.user.id))
      if (spaces.length > 0) any.push(isIn('spaces', spaces))
    }
    if (reading) any.push(eq('isPublic', true))
    const [only] = any
    return only === undefined ? 'nothing' : any.length === 1 ? only : or(...any)
  }

  searchScope(caller: Caller): SearchScope {
    if (caller.superAdmin) return { all: true }
    if (caller.user?.status === 'Inactive') return { all: false, spaces: [], includePublic: false }
    if (!this.isPrivate || caller.via === 'service') return { all: true }
    const spaces = (caller.user?.memberships ?? [])
      .filter(held => searchable.some(permission => held.permissions.has(permission)))
      .map(held => held.space)
    if (!caller.user) return { all: false, spaces, includePublic: true }
    return { all: false, spaces: [...spaces, caller.user.id], includePublic: true, author: caller.user.id }
  }

  async explain(caller: Caller, permission: Permission, ref?: Ref): Promise<{ verdict: Verdict; because: readonly string[] }> {
    if (ref === undefined) {
      const { verdict, because } = this.#withoutResource(caller, permission)
      return { verdict, because: [because] }
    }
    const graph = await this.#reader.read(ref.kind, [ref.id])
    return new Decision(this.#mode, graph, caller).explain(permission, ref)
  }

  #withoutResource(caller: Caller, permission: Permission): { verdict: Verdict; because: string } {
    const bar = barred(caller, permission)
    if (bar !== undefined) return { verdict: 'no', because: bar }
    if (caller.superAdmin) return { verdict: 'yes', because: 'superadmin mode is on' }
    if (caller.user) return { verdict: 'yes', because: `an active account holds ${permission} where no resource is named` }
    if (caller.via === 'service' && extractionPermissions.has(permission))
      return { verdict: 'yes', because: `the service key holds ${permission}` }
    if (isReading(this.#mode, permission) && !this.isPrivate)
      return { verdict: 'yes', because: `on a public server everybody holds ${permission}` }
    if (permission === 'ViewGeoStream' && this.#areGeostreamsOpen)
      return { verdict: 'yes', because: 'geostreams are readable by everybody' }
    return { verdict: 'no', because: `nobody is signed in, and ${permission} is not for everybody` }
  }
}
wire(ResourcePolicy, configPort(config), Installation, RightsOf)
