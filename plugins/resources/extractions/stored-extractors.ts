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
import { readExtractorInfo, type SentExtractor } from './extractor-info.ts'
import { StoredLabels } from './stored-labels.ts'

type Limits = Pick<s.Static<typeof config>, 'maxDocumentBytes' | 'maxPerOwner'>
export type RegisteredExtractor = ExtractorRecord & Stored

/** The registering party: a user over HTTP, an extractor on the bus, or Pounce for a built-in one. */
export interface Registrar {
  readonly via: 'http' | 'bus' | 'builtIn'
  /** Over HTTP the caller; on the bus the owner of a private extractor. */
  readonly user: string | undefined
  readonly isAdmin: boolean
}

/** Bounds the effect of a flood of bogus extractors. */
const maxExtractors = 1000
const pageSize = 20

/** The queue of an extractor, which is also its identity. */
export const queueOf = (name: string, key: string | null | undefined): string => (key ? `private.${key}.${name}` : name)

/** True if the account may use a private extractor; public ones are available to everyone. */
export const mayUse = ({ key, permissions }: ExtractorRecord, user: string | undefined): boolean =>
  key === null || (user !== undefined && permissions.includes(user))

/** The registered extractors. */
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

  /** Changes with each update made by this kernel. */
  get changes(): number {
    return this.#changes
  }

  /** By name, private ones included. Documents are large: only one page is in memory at a time. */
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
  async byQueue(queue: string): Promise<RegisteredExtractor | undefined> {
    return (await this.#documents.find(extractors, { using: 'byIdentity', where: eq('identity', queue), limit: 1 })).items[0]
  }

  /**
   * Creates or updates an extractor; its id and its permissions are kept. Another user's extractor is refused. Built-in extractors are
   * initially enabled, all others are not.
   */
  async register(sent: SentExtractor, by: Registrar): Promise<string> {
    const known = await this.byQueue(queueOf(sent.info.name, sent.key))
    if (!known) return this.#insert(sent, by)
    const isSame = isDeepStrictEqual(known.info, sent.info) && known.isBuiltIn === (by.via === 'builtIn')
    // v1 only compares the version of a public one, and extractors on the bus rely on it.
    if (isSame || (by.via === 'bus' && known.key === null && known.info.version === sent.info.version)) return known.id
    requireOwn(known, by)
    const owned = by.via === 'builtIn' ? { isBuiltIn: true, owner: null } : {}
    await this.#documents.commit({ update: known.id, in: extractors, set: { info: sent.info, updated: this.#now(), ...owned } }, [
      registered(known.id, sent, by),
    ])
    this.#changes++
    await this.#labels.assign(sent.info.defaultLabels, sent.info.name)
    return known.id
  }

  /** An unknown one is not an error. */
  async remove(queue: string): Promise<void> {
    const known = await this.byQueue(queue)
    if (!known) return
    try {
      await this.#documents.commit({ tombstone: known.id, in: extractors })
    } catch (error) {
      if (!(error instanceof CommitConflict && error.reason === 'absent')) throw error
    }
    this.#changes++
  }

  /** Reads an extractor's description; throws `Invalid` when it is malformed or too long. */
  read(raw: unknown, key?: string): SentExtractor {
    return readExtractorInfo(raw, this.#limits.maxDocumentBytes, key)
  }

  async #requireQuota({ via, user, isAdmin }: Registrar): Promise<void> {
    if (via !== 'http' || isAdmin || user === undefined) return
    const { maxPerOwner } = this.#limits
    const own = await this.#documents.count(extractors, { using: 'byOwner', where: eq('owner', user), upTo: maxPerOwner })
    if (own >= maxPerOwner) throw new Conflict(`You have already registered ${own} extractors; an admin can delete some, or register more`)
  }

  async #insert(sent: SentExtractor, by: Registrar): Promise<string> {
    const { info, key } = sent
    const isBuiltIn = by.via === 'builtIn'
    await this.#requireQuota(by)
    if ((await this.#documents.count(extractors, { using: 'byName', upTo: maxExtractors })) >= maxExtractors) {
      throw new Conflict(`Maximum of ${maxExtractors} extractors reached; an admin can delete some`)
    }
    // Enabled first: after a crash in between, the extractor still counts as new at the next start.
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
      await this.#documents.commit({ insert: { id, ...record }, into: extractors }, [registered(id, sent, by)])
    } catch (error) {
      // The same name was registered concurrently: treat it as an update, if anything changed.
      if (error instanceof Taken) return this.register(sent, by)
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
const registered = (id: string, { info }: SentExtractor, { via, user }: Registrar): NewEvent =>
  event('extractor.registered', { kind: 'extractor', id }, { name: info.name }, via === 'http' ? user : undefined)

/**
 * On the bus anyone may update a public extractor, as in v1: clients of the bus are trusted to that extent. Over HTTP only the user who
 * registered it, or an admin. Beyond v1, another user's private extractor and built-in ones are protected.
 */
const requireOwn = (known: RegisteredExtractor, { via, user, isAdmin }: Registrar): void => {
  if (via === 'builtIn') return
  const isOwn = known.owner !== null && known.owner === user
  const mayChange = via === 'bus' ? known.key === null || isOwn : isAdmin || isOwn
  if (known.isBuiltIn ? isAdmin && via === 'http' : mayChange) return
  throw new Forbidden(`The extractor ${known.name} can be changed only by the user who registered it`)
}
