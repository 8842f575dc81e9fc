import { hash } from 'node:crypto'
import {
  type AnyEvent,
  anonymousUserId,
  type BatchHandler,
  Clock,
  CommitConflict,
  DocumentStore,
  eq,
  event,
  type Stored,
  type StoredEvent,
  type Time,
  wire,
} from 'pounce/sdk'
import { personalRecords, removeFound, requireDone } from 'pounce/sdk/kit'
import { type BatchRecord, uploadBatches, uploadBatchFiles } from './collection.ts'
import { Config, type Settings } from './stored-files.ts'

/** Batches of uploads are kept for a week. */
export const PersonalBatches = personalRecords({
  name: 'upload-batches',
  summary: 'Files that you uploaded together within the last week: the dataset and when.',
  in: uploadBatches,
  find: ({ id }) => ({ using: 'byUser', where: eq('user', id) }),
  isOf: ({ user }, { id }) => user === id,
  show: ({ id, dataset, state, due }) => ({ id, dataset, state, due }),
  erase: () => ({ set: { user: anonymousUserId } }),
})

type Batched = StoredEvent<'file.batched'>

const keptMs = 7 * 24 * 60 * 60 * 1000
const tries = 50
/** Ids generated in the same second share this prefix. */
const secondOf = (id: string): string => id.slice(0, 18)

const batchOf = ({ actor = anonymousUserId, data: { dataset, batch } }: Batched): string =>
  hash('sha256', `${actor} ${dataset} ${batch}`).slice(0, 24)

/** Collects the files of batches, and emits one event per batch once no more files arrive. */
export class UploadBatches implements BatchHandler {
  readonly #quietMs: number
  readonly #documents: DocumentStore
  readonly #clock: Clock

  constructor({ batchQuietSeconds }: Settings, documents: DocumentStore, clock: Clock) {
    this.#quietMs = batchQuietSeconds * 1000
    this.#documents = documents
    this.#clock = clock
  }

  /** Redelivery adds nothing: the files are a set. */
  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    const batched = events.filter(one => one.type === 'file.batched')
    for (const [batch, some] of Map.groupBy(batched, batchOf)) {
      for (const [second, files] of Map.groupBy(some, ({ subject }) => secondOf(subject.id))) {
        await this.#addFiles(`${batch}-${second}`, batch, [...new Set(files.map(({ subject }) => subject.id))])
      }
      await this.#open(batch, some)
    }
  }

  async #addFiles(id: string, batch: string, files: readonly string[]): Promise<void> {
    await this.#upsert(
      () => this.#documents.commit({ update: id, in: uploadBatchFiles, addToSet: { files } }),
      () => this.#documents.commit({ insert: { id, batch, files }, into: uploadBatchFiles }),
    )
  }

  async #open(id: string, some: readonly Batched[]): Promise<void> {
    const [first] = some
    if (!first) return
    const { actor: user = anonymousUserId, data } = first
    const hasRootFiles = some.some(({ data: { folder } }) => folder === null)
    const extract = some.some(({ data }) => data.extract)
    const set = {
      state: 'open' as const,
      due: this.#in(this.#quietMs),
      ...(hasRootFiles ? { hasRootFiles } : {}),
      ...(extract ? { extract } : {}),
    }
    const insert = { id, user, dataset: data.dataset, hasRootFiles, extract, state: set.state, due: set.due }
    await this.#upsert(
      () => this.#documents.commit({ update: id, in: uploadBatches, set }),
      () => this.#documents.commit({ insert, into: uploadBatches }),
    )
  }

  /** A concurrent second insert finds the record of the first. */
  async #upsert(update: () => Promise<unknown>, insert: () => Promise<unknown>): Promise<void> {
    for (let left = tries; ; left--) {
      for (const change of [update, insert]) {
        try {
          await change()
          return
        } catch (error) {
          if (!(error instanceof CommitConflict) || left === 0) throw error
        }
      }
    }
  }

  /** Emits the events of batches without new files for a while, and deletes old ones. */
  async run(signal: AbortSignal): Promise<void> {
    for await (const batch of this.#due('open')) {
      if (signal.aborted) return
      await this.#complete(batch)
    }
    for await (const { id, revision } of this.#due('complete')) {
      if (signal.aborted) return
      requireDone(await this.#documents.commitEach([{ change: { tombstone: id, in: uploadBatches, where: eq('revision', revision) } }]))
      if (!(await this.#documents.get(uploadBatches, id)))
        await removeFound(this.#documents, uploadBatchFiles, { using: 'byBatch', where: eq('batch', id), signal })
    }
  }

  async *#due(state: BatchRecord['state']): AsyncIterable<BatchRecord & Stored> {
    const now = this.#clock.now().toISOString()
    const sort = { by: 'due', order: 'ascending' } as const
    for await (const batch of this.#documents.scan(uploadBatches, { using: 'byDue', where: eq('state', state), sort })) {
      if (batch.due > now) return
      yield batch
    }
  }

  async #complete({ id, revision, user, dataset, hasRootFiles, extract }: BatchRecord & Stored): Promise<void> {
    let files = 0
    for await (const some of this.#documents.scan(uploadBatchFiles, { using: 'byBatch', where: eq('batch', id) }))
      files += some.files.length
    const set = { state: 'complete', due: this.#in(keptMs) }
    const added = event(
      'dataset.files-added',
      { kind: 'dataset', id: dataset },
      { batch: id, files, inFolders: !hasRootFiles, extract },
      user,
    )
    // A file that arrives meanwhile reopens the batch.
    requireDone(
      await this.#documents.commitEach([
        { change: { update: id, in: uploadBatches, where: eq('revision', revision), set }, events: [added] },
      ]),
    )
  }

  #in(ms: number): Time {
    return new Date(this.#clock.now().getTime() + ms).toISOString()
  }
}
wire(UploadBatches, Config, DocumentStore, Clock)
