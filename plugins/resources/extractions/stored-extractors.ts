import { isDeepStrictEqual } from 'node:util'
import {
  Clock,
  CommitConflict,
  Conflict,
  DocumentStore,
  eq,
  event,
  Forbidden,
  Ids,
  type NewEvent,
  type Stored,
  type s,
  Taken,
  wire,
} from 'pounce/sdk'
import { type ExtractorRecord, extractors } from './collections.ts'
import { Config, type config } from './config.ts'
import { EnabledExtractors } from './enabled-extractors.ts'
import { readExtractorInfo, type Said } from './extractor-info.ts'
import { StoredLabels } from './stored-labels.ts'

type Limits = Pick<s.Static<typeof config>, 'maxDocumentBytes' | 'maxPerOwner'>
export type RegisteredExtractor = ExtractorRecord & Stored

/** Who registers: a person over HTTP, an extractor on the bus, or Pounce for one of its own. */
export interface Registrar {
  readonly via: 'http' | 'bus' | 'builtIn'
  /** Over HTTP the caller; on the bus the owner of a private extractor. */
  readonly user: string | undefined
  readonly isAdmin: boolean
}

/** Bounds what a flood of made-up extractors can do. */
const mostExtractors = 1000
const pageSize = 20

/** The queue of an extractor, which is also its identity. */
export const queueOf = (name: string, key: string | null | undefined): string => (key == null ? name : `private.${key}.${name}`)

/** True for those whom a private extractor was given to; public ones are everyone's. */
export const mayUse = ({ key, permissions }: ExtractorRecord, user: string | undefined): boolean =>
  key === null || (user !== undefined && permissions.includes(user))

/** The extractors that are known. */
export class StoredExtractors {
  #documents: DocumentStore
  #choices: EnabledExtractors
  #labels: StoredLabels
  #ids: Ids
  #clock: Clock
  #limits: Limits
  #changes = 0

  constructor(documents: DocumentStore, choices: EnabledExtractors, labels: StoredLabels, ids: Ids, clock: Clock, limits: Limits) {
    this.#limits = limits
    this.#documents = documents
    this.#choices = choices
    this.#labels = labels
    this.#ids = ids
    this.#clock = clock
  }

  /** Differs after each change that was made here. */
  get changes(): number {
    return this.#changes
  }

  /** By name, private ones included. Documents are large: no more than a page of them is in memory. */
  async *all(): AsyncGenerator<RegisteredExtractor> {
    const query = { using: 'byName', sort: { by: 'name', order: 'ascending' }, limit: pageSize } as const
    let page = await this.#documents.find(extractors, query)
    yield* page.items
    while (page.next) {
      page = await this.#documents.find(extractors, { ...query, after: page.next })
      yield* page.items
    }
  }

  /** Extractors that are visible to an account, by name. */
  async *visibleTo(user: string | undefined): AsyncGenerator<RegisteredExtractor> {
    for await (const extractor of this.all()) if (mayUse(extractor, user)) yield extractor
  }

  /** By queue: the name, or `private.<key>.<name>`. */
  async behind(queue: string): Promise<RegisteredExtractor | undefined> {
    return (await this.#documents.find(extractors, { using: 'byIdentity', where: eq('identity', queue), limit: 1 })).items[0]
  }

  /** New or changed; the id stays, and who may use it. Someone else's is refused. Pounce's own are enabled from the start, all others are not. */
  async register(said: Said, by: Registrar): Promise<string> {
    const known = await this.behind(queueOf(said.info.name, said.key))
    if (!known) return this.#insert(said, by)
    const isSame = isDeepStrictEqual(known.info, said.info) && known.isBuiltIn === (by.via === 'builtIn')
    // v1 looks at the version of a public one alone, and what listens on the bus relies on it.
    if (isSame || (by.via === 'bus' && known.key === null && known.info.version === said.info.version)) return known.id
    requireOwn(known, by)
    const owned = by.via === 'builtIn' ? { isBuiltIn: true, owner: null } : {}
    await this.#documents.commit({ update: known.id, in: extractors, set: { info: said.info, updated: this.#now(), ...owned } }, [
      registered(known.id, said, by),
    ])
    this.#changes++
    await this.#labels.assign(said.info.defaultLabels, said.info.name)
    return known.id
  }

  /** One that is not known is not an error. */
  async remove(queue: string): Promise<void> {
    const known = await this.behind(queue)
    if (!known) return
    try {
      await this.#documents.commit({ tombstone: known.id, in: extractors })
    } catch (error) {
      if (!(error instanceof CommitConflict && error.reason === 'absent')) throw error
    }
    this.#changes++
  }

  /** What an extractor says of itself; `Invalid` when that is wrong or too long. */
  read(raw: unknown, key?: string): Said {
    return readExtractorInfo(raw, this.#limits.maxDocumentBytes, key)
  }

  async #requireRoom({ via, user, isAdmin }: Registrar): Promise<void> {
    if (via !== 'http' || isAdmin || user === undefined) return
    const { maxPerOwner } = this.#limits
    const own = await this.#documents.count(extractors, { using: 'byOwner', where: eq('owner', user), upTo: maxPerOwner })
    if (own >= maxPerOwner) throw new Conflict(`You have already registered ${own} extractors; an admin can delete some, or register more`)
  }

  async #insert(said: Said, by: Registrar): Promise<string> {
    const { info, key } = said
    const isBuiltIn = by.via === 'builtIn'
    await this.#requireRoom(by)
    if ((await this.#documents.count(extractors, { using: 'byName', upTo: mostExtractors })) >= mostExtractors) {
      throw new Conflict(`Maximum of ${mostExtractors} extractors reached; an admin can delete some`)
    }
    // Enabled first: a crash in between leaves an extractor that is new at the next start.
    if (isBuiltIn) await this.#choices.enable(info.name)
    const id = this.#ids.next()
    const record: ExtractorRecord = {
      identity: queueOf(info.name, key),
      name: info.name,
      key,
      info,
      updated: this.#now(),
      owner: isBuiltIn ? null : (by.user ?? null),
      isBuiltIn,
      permissions: key === null || by.user === undefined ? [] : [by.user],
    }
    try {
      await this.#documents.commit({ insert: { id, ...record }, into: extractors }, [registered(id, said, by)])
    } catch (error) {
      // someone registered the same name in this moment: now it is a change, if at all
      if (error instanceof Taken) return this.register(said, by)
      throw error
    }
    this.#changes++
    await this.#labels.assign(info.defaultLabels, info.name)
    return id
  }

  #now(): string {
    return this.#clock.now().toISOString()
  }
}
wire(StoredExtractors, DocumentStore, EnabledExtractors, StoredLabels, Ids, Clock, Config)
const registered = (id: string, { info }: Said, { via, user }: Registrar): NewEvent =>
  event('extractor.registered', { kind: 'extractor', id }, { name: info.name }, via === 'http' ? user : undefined)

/**
 * Anyone on the bus may bring a public extractor up to date, as in v1: who may listen there is trusted so far. Over HTTP only who registered it, or
 * an admin. New: no one takes over a private one of someone else, or one that Pounce runs itself.
 */
const requireOwn = (known: RegisteredExtractor, { via, user, isAdmin }: Registrar): void => {
  if (via === 'builtIn') return
  const isOwn = known.owner !== null && known.owner === user
  const mayChange = via === 'bus' ? known.key === null || isOwn : isAdmin || isOwn
  if (known.isBuiltIn ? isAdmin && via === 'http' : mayChange) return
  throw new Forbidden(`The extractor ${known.name} was registered by another user, who alone can change it`)
}
