import {
  type Clock,
  CommitConflict,
  type Contributions,
  type DocumentStore,
  event,
  type FileRecord,
  type Ids,
  type NewEvent,
  type StorageQuota,
  type Stored,
} from 'pounce/sdk'
import { type FileCopy, noStatistics } from 'pounce/sdk/kit'
import { files } from './collection.ts'
import type { FileRemoval } from './file-removal.ts'

type File = FileRecord & Stored

interface Tools {
  readonly documents: DocumentStore
  readonly removal: FileRemoval
  readonly quotas: Contributions<StorageQuota>
  readonly ids: Ids
  readonly clock: Clock
  /** The events for a copy that is shown immediately. */
  readonly announcing: (copy: FileRecord & { readonly id: string }, batch: string) => readonly NewEvent[]
}

/**
 * Creates records that share the bytes of others. Bytes are deleted with the last record that refers to them, so each original is checked
 * again once its copy is durable: if it still exists, the bytes had an owner at any time. If it was deleted, the copy is deleted too.
 */
export const copyFiles = async (
  { documents, removal, quotas, ids, clock, announcing }: Tools,
  originals: readonly File[],
  { author, placesOf, shown }: FileCopy,
): Promise<ReadonlyMap<string, string>> => {
  const now = clock.now().toISOString()
  const planned = originals.map(original => {
    const id = shown?.idOf(original) ?? ids.next()
    const copy = { id, ...copyOf(original), author, created: now, places: placesOf(original) }
    return { original, id, copy: shown ? copy : { ...copy, untold: { extract: false, key: null } } }
  })
  const datasets = [...new Set(originals.flatMap(original => placesOf(original).map(({ dataset }) => dataset)))]
  const sizes = planned.map(({ original: { sizeBytes }, id }) => ({ id, sizeBytes }))
  for (const quota of quotas.all()) await quota.reserve({ author, datasets }, sizes)
  const done = await documents.commitEach(
    planned.map(({ original, copy }) => ({
      change: { insert: copy, into: files },
      events: [...(shown ? announcing(copy, shown.batch) : []), ...eventsOf(copy.id, original, author)],
    })),
  )
  const notMade = planned.filter((_, at) => isRefused(done[at])).map(({ id }) => id)
  if (notMade.length > 0) for (const quota of quotas.all()) await quota.release(notMade)
  const failed = done.find(isRefused)
  if (failed && !failed.ok) throw failed.error
  const left = await documents.getMany(
    files,
    originals.map(({ id }) => id),
  )
  const copies = new Map<string, string>()
  for (const [at, { original, id }] of planned.entries()) {
    const result = done[at]
    if (left.has(original.id)) copies.set(original.id, id)
    else if (result?.ok) await unlessGone(removal.remove(result.document, undefined))
  }
  return copies
}

/** False for copies that an interrupted attempt has already created. */
const isRefused = (result: Awaited<ReturnType<DocumentStore['commitEach']>>[number] | undefined): boolean =>
  result?.ok === false && !(result.error instanceof CommitConflict && result.error.reason === 'exists')

const copyOf = (original: File): Omit<FileRecord, 'author' | 'created' | 'places'> => {
  const { name, originalName, description, contentType, sizeBytes, sha256, blob, status, thumbnail, showPreviews, license, tags, scan } =
    original
  return {
    ...{ name, originalName, description, contentType, sizeBytes, sha256, blob, thumbnail, showPreviews, license, tags },
    ...(scan ? { scan: { ...scan, extract: false } } : {}),
    status: status === 'ARCHIVED' ? 'ARCHIVED' : 'PROCESSED',
    statistics: noStatistics,
  }
}

/** A copy gets its own thumbnail from the plugin that stores thumbnails: the original's thumbnail has the rights of the original. */
const eventsOf = (id: string, { id: from, thumbnail }: File, author: string): readonly NewEvent[] => {
  const copied = event('file.copied', { kind: 'file', id }, { from }, author)
  if (thumbnail === null) return [copied]
  return [copied, event('thumbnail.attached', { kind: 'thumbnail', id: thumbnail }, { target: { kind: 'file', id } })]
}

const unlessGone = async (removal: Promise<void>): Promise<void> => {
  try {
    await removal
  } catch (error) {
    if (!(error instanceof CommitConflict)) throw error
  }
}
