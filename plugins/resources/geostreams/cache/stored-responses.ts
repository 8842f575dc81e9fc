import {
  type BlobOwner,
  BlobStore,
  CommitConflict,
  Conflict,
  collection,
  configPort,
  DocumentStore,
  type Json,
  Log,
  type Stored,
  type Time,
  wire,
} from 'pounce/sdk'
import { referencedIds } from 'pounce/sdk/kit'
import { config, type Settings } from '../config.ts'

/** A cached response; its id is the key of the query. */
interface AnswerRecord {
  readonly blob: string
  readonly sizeBytes: number
  readonly contentType: string
  readonly filename: string | null
  /** The request, as sent. */
  readonly query: { readonly [name: string]: Json }
  readonly created: Time
  /** The state of the streams and sensors when it was begun: the response is valid for this state only. */
  readonly state: string
  /** Numbers of its streams; null if there are many or it covers all. */
  readonly streams: readonly number[] | null
}

export type CachedResponse = AnswerRecord & Stored

export const answers = collection<AnswerRecord>()('geo-answers', { byBlob: { on: ['blob'] }, byCreated: { on: ['created'] } })

const maxEntries = 500

const tries = 5

/** Cached responses, each as bytes and a record. The oldest are evicted first. */
export class StoredResponses {
  /** 0: nothing is cached. */
  readonly maxBytes: number
  #documents: DocumentStore
  #blobs: BlobStore
  #log: Log

  constructor({ cacheMaxMiB }: Settings, documents: DocumentStore, blobs: BlobStore, log: Log) {
    this.maxBytes = cacheMaxMiB * 1024 * 1024
    this.#documents = documents
    this.#blobs = blobs
    this.#log = log
  }

  get(key: string): Promise<CachedResponse | undefined> {
    return this.#documents.get(answers, key)
  }

  /** Newest first. */
  async all(): Promise<readonly CachedResponse[]> {
    const sort = { by: 'created', order: 'descending' } as const
    return (await this.#documents.find(answers, { using: 'byCreated', sort, limit: 1000 })).items
  }

  /** Replaces the response for the key, and evicts the oldest ones beyond the size limit. */
  async keep(key: string, record: AnswerRecord): Promise<CachedResponse> {
    const kept = await this.#replace(key, record)
    let bytes = 0
    for (const [at, entry] of (await this.all()).entries()) {
      bytes += entry.sizeBytes
      if (entry.id !== key && (bytes > this.maxBytes || at >= maxEntries)) await this.drop(entry)
    }
    return kept
  }

  /** False if it was replaced or deleted meanwhile. */
  async drop({ id, revision, blob }: CachedResponse): Promise<boolean> {
    try {
      await this.#documents.commit({ tombstone: id, in: answers, where: { op: 'eq', field: 'revision', value: revision } })
    } catch (error) {
      if (error instanceof CommitConflict) return false
      throw error
    }
    await this.dropBytes(blob)
    return true
  }

  /** The next sweep deletes what cannot be deleted now. */
  async dropBytes(blob: string): Promise<void> {
    try {
      await this.#blobs.remove(blob)
    } catch (error) {
      this.#log.warn('Failed to delete the bytes of a cached response; the next sweep will', { blob, error })
    }
  }

  async #replace(key: string, record: AnswerRecord): Promise<CachedResponse> {
    for (let attempt = 0; attempt < tries; attempt += 1) {
      const before = await this.get(key)
      try {
        const kept = before
          ? await this.#documents.commit({ replace: { ...record, id: key, revision: before.revision }, in: answers })
          : await this.#documents.commit({ insert: { ...record, id: key }, into: answers })
        if (before) await this.dropBytes(before.blob)
        return kept
      } catch (error) {
        if (!(error instanceof CommitConflict)) throw error
      }
    }
    throw new Conflict('Too many concurrent cache writes for the same query')
  }
}
wire(StoredResponses, configPort(config), DocumentStore, BlobStore, Log)

/** Which stored bytes belong to cached responses. */
export class StoredResponseBlobs implements BlobOwner {
  readonly places = [{ in: answers, field: 'blob', sizeField: 'sizeBytes' }]
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  owned(keys: readonly string[]): Promise<ReadonlySet<string>> {
    return referencedIds(this.#documents, answers, { using: 'byBlob', field: 'blob', of: ({ blob }) => blob }, keys)
  }
}
wire(StoredResponseBlobs, DocumentStore)
