import {
  type After,
  type Caller,
  configPort,
  isSuperAdmin,
  type Kind,
  NotSignedIn,
  type Page,
  type Permission,
  Policy,
  type Ref,
  type Stored,
  s,
  signedIn,
  Users,
  wire,
} from 'pounce/sdk'
import { peopleFor, ShownPerson } from 'pounce/sdk/kit'
import { config, type Settings } from './config.ts'
import { type ActivityRecord, FeedNames } from './feed-names.ts'
import { StoredActivity } from './stored-activity.ts'

/** The resources of a page of entries that one caller may view. */
interface VisibleResources {
  readonly allowed: ReadonlySet<string>
  readonly existing: ReadonlySet<string>
  /** Containers of deleted resources in which the caller holds the view permission, by permission. */
  readonly viewableContainers: ReadonlyMap<string, ReadonlySet<string>>
}

/** The kinds that everyone may view on a public server. */
const openKinds: ReadonlySet<Kind> = new Set<Kind>(['space', 'collection', 'dataset'])

/** Drops the entries whose resources the caller may not view now, regardless of what they could view at the time of the event. */
export class FeedVisibility {
  #policy: Policy
  #names: FeedNames

  constructor(policy: Policy, names: FeedNames) {
    this.#policy = policy
    this.#names = names
  }

