import { type Command, DocumentStore, type FileRecord, Folders, type Stored, wire } from 'pounce/sdk'
import { type DoctorRow, recordsRow } from 'pounce/sdk/kit'
import { files } from './collection.ts'

interface Finding {
  /** Of the file. */
  readonly id: string
  readonly folder: string
  readonly dataset: string
}

/** The part of `pounce doctor` that finds files whose folder is in another dataset than they are. */
export class PlaceDoctor implements Command {
  readonly name = 'doctor'
  readonly summary = 'Check the installation for problems; changes nothing without an option'
  readonly #documents: DocumentStore
  readonly #folders: Folders

  constructor(documents: DocumentStore, folders: Folders) {
    this.#documents = documents
    this.#folders = folders
  }

  async run(_input: unknown, progress: (message: string) => void): Promise<readonly DoctorRow[]> {
    progress('places of files')
    const check = {
      in: files,
      findingsIn: (batch: readonly (FileRecord & Stored)[]) => this.#misplacedIn(batch),
      text: ({ id, folder, dataset }: Finding) => `file ${id} is in dataset ${dataset}, its folder ${folder} is not`,
      remedy: 'moving the folder to another dataset and back takes them along',
    }
    return [await recordsRow(this.#documents, 'places', check)]
  }

  /** Folders that do not exist are reported as references. */
  async #misplacedIn(batch: readonly (FileRecord & Stored)[]): Promise<readonly Finding[]> {
    const placed = batch.flatMap(({ id, places }) =>
      places.flatMap(({ dataset, folder }) => (folder === null ? [] : [{ id, folder, dataset }])),
    )
    const datasets = await this.#folders.datasetsOf([...new Set(placed.map(({ folder }) => folder))])
    return placed.filter(({ folder, dataset }) => (datasets.get(folder) ?? dataset) !== dataset)
  }
}
wire(PlaceDoctor, DocumentStore, Folders)
