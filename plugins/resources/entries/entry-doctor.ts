import { type Command, DocumentStore, eq, Files, Folders, wire } from 'pounce/sdk'
import { type DoctorRow, doctorRow } from 'pounce/sdk/kit'
import { entries, entryIndexes, listed } from './entry-index.ts'
import { countNames, type EntryCounts, EntryTotals, none } from './entry-totals.ts'

const batchSize = 1000
/** Maximum number of datasets that are reported. */
const maxFound = 1000

interface Difference {
  readonly dataset: string
  readonly text: string
}

/** The part of `pounce doctor` that compares the index of the entries of large datasets, and its totals, with their folders and files. */
export class EntryDoctor implements Command {
  readonly name = 'doctor'
  readonly summary = 'Check the installation for problems; changes nothing without an option'
  readonly #documents: DocumentStore
  readonly #folders: Folders
  readonly #files: Files
  readonly #totals: EntryTotals

  constructor(documents: DocumentStore, folders: Folders, files: Files, totals: EntryTotals) {
    this.#documents = documents
    this.#folders = folders
    this.#files = files
    this.#totals = totals
  }

  async run(_input: unknown, progress: (message: string) => void): Promise<readonly DoctorRow[]> {
    progress('entries of large datasets')
    const found: Difference[] = []
    for await (const { id, isReady } of this.#documents.walk(entryIndexes)) {
      const difference = isReady && found.length < maxFound ? await this.#differenceIn(id) : undefined
      if (difference) found.push(difference)
    }
    const remains = async ({ dataset }: Difference): Promise<boolean> =>
      (await this.#documents.get(entryIndexes, dataset))?.isReady === true && (await this.#differenceIn(dataset)) !== undefined
    return [await doctorRow(this.#documents, 'entries', found, { remains, text: ({ text }) => text })]
  }

  async #differenceIn(dataset: string): Promise<Difference | undefined> {
    const expected = await this.#recount(dataset)
    const all = expected.get(dataset) ?? none
    for (const [kind, count] of [['folder', all.allFolders] as const, ['file', all.allFiles] as const]) {
      const where = eq('at', listed.anywhere(kind, dataset))
      const indexed = await this.#documents.count(entries, { using: 'byName', where, upTo: count + 1 })
      if (indexed !== count) return { dataset, text: `dataset ${dataset}: ${indexed} ${kind} entries instead of ${count}` }
    }
    const places = [...expected.keys()]
    for (let at = 0; at < places.length; at += batchSize) {
      const some = places.slice(at, at + batchSize)
      const stored = await this.#totals.ofEach(some)
      for (const place of some) {
        const [is, should] = [stored.get(place) ?? none, expected.get(place) ?? none]
        const name = countNames.find(each => is[each] !== should[each])
        if (name) return { dataset, text: `dataset ${dataset}: ${name} of ${place} is ${is[name]} instead of ${should[name]}` }
      }
    }
    return undefined
  }

  /** The totals of each location in a dataset. */
  async #recount(dataset: string): Promise<ReadonlyMap<string, EntryCounts>> {
    const totals = new Map<string, Record<keyof EntryCounts, number>>()
    const at = (place: string): Record<keyof EntryCounts, number> => {
      const known = totals.get(place) ?? { ...none }
      totals.set(place, known)
      return known
    }
    for await (const { parent } of this.#folders.ofDataset(dataset)) {
      at(parent.id).folders += 1
      at(dataset).allFolders += 1
    }
    for await (const { places, sizeBytes } of this.#files.ofDataset(dataset)) {
      for (const place of new Set(places.flatMap(each => (each.dataset === dataset ? [each.in] : [])))) {
        at(place).files += 1
        at(place).bytes += sizeBytes
      }
      at(dataset).allFiles += 1
      at(dataset).allBytes += sizeBytes
    }
    return totals
  }
}
wire(EntryDoctor, DocumentStore, Folders, Files, EntryTotals)