  async visible(caller: Caller, lines: readonly Line[]): Promise<readonly Line[]> {
    const named = lines.flatMap(({ object, source }) => [...(object ? [object] : []), ...(source ? [source] : [])])
    const visible = { ...(await this.#readVisible(caller, named)), viewableContainers: await this.#viewableContainers(caller, lines) }
    return lines.filter(line => this.#isVisible(caller, line, visible)).map(line => withKnownNames(line, visible))
  }

  #isVisible(caller: Caller, line: Line, visible: VisibleResources): boolean {
    if (line.object === null) return line.user === caller.user?.id
    if (line.objectName === '') return false
    // A key limited to spaces does not return its owner's actions elsewhere.
    const isOwn = line.user === caller.user?.id && caller.limits?.spaces === undefined && !line.type.startsWith('mention_')
    const shows = (ref: Ref) => visible.allowed.has(ref.id) || (isOwn && !visible.existing.has(ref.id))
    if (line.source && !shows(line.source)) return false
    return shows(line.object) || (!visible.existing.has(line.object.id) && this.#wasVisible(line, visible))
  }

  /** Entries about deleted resources are visible to callers who may view the contents of their container. */
  #wasVisible({ type, object, within }: Line, { viewableContainers }: VisibleResources): boolean {
    if (!type.startsWith('delete_') || object === null) return false
    if (!this.#policy.isPrivate && openKinds.has(object.kind)) return true
    const view = this.#names.viewOf(object.kind)
    return view !== undefined && within.some(({ id }) => viewableContainers.get(view)?.has(id))
  }

  async #viewableContainers(caller: Caller, lines: readonly Line[]): Promise<VisibleResources['viewableContainers']> {
    const viewableContainers = new Map<string, Set<string>>()
    const removed = lines.flatMap(({ type, object, within }) => {
      const view = object && type.startsWith('delete_') ? this.#names.viewOf(object.kind) : undefined
      return view === undefined ? [] : within.map(place => ({ view, ...place }))
    })
    for (const [view, places] of Map.groupBy(removed, each => each.view))
      for (const [kind, some] of Map.groupBy(places, place => place.kind)) {
        const allowed = await this.#policy.allowed(caller, view, kind, [...new Set(some.map(({ id }) => id))])
        const ids = kind === 'space' ? [...allowed].filter(id => this.#viewsAllIn(caller, view, id)) : allowed
        viewableContainers.set(view, new Set([...(viewableContainers.get(view) ?? []), ...ids]))
      }
    return viewableContainers
  }

  /** On a private server a public space may contain private resources, which only its members view. */
  #viewsAllIn(caller: Caller, view: Permission, space: string): boolean {
    if (!this.#policy.isPrivate || isSuperAdmin(caller)) return true
    return caller.user?.memberships.some(one => one.space === space && one.permissions.has(view)) ?? false
  }

  async #readVisible(caller: Caller, named: readonly Ref[]): Promise<Omit<VisibleResources, 'viewableContainers'>> {
    const allowed = new Set<string>()
    for (const [kind, some] of Map.groupBy(named, ref => ref.kind)) {
      const ids = [...new Set(some.map(({ id }) => id))]
      for (const id of await this.#policy.seen(caller, kind, ids)) allowed.add(id)
    }
    const others = named.filter(({ id }) => !allowed.has(id))
    return { allowed, existing: new Set((await this.#names.of(others)).keys()) }
  }
}
wire(FeedVisibility, Policy, FeedNames)

/** Of a deleted resource, the names at the time of the entry: later ones may have been given when the reader could not view it. */
const withKnownNames = (line: Line, { allowed }: VisibleResources): Line => {
  const { object, source, objectName, sourceName, firstObjectName = objectName, firstSourceName = sourceName } = line
  return {
    ...line,
    objectName: object && allowed.has(object.id) ? objectName : firstObjectName,
    sourceName: source && allowed.has(source.id) ? sourceName : firstSourceName,
  }
}

type Line = ActivityRecord & Stored

/** An entry in the format of Clowder 1.x. */
export const LineJson = s.model(
  'Event',
  s.Object({
    id: s.String(),
    event_type: s.String(),
    user: ShownPerson,
    targetuser: s.Optional(ShownPerson),
    object_id: s.Optional(s.String()),
    object_name: s.Optional(s.String()),
    source_id: s.Optional(s.String()),
    source_name: s.Optional(s.String()),
    created: s.v1Date(),
  }),
)

type LineJson = s.Static<typeof LineJson>

interface FeedPageRequest {
  readonly limit: number
  readonly after: After | undefined
}

interface Shown {
  readonly lines: readonly LineJson[]
  readonly next?: After
}

/** The number of pages read to skip entries that the reader may no longer view. The reads are bounded. */
const maxReads = 5

/** Reads and renders pages of the feed. */
export class FeedPages {
  /** False if the feed is disabled. */
  readonly isShown: boolean
  #activity: StoredActivity
  #rights: FeedVisibility
  #users: Users
  #policy: Policy

  constructor({ disableEvents }: Settings, activity: StoredActivity, rights: FeedVisibility, users: Users, policy: Policy) {
    this.isShown = !disableEvents
    this.#activity = activity
    this.#rights = rights
    this.#users = users
    this.#policy = policy
  }

  /** Up to `limit` entries, newest first. May return fewer, with a `next`, when many had to be skipped. */
  async page(caller: Caller, { limit, after }: FeedPageRequest): Promise<Shown> {
    const { id, memberships } = signedIn(caller)
    const me = await this.#users.get(id)
    if (!me) throw new NotSignedIn()
    const spaces = memberships.filter(({ permissions }) => permissions.has('ViewComments')).map(({ space }) => space)
    const reader = { id, followed: me.followed, spaces }
    return this.#read(caller, { limit, after }, page => this.#activity.feedOf(reader, page))
  }

  /** The actions of one user, limited to resources that the caller may view. */
  actionsOf(caller: Caller, person: string, wanted: FeedPageRequest): Promise<Shown> {
    return this.#read(caller, wanted, page => this.#activity.actionsOf(person, page))
  }

  async #read(
    caller: Caller,
    { limit, after }: FeedPageRequest,
    read: (page: { readonly after?: After; readonly limit: number }) => Promise<Page<ActivityRecord & Stored>>,
  ): Promise<Shown> {
    const lines: Line[] = []
    let next = after
    for (let reads = 0; reads < maxReads; reads += 1) {
      const page = await read({ limit, ...(next ? { after: next } : {}) })
      lines.push(...(await this.#rights.visible(caller, page.items)))
      next = page.next
      if (!next || lines.length >= limit) break
    }
    const last = lines[limit - 1]
    if (last && lines.length > limit) next = [last.at, last.id]
    const shown = await this.#show(caller, lines.slice(0, limit))
    return next ? { lines: shown, next } : { lines: shown }
  }

  async #show(caller: Caller, lines: readonly Line[]): Promise<LineJson[]> {
    const ids = [...new Set(lines.flatMap(({ user, target }) => (target === null ? [user] : [user, target])))]
    const person = await peopleFor(this.#users, this.#policy, caller, ids)
    return lines.map(({ id, type, user, target, object, objectName, source, sourceName, at }) => ({
      id,
      event_type: type,
      user: person(user),
      ...(target === null ? {} : { targetuser: person(target) }),
      ...(object ? { object_id: object.id, object_name: objectName } : {}),
      ...(source ? { source_id: source.id, source_name: sourceName } : {}),
      created: s.toV1Date(at),
    }))
  }
}
wire(FeedPages, configPort(config), StoredActivity, FeedVisibility, Users, Policy)
