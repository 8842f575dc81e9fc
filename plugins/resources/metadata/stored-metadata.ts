import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type After,
  type AnyEvent,
  and,
  type BatchHandler,
  type Caller,
  Clock,
  CommitConflict,
  collection,
  DocumentStore,
  event,
  Ids,
  isIn,
  type MetadataDocuments,
  type MetadataRecord,
  type Page,
  type Ref,
  type Stored,
  s,
  Users,
  type Where,
  wire,
} from 'pounce/sdk'
import { fullNameOf, Mutex, type NewMetadata, orNotFound } from 'pounce/sdk/kit'
import type { Committed } from 'pounce/sdk/store-kit'

/** JSON-LD documents; those of one resource in order of creation. */
export const metadata = collection<MetadataRecord>()('metadata', {
  byTarget: { on: ['target.id', 'created'] },
})

type Document = MetadataRecord & Stored

/** The part of an extractor's URL that identifies it: `name`, or `name/version`. */
const extractorPath = (extractorId: string): string => extractorId.slice(extractorId.lastIndexOf('/extractors/') + '/extractors/'.length)

const isBy = (document: MetadataRecord, extractor: string): boolean => {
  const id = document.agent.extractorId
  if (id === null || !id.includes('/extractors/')) return false
  const path = extractorPath(id)
  return path === extractor || path.startsWith(`${extractor}/`)
}

/**
 * What a caller with the right to delete metadata may delete: keys of extractors only documents of extractors, keys of jobs only those of
 * their own extractor.
 */
export const isRemovableBy = ({ limits, scope }: Caller, document: MetadataRecord): boolean =>
  limits?.job ? isBy(document, limits.job.extractor) : scope === 'full' || document.agent.kind === 'extractor'

/** Number of characters after which a page ends, which bounds the memory of readers: one document may have 10 MiB. */
const pageLength = 4 * 1024 * 1024

/** Milliseconds of reading after which the event loop is yielded. */
const longReadMs = 5

/** Metadata in the document store. Users named as agents are shown with the current names of their accounts, as in comments. */
export class StoredMetadata implements MetadataDocuments {
  #documents: DocumentStore
  #users: Users
  #ids: Ids
  #clock: Clock
  readonly #turns = new Mutex()

  constructor(documents: DocumentStore, users: Users, ids: Ids, clock: Clock) {
    this.#documents = documents
    this.#users = users
    this.#ids = ids
    this.#clock = clock
  }

  /** Yields the event loop after work on a large document. All that wait continue one per turn, not together in the next one. */
  nextTurn(): Promise<void> {
    return this.#turns.use(() => nextTurn())
  }

  async add(document: NewMetadata): Promise<Document> {
    const { id = this.#ids.next(), created = this.#clock.now().toISOString(), isImporting = false, job: _omitted, ...rest } = document
    const added = addedEvent(id, document.target, document)
    try {
      return await this.#documents.commit({ insert: { id, created, ...rest }, into: metadata }, isImporting ? [] : [added])
    } catch (error) {
      const isRepeat = document.id !== undefined && error instanceof CommitConflict && error.reason === 'exists'
      const existing = isRepeat ? await this.#documents.get(metadata, id) : undefined
      if (existing) return existing
      throw error
    }
  }

  async get(id: string): Promise<Document | undefined> {
    const document = await this.#documents.get(metadata, id)
    return document && (await this.#withNames([document]))[0]
  }

  async of(
    targets: Ref | readonly Ref[],
    { extractor, after, limit = 100 }: { readonly extractor?: string; readonly after?: After; readonly limit?: number } = {},
  ): Promise<Page<Document>> {
    const began = performance.now()
    const { items, next } = await this.#documents.find(metadata, {
      using: 'byTarget',
      where: onTargets([targets].flat()),
      sort: { by: 'created', order: 'descending' },
      limit,
      maxCharacters: pageLength,
      ...(after ? { after } : {}),
    })
    // Further processing may take as long as reading did.
    if (performance.now() - began > longReadMs) await this.nextTurn()
    return {
      items: extractor === undefined ? await this.#withNames(items) : items.filter(document => isBy(document, extractor)),
      ...(next ? { next } : {}),
    }
  }

