import {
  type AnyEvent,
  type Caller,
  type CloudEvent,
  Collections,
  type Contributions,
  Datasets,
  type EventFilter,
  Files,
  Folders,
  Installation,
  Invalid,
  isSuperAdmin,
  type Kind,
  type Permission,
  Policy,
  type PublicEvent,
  type PublicEvents,
  type Ref,
  type Resource,
  Resources,
  Sections,
  Spaces,
  wire,
} from 'pounce/sdk'
import { geoNumberOf } from 'pounce/sdk/geo'
import { draftOf, draftOfKind, type EventDraft, isDeletion, isDetachment, isTrashing, publicTypes, typesOfKinds } from './event-types.ts'

/** The properties of a record that events need. */
interface SubjectProperties {
  readonly name?: string
  readonly status?: string
  readonly author?: string
  readonly spaces?: readonly string[]
  /** The containers of the resource. */
  readonly within?: readonly Ref[]
  /** Further direct containers: `PublicEvent.places`. */
  readonly places?: readonly Ref[]
}
type SubjectsById = ReadonlyMap<string, SubjectProperties>
/** A right on a resource, which may be required as if nothing were in the trash. */
type Check = readonly [Permission, Ref, 'ignored'?]
/** The rights for an event: all that are required or, after a deletion or a removal from a container, one of those on a former container. */
interface Checks {
  readonly required: readonly Check[]
  readonly former: readonly Check[]
}
type Reader = (ids: readonly string[]) => Promise<SubjectsById>

const maxRead = 1000

/** Reads in batches of at most 1,000. */
const inBatches = async <T>(ids: readonly string[], read: (some: readonly string[]) => Promise<Iterable<T>>): Promise<T[]> => {
  const found: T[] = []
  for (let at = 0; at < ids.length; at += maxRead) found.push(...(await read(ids.slice(at, at + maxRead))))
  return found
}

const mapped = <T>(records: ReadonlyMap<string, T>, properties: (record: T) => SubjectProperties): SubjectsById =>
  new Map([...records].map(([id, record]) => [id, properties(record)]))

const dataset = (id: string): Ref => ({ kind: 'dataset', id })

const maxPlaces = 100
const placesIn = (spaces: readonly string[], collections: readonly string[]): readonly Ref[] =>
  [...spaces.map((id): Ref => ({ kind: 'space', id })), ...collections.map((id): Ref => ({ kind: 'collection', id }))].slice(0, maxPlaces)

/** Renders stored events as public events from the current records, and determines who may receive them. */
export class StoredPublicEvents implements PublicEvents {
  #types: Readonly<Record<string, string>> | undefined
  readonly #source: () => string
  readonly #policy: Policy
  readonly #resources: Contributions<Resource>
  readonly #readers: Partial<Record<Kind, Reader>>
  #views: ReadonlyMap<Kind, Permission> | undefined

