import { type Collection, type DocumentStore, eq, type Stored } from 'pounce/sdk'
import { valueAt } from 'pounce/sdk/kit'
import type { BlobPlace, Change } from 'pounce/sdk/store-kit'
import type { BlobMigrator } from './blob-migrator.ts'
import { Fingerprint, sameContent } from './fingerprint.ts'

type Document = Stored & object

/** The stores and options of a document migration. */
export interface DocumentRoute {
  readonly from: DocumentStore
  readonly to: DocumentStore
  readonly blobs: BlobMigrator
  readonly places: readonly BlobPlace[]
}

const batchSize = 200
/** Number of files copied concurrently. */
const maxConcurrent = 8

/** Groups the items of an iterable into arrays. */
async function* batches<T>(items: AsyncIterable<T>): AsyncGenerator<T[]> {
  let batch: T[] = []
  for await (const item of items) {
    batch.push(item)
    if (batch.length === batchSize) {
      yield batch
      batch = []
    }
  }
  if (batch.length > 0) yield batch
}

/** Makes a target collection identical to the source, except for the new blob keys. */
export class DocumentMigrator {
  readonly #route: DocumentRoute

  constructor(route: DocumentRoute) {
    this.#route = route
  }

  get isNeeded(): boolean {
    return this.#route.from !== this.#route.to
  }

  /** Copies missing and different documents, and removes those that the source does not have. Repeating it without changes writes nothing. */
  async move(one: Collection<object>, onProgress: (count: number) => void): Promise<void> {
    let count = 0
    for await (const batch of batches(this.#route.from.walk(one))) {
      const moved = await this.#allMoved(one, batch)
      await this.#commit(this.isNeeded ? await this.#differences(one, moved) : this.#newKeys(one, batch, moved))
      count += batch.length
      onProgress(count)
    }
    if (this.isNeeded) await this.#removeOthers(one)
  }

  /** The number and digest of the documents on both sides. */
  async fingerprints(one: Collection<object>): Promise<{ readonly source: Fingerprint; readonly target: Fingerprint }> {
    const source = new Fingerprint()
    for await (const batch of batches(this.#route.from.walk(one)))
      for (const document of await this.#allMoved(one, batch)) source.add(document)
    if (!this.isNeeded) return { source, target: source }
    const target = new Fingerprint()
    for await (const document of this.#route.to.walk(one)) target.add(document)
    return { source, target }
  }

  /** Processes several concurrently; if one fails, still waits for the others, so that no work continues after a run has ended. */
  async #allMoved(one: Collection<object>, batch: readonly Document[]): Promise<readonly Document[]> {
    const moved: Document[] = []
    for (let at = 0; at < batch.length; at += maxConcurrent) {
      const results = await Promise.allSettled(batch.slice(at, at + maxConcurrent).map(document => this.#moved(one, document)))
      for (const result of results) {
        if (result.status === 'rejected') throw result.reason
        moved.push(result.value)
      }
    }
    return moved
  }

  async #moved(one: Collection<object>, document: Document): Promise<Document> {
    let moved = document
    for (const { field } of this.#placesOf(one)) {
      const key = valueAt(document, field)
      if (typeof key !== 'string') continue
      const newKey = await this.#route.blobs.newKey(key, `${one.name} ${document.id}`)
      if (newKey !== key) moved = withValue(moved, field.split('.'), newKey) as Document
    }
    return moved
  }

  #placesOf(one: Collection<object>): readonly BlobPlace[] {
    return this.#route.places.filter(place => place.in.name === one.name)
  }

  async #differences(one: Collection<object>, documents: readonly Document[]): Promise<Change[]> {
    const there = await this.#route.to.getMany(
      one,
      documents.map(({ id }) => id),
    )
    return documents.flatMap(({ revision: _revision, ...document }): Change[] => {
      const known = there.get(document.id)
      if (!known) return [{ insert: document, into: one }]
      return sameContent(known, document) ? [] : [{ replace: { ...document, revision: known.revision }, in: one }]
    })
  }

  #newKeys(one: Collection<object>, before: readonly Document[], after: readonly Document[]): Change[] {
    return before.flatMap((document, at) => {
      const moved = after[at]
      if (moved === undefined || moved === document) return []
      const fields = this.#placesOf(one).map(({ field }) => field)
      const set = Object.fromEntries(fields.map(field => [field, valueAt(moved, field) as string | null]))
      return [{ update: document.id, in: one, where: eq('revision', document.revision), set }]
    })
  }

  async #removeOthers(one: Collection<object>): Promise<void> {
    for await (const batch of batches(this.#route.to.walk(one))) {
      const ids = batch.map(({ id }) => id)
      const there = await this.#route.from.getMany(one, ids)
      await this.#commit(ids.filter(id => !there.has(id)).map(id => ({ tombstone: id, in: one })))
    }
  }

  async #commit(changes: readonly Change[]): Promise<void> {
    if (changes.length === 0) return
    for (const result of await this.#route.to.commitEach(changes.map(change => ({ change })))) if (!result.ok) throw result.error
  }
}

function withValue(document: unknown, [name = '', ...rest]: readonly string[], value: string): unknown {
  const members = document as Readonly<Record<string, unknown>>
  return { ...members, [name]: rest.length === 0 ? value : withValue(members[name], rest, value) }
}
