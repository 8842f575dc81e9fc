import {
  Clock,
  CommitConflict,
  DocumentStore,
  type ExtractorInfo,
  eq,
  event,
  Forbidden,
  Ids,
  port,
  type Stored,
  Taken,
  wire,
} from 'pounce/sdk'
import { type ExtractorRecord, extractors } from './collections.ts'
import { takes } from './matching.ts'

type Extractor = ExtractorRecord & Stored

const mostExtractors = 1000

/** The extractors that are known, and which of them a media type wakes. */
export class StoredExtractors {
  #documents: DocumentStore
  #ids: Ids
  #clock: Clock

  constructor(documents: DocumentStore, ids: Ids, clock: Clock) {
    this.#documents = documents
    this.#ids = ids
    this.#clock = clock
  }

  /** By name, at most 1,000. */
  async all(): Promise<readonly Extractor[]> {
    const query = { using: 'byName', sort: { by: 'name', order: 'ascending' }, limit: mostExtractors } as const
    return (await this.#documents.find(extractors, query)).items
  }

  async named(name: string): Promise<Extractor | undefined> {
    return (await this.#documents.find(extractors, { using: 'byIdentity', where: eq('identity', name), limit: 1 })).items[0]
  }

  /** Names of the enabled ones that say they process files of this media type. */
  async woken(mediaType: string): Promise<readonly string[]> {
    const known = await this.all()
    return known
      .filter(({ isEnabled, info }) => isEnabled && info.process.file?.some(pattern => takes(pattern, mediaType)))
      .map(({ name }) => name)
  }

  /** New or changed; the id stays. Someone else's is refused. `isBuiltIn`: enabled from the start. */
  async register(
    info: ExtractorInfo,
    by: { readonly user: string | undefined; readonly isAdmin: boolean; readonly isBuiltIn: boolean },
  ): Promise<string> {
    const known = await this.named(info.name)
    if (!known) return this.#insert(info, by)
    if (!by.isBuiltIn && !by.isAdmin && known.owner !== (by.user ?? null)) {
      throw new Forbidden(`The extractor ${info.name} was registered by somebody else, who alone can change it`)
    }
    if (by.isBuiltIn && known.info.version === info.version) return known.id
    const news = event('extractor.registered', { kind: 'extractor', id: known.id }, { name: info.name }, by.user)
    await this.#documents.commit({ update: known.id, in: extractors, set: { info, updated: this.#now() } }, [news])
    return known.id
  }

  async remove(name: string): Promise<void> {
    const known = await this.named(name)
    if (!known) return
    try {
      await this.#documents.commit({ tombstone: known.id, in: extractors })
    } catch (error) {
      if (!(error instanceof CommitConflict && error.reason === 'absent')) throw error
    }
  }

  async #insert(
    info: ExtractorInfo,
    by: { readonly user: string | undefined; readonly isAdmin: boolean; readonly isBuiltIn: boolean },
  ): Promise<string> {
    const id = this.#ids.next()
    const owner = by.isBuiltIn ? null : (by.user ?? null)
    const record = { identity: info.name, name: info.name, info, updated: this.#now(), owner, isEnabled: by.isBuiltIn }
    try {
      await this.#documents.commit({ insert: { id, ...record }, into: extractors }, [
        event('extractor.registered', { kind: 'extractor', id }, { name: info.name }, by.user),
      ])
      return id
    } catch (error) {
      // somebody registered the same name in this moment: now it is a change, if at all
      if (error instanceof Taken) return this.register(info, by)
      throw error
    }
  }

  #now(): string {
    return this.#clock.now().toISOString()
  }
}
wire(StoredExtractors, DocumentStore, Ids, Clock)

export const KnownExtractors = port<StoredExtractors>('extractions.extractors')