  constructor(
    policy: Policy,
    resources: Contributions<Resource>,
    installation: Installation,
    spaces: Spaces,
    collections: Collections,
    datasets: Datasets,
    folders: Folders,
    files: Files,
    sections: Sections,
  ) {
    this.#policy = policy
    this.#resources = resources
    this.#source = () => installation.baseUrl
    this.#readers = {
      space: async ids => mapped(await spaces.getMany(ids), ({ name, author }) => ({ name, author })),
      collection: async ids =>
        mapped(await collections.getMany(ids), ({ name, author, spaces: held, parents }) => ({
          ...{ name, author, spaces: held },
          places: placesIn(held, parents),
        })),
      dataset: async ids =>
        mapped(await datasets.getMany(ids), ({ name, author, spaces: held, collections: holding }) => ({
          ...{ name, author, spaces: held },
          places: placesIn(held, holding),
        })),
      folder: async ids =>
        mapped(await folders.getMany(ids), folder => ({
          name: folder.displayName,
          author: folder.author,
          within: [dataset(folder.dataset), ...(folder.parent.kind === 'folder' ? [folder.parent] : [])],
        })),
      file: async ids =>
        mapped(await files.getMany(ids), ({ name, author, status, places }) => ({
          name,
          author,
          status,
          within: places.flatMap(place => [
            dataset(place.dataset),
            ...(place.folder == null ? [] : [{ kind: 'folder', id: place.folder } as const]),
          ]),
        })),
      section: async ids => mapped(await sections.getMany(ids), ({ file }) => ({ within: [{ kind: 'file', id: file }] })),
    }
  }

  get types(): Readonly<Record<string, string>> {
    this.#types ??= { ...publicTypes, ...typesOfKinds(this.#resources.all()) }
    return this.#types
  }

  #draftOf(event: AnyEvent): EventDraft | undefined {
    const isOfKind = this.#resourceOf(event.subject.kind)?.events.includes(event.type)
    return isOfKind ? draftOfKind(event) : draftOf(event)
  }

  #resourceOf(kind: Kind): Resource | undefined {
    return this.#resources.all().find(resource => resource.kind === kind)
  }

  async describe(events: readonly AnyEvent[]): Promise<readonly PublicEvent[]> {
    const drafted = events.flatMap(event => {
      const draft = this.#draftOf(event)
      return draft ? [{ event, draft }] : []
    })
    if (drafted.length === 0) return []
    const properties = await this.#propertiesOf(drafted.flatMap(({ draft }) => [draft.subject, ...(draft.within ?? [])]))
    return drafted.map(({ event: { id, at, actor = null }, draft }) => this.#completed(draft, { id, at, actor }, properties))
  }

  /** A public event that does not originate from a stored one. */
  async present(
    draft: EventDraft,
    identity: { readonly id: string; readonly at: string; readonly actor: string | null },
  ): Promise<PublicEvent> {
    return this.#completed(draft, identity, await this.#propertiesOf([draft.subject, ...(draft.within ?? [])]))
  }

  #completed(
    { type, subject, within = [], places = [], author, data = {}, recipient }: EventDraft,
    { id, at, actor }: { readonly id: string; readonly at: string; readonly actor: string | null },
    properties: SubjectsById,
  ): PublicEvent {
    const own = properties.get(subject.id)
    const inAll = [...places, ...(own?.places ?? [])]
    const about = [subject, ...within, ...[subject, ...within].flatMap(ref => properties.get(ref.id)?.within ?? [])]
    const spaces = withContainers(about, properties).flatMap(ref =>
      ref.kind === 'space' ? [ref.id] : (properties.get(ref.id)?.spaces ?? []),
    )
    // Names are omitted if callers receive the event who could view the subject only before: it may have been renamed since.
    const named =
      isDeletion(type) || isTrashing(type) || isDetachment(type)
        ? {}
        : { ...(own?.name !== undefined && { name: own.name }), ...(own?.status !== undefined && { status: own.status }) }
    return {
      event: cloudEvent(this.#source(), {
        id,
        type,
        subject: `${subject.kind}/${publicIdOf(subject)}`,
        time: at,
        data: {
          id: publicIdOf(subject),
          ...named,
          ...Object.fromEntries(Object.entries(data).map(([name, value]) => [name, shown(value)])),
        },
      }),
      subject,
      about: unique(about),
      ...(inAll.length > 0 && { places: unique(inAll) }),
      spaces: [...new Set(spaces)],
      ...(recipient === undefined ? {} : { recipient }),
      author: author ?? about.map(ref => properties.get(ref.id)?.author).find(Boolean) ?? null,
      actor,
    }
  }

  /** Properties of the resources and their containers. */
  async #propertiesOf(refs: readonly Ref[]): Promise<SubjectsById> {
    const found = new Map<string, SubjectProperties>()
    let wanted = unique(refs)
    while (wanted.length > 0) {
      for (const [kind, some] of Map.groupBy(wanted, ref => ref.kind)) {
        const resource = this.#resourceOf(kind)
        const read: Reader | undefined = (this.#readers as Partial<Record<Kind, Reader>>)[kind] ?? resource?.describe?.bind(resource)
        if (!read) continue
        for (const [id, properties] of await inBatches(
          some.map(ref => ref.id),
          read,
        ))
          found.set(id, properties)
      }
      wanted = unique(wanted.flatMap(({ id }) => found.get(id)?.within ?? [])).filter(({ id }) => !found.has(id))
    }
    return found
  }

  check({ kinds = [], types = [] }: EventFilter): void {
    const known = Object.keys(this.types)
    const knownKinds = ['job', ...new Set(known.map(kindOf))]
    for (const type of types)
      if (!known.includes(type) && !known.some(each => isOfAll(type, each)))
        throw new Invalid(`${type} is not a type of event: use one of ${known.join(', ')}, or all of a kind such as \`file.*\``)
    for (const kind of kinds)
      if (!knownKinds.includes(kind)) throw new Invalid(`${kind} is not a kind of event: use one of ${knownKinds.join(', ')}`)
  }

  matches(
    { kinds, ids, spaces, types, mine }: EventFilter,
    { event, subject, about, places = [], spaces: held, author }: PublicEvent,
    caller: Caller,
  ): boolean {
    if (kinds && !kinds.includes(subject.kind) && !kinds.includes(kindOf(event.type))) return false
    if (types && !types.some(type => type === event.type || isOfAll(type, event.type))) return false
    if (ids && ![...about, ...places].some(ref => isAmong(ids, ref))) return false
    if (spaces && !held.some(space => spaces.includes(space))) return false
    return !mine || (author !== null && author === caller.user?.id)
  }

  async receivable(caller: Caller, events: readonly PublicEvent[], filter: EventFilter = {}): Promise<readonly PublicEvent[]> {
    if (events.length === 0) return []
    if (isSuperAdmin(caller)) return events
    const sight = new CallerVisibility(this.#policy, caller)
    const checked = events.map(event => ({
      event,
      checks: this.#checksOf(event),
      matches: matchedBy(filter, event),
    }))
    for (const { checks, matches } of checked)
      for (const check of [...checks.required, ...checks.former, ...this.#viewsOf(matches.flat())]) sight.need(check)
    await sight.look()
    const isSeen = (ref: Ref): boolean => this.#viewsOf([ref]).some(check => sight.has(check))
    return checked.flatMap(({ event, checks, matches }) => {
      const isFound = matches.every(refs => refs.some(ref => ref.id === event.subject.id || isSeen(ref)))
      return isFound && this.#mayReceive(caller, event, checks, sight) ? [event] : []
    })
  }

  #checksOf({ event, subject, about, recipient }: PublicEvent): Checks {
    if (recipient !== undefined) return { required: [], former: [] }
    const view = this.#viewOf(subject.kind)
    // An extraction or other activity has no rights of its own: those on its target apply.
    const [, ...within] = about
    const viewIn = (refs: readonly Ref[]): readonly Check[] => (view ? refs.map(ref => [view, ref] as const) : [])
    if (isDeletion(event.type)) return { required: [], former: viewIn(within.filter(({ kind }) => kind !== 'space')) }
    // Those who could view it right before.
    if (view && isTrashing(event.type)) return { required: [[view, subject, 'ignored']], former: [] }
    const refs = view ? about.filter(ref => ref === subject || this.#isNamed(event, ref)) : within.slice(0, 1)
    // Datasets and collections do not get rights from collections.
    const former = event.type === 'file.detached' ? refs.filter(ref => ref !== subject) : []
    return { required: this.#viewsOf(refs), former: viewIn(former) }
  }

  /** Resources with the permission to view each; without those that have no rights of their own. */
  #viewsOf(refs: readonly Ref[]): readonly Check[] {
    return refs.flatMap(ref => {
      const needed = this.#viewOf(ref.kind)
      return needed ? [[needed, ref] as const] : []
    })
  }

  /** Whether the data of an event contains the id of a resource. */
  #isNamed({ data }: CloudEvent, ref: Ref): boolean {
    return Object.values(data).some(value => isAmong([hasId(value) ? value.id : value], ref))
  }

  #mayReceive(caller: Caller, event: PublicEvent, { required, former }: Checks, sight: CallerVisibility): boolean {
    const isWhole = caller.limits === undefined && caller.scope === 'full'
    if (event.recipient !== undefined) return isWhole && caller.user?.id === event.recipient
    // Somebody who was removed may no longer view the space.
    if (isWhole && isMembershipOf(caller, event.event)) return true
    if (required.length > 0 && required.every(check => sight.has(check))) return true
    if (!isDeletion(event.event.type) && !isDetachment(event.event.type)) return false
    if (isWhole && event.actor !== null && caller.user?.id === event.actor) return true
    return former.some(check => sight.has(check)) || this.#sawInSpace(caller, event)
  }

  /** Through a role in a space that contained the resource. */
  #sawInSpace({ user, limits }: Caller, { subject, about }: PublicEvent): boolean {
    const view = this.#viewOf(subject.kind)
    if (!view) return false
    const spaces = new Set(about.flatMap(({ kind, id }) => (kind === 'space' && id !== subject.id ? [id] : [])))
    return (user?.memberships ?? []).some(
      ({ space, permissions }) => spaces.has(space) && permissions.has(view) && limits?.spaces?.has(space) !== false,
    )
  }

  #viewOf(kind: Kind): Permission | undefined {
    this.#views ??= new Map(this.#resources.all().map(resource => [resource.kind, resource.view]))
    return this.#views.get(kind)
  }
}

