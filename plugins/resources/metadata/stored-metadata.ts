import {
  type After,
  and,
  Clock,
  CommitConflict,
  DocumentStore,
  eq,
  event,
  Ids,
  type MetadataDocuments,
  type MetadataRecord,
  type NewMetadata,
  type Page,
  port,
  type Ref,
  type Stored,
  type Where,
  wire,
} from 'pounce/sdk'
import { metadata } from './collection.ts'

type Document = MetadataRecord & Stored

/** The part of an extractor's URL that names it: `name`, or `name/version`. */
const extractorPath = (extractorId: string): string => extractorId.slice(extractorId.lastIndexOf('/extractors/') + '/extractors/'.length)

const isBy = (document: MetadataRecord, extractor: string): boolean => {
  const id = document.agent.extractorId
  if (id === null || !id.includes('/extractors/')) return false
  const path = extractorPath(id)
  return path === extractor || path.startsWith(`${extractor}/`)
}

/** Metadata in the document store. */
export class StoredMetadata implements MetadataDocuments {
  #documents: DocumentStore
  #ids: Ids
  #clock: Clock

  constructor(documents: DocumentStore, ids: Ids, clock: Clock) {
    this.#documents = documents
    this.#ids = ids
    this.#clock = clock
  }

  async add(document: NewMetadata): Promise<Document> {
    const { id = this.#ids.next(), created = this.#clock.now().toISOString(), isImporting = false, ...rest } = document
    const added = event('metadata.added', { kind: 'metadata', id }, { target: document.target }, document.author ?? undefined)
    try {
      return await this.#documents.commit({ insert: { id, created, ...rest }, into: metadata }, isImporting ? [] : [added])
    } catch (error) {
      const isRepeat = document.id !== undefined && error instanceof CommitConflict && error.reason === 'exists'
      const existing = isRepeat ? await this.#documents.get(metadata, id) : undefined
      if (existing) return existing
      throw error
    }
  }

  get(id: string): Promise<Document | undefined> {
    return this.#documents.get(metadata, id)
  }

  async of(
    target: Ref,
    options: { readonly extractor?: string; readonly after?: After; readonly limit?: number } = {},
  ): Promise<Page<Document>> {
    const { extractor, after, limit = 100 } = options
    const page = await this.#documents.find(metadata, {
      using: 'byTarget',
      where: onTarget(target),
      sort: { by: 'created', order: 'descending' },
      limit,
      ...(after ? { after } : {}),
    })
    return extractor === undefined ? page : { ...page, items: page.items.filter(document => isBy(document, extractor)) }
  }

  /** All documents of a thing, newest first, read while you iterate. */
  async *all(target: Ref, extractor?: string): AsyncIterable<Document> {
    let after: After | undefined
    do {
      const page = await this.of(target, { ...(extractor === undefined ? {} : { extractor }), ...(after ? { after } : {}) })
      yield* page.items
      after = page.next
    } while (after)
  }

  /** Takes all documents of a thing away, or those of one extractor; how many there were. */
  async removeAll(target: Ref, extractor: string | undefined, actor: string | undefined): Promise<number> {
    let count = 0
    let after: After | undefined
    do {
      const page = await this.of(target, { ...(extractor === undefined ? {} : { extractor }), ...(after ? { after } : {}) })
      const outcome = await this.#documents.commitEach(
        page.items.map(document => ({
          change: { tombstone: document.id, in: metadata },
          events: [event('metadata.removed', { kind: 'metadata', id: document.id }, { target }, actor)],
        })),
      )
      for (const each of outcome) {
        if (each.ok) count += 1
        else if (!(each.error instanceof CommitConflict)) throw each.error
      }
      after = page.next
    } while (after)
    return count
  }
}
wire(StoredMetadata, DocumentStore, Ids, Clock)

const onTarget = (target: Ref): Where => and(eq('target.id', target.id), eq('target.kind', target.kind))

/** What the routes use besides `MetadataDocuments`. */
export const MetadataDesk = port<StoredMetadata>('metadata.desk')