  /** One read for all. The names of deleted accounts are kept. */
  async #withNames(some: readonly Document[]): Promise<readonly Document[]> {
    const ids = new Set(some.map(({ agent }) => agent.userId ?? '').filter(s.isId))
    if (ids.size === 0) return some
    const people = await this.#users.getMany([...ids])
    return some.map(document => {
      const user = people.get(document.agent.userId ?? '')
      return user ? { ...document, agent: { ...document.agent, name: fullNameOf(user) } } : document
    })
  }

  /** All documents of a resource, newest first, read during iteration; `after`: start after the last one of a page. */
  async *all(target: Ref, extractor?: string, after?: After): AsyncIterable<Document> {
    for await (const page of this.#pages(target, extractor, after)) yield* page
  }

  async *#pages(target: Ref, extractor: string | undefined, from?: After): AsyncIterable<readonly Document[]> {
    let after = from
    do {
      const page = await this.of(target, { limit: 200, ...(extractor === undefined ? {} : { extractor }), ...(after ? { after } : {}) })
      yield page.items
      after = page.next
    } while (after)
  }

  /** Adds one document to each target, in as large commits as possible; returns the outcomes in order. */
  async addToEach(targets: readonly Ref[], document: Omit<NewMetadata, 'target' | 'id'>): Promise<readonly Committed<MetadataRecord>[]> {
    const { created = this.#clock.now().toISOString(), isImporting: _never, job: _omitted, ...rest } = document
    const batchSize = Math.max(1, Math.min(200, Math.floor(pageLength / JSON.stringify(rest).length)))
    const outcome: Committed<MetadataRecord>[] = []
    for (let at = 0; at < targets.length; at += batchSize) {
      const items = targets.slice(at, at + batchSize).map(target => {
        const id = this.#ids.next()
        const added = addedEvent(id, target, document)
        return { change: { insert: { id, target, created, ...rest }, into: metadata }, events: [added] }
      })
      outcome.push(...(await this.#documents.commitEach<MetadataRecord>(items)))
    }
    return outcome
  }

  /** Deletes one document. Throws `NotFound` when it is deleted already. */
  async remove({ id, target }: Document, actor: string | undefined): Promise<void> {
    await orNotFound('metadata', this.#documents.commit({ tombstone: id, in: metadata }, [removed(id, target, actor)]))
  }

  /**
   * Deletes all documents of a resource, or those of one extractor, or those that `mayRemove` accepts; returns their number. `isSilent`:
   * they were never visible, so no event is emitted.
   */
  async removeAll(
    target: Ref,
    {
      extractor,
      actor,
      isSilent = false,
      mayRemove = () => true,
    }: {
      readonly extractor?: string | undefined
      readonly actor?: string | undefined
      readonly isSilent?: boolean
      readonly mayRemove?: (document: MetadataRecord) => boolean
    },
  ): Promise<number> {
    let count = 0
    for await (const page of this.#pages(target, extractor)) {
      const removable = page.filter(mayRemove)
      if (removable.length === 0) continue
      const outcome = await this.#documents.commitEach(
        removable.map(({ id }) => ({ change: { tombstone: id, in: metadata }, events: isSilent ? [] : [removed(id, target, actor)] })),
      )
      for (const each of outcome) {
        if (each.ok) count += 1
        else if (!(each.error instanceof CommitConflict)) throw each.error
      }
    }
    return count
  }
}
wire(StoredMetadata, DocumentStore, Users, Ids, Clock)

const addedEvent = (id: string, target: Ref, { job, author }: Pick<NewMetadata, 'job' | 'author'>) =>
  event('metadata.added', { kind: 'metadata', id }, { target, ...(job === undefined ? {} : { job }) }, author ?? undefined)

const removed = (id: string, target: Ref, actor: string | undefined) =>
  event('metadata.removed', { kind: 'metadata', id }, { target }, actor)

const onTargets = (targets: readonly Ref[]): Where =>
  and(
    isIn(
      'target.id',
      targets.map(({ id }) => id),
    ),
    isIn('target.kind', [...new Set(targets.map(({ kind }) => kind))]),
  )

/** Deletes metadata with its target. */
export class DeleteMetadataOnTargetRemoved implements BatchHandler {
  #documents: DocumentStore
  #metadata: StoredMetadata

  constructor(documents: DocumentStore, stored: StoredMetadata) {
    this.#documents = documents
    this.#metadata = stored
  }

  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    // Documents can be large, so those of many resources are not read at once; one query tells whether there are any.
    const where = isIn(
      'target.id',
      events.map(({ subject }) => subject.id),
    )
    if ((await this.#documents.count(metadata, { using: 'byTarget', where, upTo: 1 })) === 0) return
    for (const { subject, actor, data } of events) {
      const isSilent = 'wasImporting' in data && data.wasImporting === true
      await this.#metadata.removeAll(subject, { actor, isSilent })
    }
  }
}
wire(DeleteMetadataOnTargetRemoved, DocumentStore, StoredMetadata)
