import { type AnyEvent, type EventType, Files, type Ref, type StoredEvent, wire } from 'pounce/sdk'
import { Indexer } from './indexer.ts'

/** Events that change what a search must find. Counts of views and downloads are not indexed. */
export const searchEvents: readonly EventType[] = [
  'space.created',
  'space.updated',
  'space.removed',
  'collection.created',
  'collection.updated',
  'collection.attached',
  'collection.detached',
  'collection.trashed',
  'collection.restored',
  'collection.removed',
  'dataset.created',
  'dataset.updated',
  'dataset.attached',
  'dataset.detached',
  'dataset.trashed',
  'dataset.restored',
  'dataset.removed',
  'file.created',
  'file.updated',
  'file.attached',
  'file.detached',
  'file.moved',
  'file.removed',
  'metadata.added',
  'metadata.removed',
  'tags.added',
  'tags.removed',
  'comment.added',
  'comment.updated',
  'comment.removed',
  'section.removed',
  'sensor.created',
  'sensor.updated',
  'sensor.removed',
  'stream.created',
  'stream.updated',
  'stream.removed',
]

/** Fields that are not indexed: a change of only these is ignored. */
const unindexed = new Set(['status', 'thumbnail', 'license', 'showPreviews'])

const matters = (event: AnyEvent): boolean => !('fields' in event.data) || event.data.fields.some(field => !unindexed.has(field))

/** The resource to reindex for an event: metadata and comments belong to their target, a deleted section to its file. */
const aboutOf = (event: AnyEvent): Ref => {
  switch (event.type) {
    case 'metadata.added':
    case 'metadata.removed':
    case 'comment.added':
    case 'comment.updated':
    case 'comment.removed':
      return event.data.target
    case 'section.removed':
      return { kind: 'file', id: event.data.file }
    default:
      return event.subject
  }
}

/** Keeps the index up to date with events. */
export class IndexChanges {
  #indexing: Indexer

  constructor(indexing: Indexer) {
    this.#indexing = indexing
  }

  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    const byKind = new Map<Ref['kind'], Set<string>>()
    const about = events.filter(matters).map(aboutOf)
    const sections = about.filter(({ kind }) => kind === 'section').map(({ id }) => id)
    const files = sections.length > 0 ? await this.#indexing.filesOf(sections) : []
    for (const { kind, id } of [...about, ...files.map(id => ({ kind: 'file', id }) as const)]) {
      if (!this.#indexing.canFind(kind)) continue
      const ids = byKind.get(kind) ?? new Set()
      byKind.set(kind, ids.add(id))
    }
    // Run concurrently, so that kinds share a write. All must have ended before a batch is repeated.
    const outcomes = await Promise.allSettled([...byKind].map(([kind, ids]) => this.#indexing.refresh(kind, [...ids])))
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  }
}
wire(IndexChanges, Indexer)

const rightsFields = new Set(['access', 'isPublic', 'spaces', 'collections', 'state'])

/** Files have the rights of their datasets: when those change, the files are reindexed. */
export class IndexContents {
  #indexing: Indexer
  #files: Files

  constructor(indexing: Indexer, files: Files) {
    this.#indexing = indexing
    this.#files = files
  }

  async handle(
    event: StoredEvent<'dataset.updated' | 'dataset.attached' | 'dataset.detached' | 'dataset.trashed' | 'dataset.restored'>,
  ): Promise<void> {
    if (event.type === 'dataset.updated' && 'fields' in event.data && !event.data.fields.some(field => rightsFields.has(field))) return
    let batch: string[] = []
    for await (const file of this.#files.ofDataset(event.subject.id)) {
      batch.push(file.id)
      if (batch.length < 500) continue
      await this.#indexing.refresh('file', batch)
      batch = []
    }
    await this.#indexing.refresh('file', batch)
  }
}
wire(IndexContents, Indexer, Files)
