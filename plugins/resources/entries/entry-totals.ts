import {
  type AnyEvent,
  type BatchHandler,
  CommitConflict,
  collection,
  Datasets,
  DocumentStore,
  type EventType,
  eq,
  Folders,
  type Stored,
  type StoredEvent,
  wire,
} from 'pounce/sdk'
import { removeFound, requireDone } from 'pounce/sdk/kit'

export const countNames = ['folders', 'files', 'bytes', 'allFolders', 'allFiles', 'allBytes'] as const
export type EntryCounts = Readonly<Record<(typeof countNames)[number], number>>

/**
 * Totals of the entries directly in the root of a dataset or in a folder; the id is that of the dataset or folder. `all…`: of the whole
 * dataset, 0 for a folder.
 */
interface TotalsRecord extends EntryCounts {
  readonly dataset: string
  /** The most recently counted events, so that redelivered ones are counted once. */
  readonly counted: readonly string[]
}

export const entryTotals = collection<TotalsRecord>()('entry-totals', { byDataset: { on: ['dataset'] } })

/** More than the outbox delivers at once, so that redelivered events are still recognized. */
const remembered = 1000
const batchSize = 1000
const maxTries = 20

type Change = Partial<EntryCounts>
type Indexed = StoredEvent<'dataset.entry-indexed'>

/** The effect of an event on totals, by location. */
interface Effect {
  readonly place: string
  readonly change: Change
}

export const countedEvents = [...(['dataset.entry-indexed', 'folder.removed', 'dataset.removed'] as const)] satisfies readonly EventType[]

/** A file in several locations of a dataset is one of its files. */
const effectsOf = (dataset: string, { kind, from, to }: Indexed['data']): readonly Effect[] =>
  [
    { at: from, sign: -1 },
    { at: to, sign: 1 },
  ].flatMap(({ at, sign }) => {
    if (at === null) return []
    const bytes = sign * at.sizeBytes
    const [here, anywhere] =
      kind === 'folder'
        ? [{ folders: sign }, { allFolders: sign }]
        : [
            { files: sign, bytes },
            { allFiles: sign, allBytes: bytes },
          ]
    return [...at.places.map(place => ({ place, change: here })), { place: dataset, change: anywhere }]
  })

interface CountChanges {
  readonly dataset: string
  readonly changes: Map<string, Record<string, number>>
}

type PlacedCountChanges = readonly [place: string, CountChanges]

/** The combined effects of events, by location and event. */
const byPlace = (events: readonly AnyEvent[]): ReadonlyMap<string, CountChanges> => {
  const found = new Map<string, CountChanges>()
  for (const event of events) {
    if (event.type !== 'dataset.entry-indexed') continue
    const dataset = event.subject.id
    for (const { place, change } of effectsOf(dataset, event.data)) {
      const counting = found.get(place) ?? { dataset, changes: new Map() }
      const sums = counting.changes.get(event.id) ?? {}
      for (const [name, by] of Object.entries(change)) sums[name] = (sums[name] ?? 0) + by
      counting.changes.set(event.id, sums)
      // A folder can have been moved to another dataset: the newest event has the current one.
      found.set(place, { dataset, changes: counting.changes })
    }
  }
  return found
}

/** Maintains the number and size of entries in the locations of indexed datasets, with one commit per location and batch of events. */
export class EntryTotals implements BatchHandler {
  #documents: DocumentStore
  #datasets: Datasets
  #folders: Folders

  constructor(documents: DocumentStore, datasets: Datasets, folders: Folders) {
    this.#documents = documents
    this.#datasets = datasets
    this.#folders = folders
  }

  /** Totals of up to 1,000 locations, by id; empty locations are absent. */
  ofEach(places: readonly string[]): Promise<ReadonlyMap<string, EntryCounts>> {
    return this.#documents.getMany(entryTotals, places)
  }

  /** The sum over up to 1,000 locations. A file in several of them counts repeatedly. */
  async of(places: readonly string[]): Promise<EntryCounts> {
    const found = [...(await this.ofEach(places)).values()]
    const sum = (name: keyof EntryCounts): number => found.reduce((total, record) => total + record[name], 0)
    return Object.fromEntries(countNames.map(name => [name, sum(name)])) as EntryCounts
  }

  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    const countings = [...byPlace(events)]
    for (let at = 0; at < countings.length; at += batchSize) {
      let left: readonly PlacedCountChanges[] = countings.slice(at, at + batchSize)
      // A conflict is another kernel counting. After this many attempts the outbox redelivers the rest, and counted events are recognized.
      for (let tries = 0; left.length > 0; tries++) left = await this.#count(left, tries === maxTries)
    }
    for (const { type, subject } of events) {
      if (type === 'dataset.removed')
        await removeFound(this.#documents, entryTotals, { using: 'byDataset', where: eq('dataset', subject.id) })
      if (type === 'folder.removed') await this.#drop(subject.id)
    }
  }

  /** Returns those that another kernel changed concurrently; throws if `isLast`. */
  async #count(countings: readonly PlacedCountChanges[], isLast: boolean): Promise<readonly PlacedCountChanges[]> {
    const known = await this.#documents.getMany(
      entryTotals,
      countings.map(([place]) => place),
    )
    const missing = countings.flatMap(([place]) => (known.has(place) ? [] : [place]))
    const existing = await this.#existing(missing)
    const items = countings.flatMap(each => {
      const [place, counting] = each
      const record = known.get(place)
      if (!record && !existing.has(place)) return []
      const change = changeOf(place, counting, record)
      return change ? [{ each, change }] : []
    })
    const outcome = items.length === 0 ? [] : await this.#documents.commitEach(items.map(({ change }) => ({ change })))
    return items.flatMap(({ each }, at) => {
      const done = outcome[at]
      if (!done || done.ok) return []
      if (isLast || !(done.error instanceof CommitConflict)) throw done.error
      return [each]
    })
  }

  /** Totals of deleted locations are not stored. */
  async #existing(places: readonly string[]): Promise<ReadonlySet<string>> {
    if (places.length === 0) return new Set()
    const [datasets, folders] = await Promise.all([this.#datasets.getMany(places), this.#folders.getMany(places)])
    return new Set([...datasets.keys(), ...folders.keys()])
  }

  async #drop(place: string): Promise<void> {
    requireDone(await this.#documents.commitEach([{ change: { tombstone: place, in: entryTotals } }]))
  }
}
wire(EntryTotals, DocumentStore, Datasets, Folders)

export const none: EntryCounts = { folders: 0, files: 0, bytes: 0, allFolders: 0, allFiles: 0, allBytes: 0 }

/** Undefined when all of it was counted before. */
const changeOf = (place: string, { dataset, changes }: CountChanges, record: (TotalsRecord & Stored) | undefined) => {
  const counted = new Set(record?.counted)
  const fresh = [...changes].filter(([event]) => !counted.has(event))
  if (fresh.length === 0) return undefined
  const inc: Record<string, number> = {}
  for (const [, change] of fresh) for (const [name, by] of Object.entries(change)) inc[name] = (inc[name] ?? 0) + by
  const values = fresh.map(([event]) => event)
  if (!record) return { insert: { id: place, dataset, ...none, ...inc, counted: values }, into: entryTotals }
  const where = eq('revision', record.revision)
  return { update: place, in: entryTotals, where, set: { dataset }, inc, push: { counted: { values, keepLast: remembered } } }
}