/** A change of the caller's own membership. */
const isMembershipOf = ({ user }: Caller, { type, data }: CloudEvent): boolean =>
  type === 'space.member-changed' && user !== undefined && data['user'] === user.id
wire(StoredPublicEvents, Policy, Resources, Installation, Spaces, Collections, Datasets, Folders, Files, Sections)

/** The resources that one caller may view, read once for many events. */
class CallerVisibility {
  readonly #policy: Policy
  readonly #caller: Caller
  readonly #needed = new Map<string, { readonly check: Check; readonly ids: Set<string> }>()
  readonly #allowed = new Set<string>()

  constructor(policy: Policy, caller: Caller) {
    this.#policy = policy
    this.#caller = caller
  }

  need(check: Check): void {
    const name = nameOf(check)
    const known = this.#needed.get(name) ?? { check, ids: new Set<string>() }
    this.#needed.set(name, known)
    known.ids.add(check[1].id)
  }

  async look(): Promise<void> {
    for (const [name, { check, ids }] of this.#needed)
      for (const id of await inBatches([...ids], some => this.#policy.allowed(this.#caller, check[0], check[1].kind, some, check[2])))
        this.#allowed.add(`${name} ${id}`)
  }

  has(check: Check): boolean {
    return this.#allowed.has(`${nameOf(check)} ${check[1].id}`)
  }
}

const nameOf = ([permission, { kind }, trash]: Check): string => `${permission} ${kind} ${trash ?? ''}`

/** Also the containers of containers. */
const withContainers = (refs: readonly Ref[], properties: SubjectsById): readonly Ref[] => {
  const all = new Map(refs.map(ref => [ref.id, ref]))
  // Those added meanwhile are visited too.
  for (const id of all.keys()) for (const ref of properties.get(id)?.within ?? []) if (!all.has(ref.id)) all.set(ref.id, ref)
  return [...all.values()]
}

/** The resources and spaces that a filter matches in an event, for each member of the filter. */
const matchedBy = ({ ids, spaces }: EventFilter, { about, places = [], spaces: held }: PublicEvent): readonly (readonly Ref[])[] => [
  ...(ids ? [[...about, ...places].filter(ref => isAmong(ids, ref))] : []),
  ...(spaces ? [held.filter(id => spaces.includes(id)).map((id): Ref => ({ kind: 'space', id }))] : []),
]

/** In the API, sensors and streams have numbers. */
const publicIdOf = ({ kind, id }: Ref): string => (kind === 'sensor' || kind === 'stream' ? String(geoNumberOf(id)) : id)
const hasId = (value: unknown): value is Ref => typeof value === 'object' && value !== null && 'kind' in value && 'id' in value
const shown = (value: unknown): unknown => (hasId(value) ? { ...value, id: publicIdOf(value) } : value)
const isAmong = (ids: readonly unknown[], ref: Ref): boolean => ids.includes(ref.id) || ids.includes(publicIdOf(ref))

const kindOf = (type: string): string => type.split('.')[0] ?? type
/** Whether a pattern such as `file.*` matches a type. */
const isOfAll = (wanted: string, type: string): boolean => wanted.endsWith('.*') && type.startsWith(wanted.slice(0, -1))

const unique = (refs: readonly Ref[]): readonly Ref[] =>
  refs.length < 2 ? refs : [...new Map(refs.map(ref => [`${ref.kind} ${ref.id}`, ref])).values()]

/** An event in the format of CloudEvents 1.0. */
export const cloudEvent = (
  source: string,
  identity: {
    readonly id: string
    readonly type: string
    readonly subject: string
    readonly time: string
    readonly data: CloudEvent['data']
  },
): CloudEvent => ({ specversion: '1.0', source, datacontenttype: 'application/json', ...identity })
