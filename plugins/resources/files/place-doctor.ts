import { type Command, DocumentStore, type FileRecord, Folders, type Stored, wire } from 'pounce/sdk'
import { type DoctorRow, doctorRow, inBatches } from 'pounce/sdk/kit'
import { files } from './collection.ts'

/** Maximum number of findings that are kept. */
const maxFound = 1000

interface Finding {
  readonly file: string
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
    const found: Finding[] = []
    for await (const batch of inBatches(this.#documents.walk(files))) {
      found.push(...(await this.#misplacedIn(batch)))
      if (found.length >= maxFound) break
    }
    const remains = async ({ file, folder }: Finding): Promise<boolean> => {
      const now = await this.#documents.get(files, file)
      return now !== undefined && (await this.#misplacedIn([now])).some(again => again.folder === folder)
    }
    const text = ({ file, folder, dataset }: Finding): string => `file ${file} is in dataset ${dataset}, its folder ${folder} is not`
    const remedy = 'moving the folder to another dataset and back takes them along'
    return [await doctorRow(this.#documents, 'places', found, { remains, text, remedy })]
  }

  /** Folders that do not exist are reported as references. */
  async #misplacedIn(batch: readonly (FileRecord & Stored)[]): Promise<readonly Finding[]> {
    const placed = batch.flatMap(({ id: file, places }) =>
      places.flatMap(({ dataset, folder }) => (folder === null ? [] : [{ file, folder, dataset }])),
    )
    const datasets = await this.#folders.datasetsOf([...new Set(placed.map(({ folder }) => folder))])
    return placed.filter(({ folder, dataset }) => (datasets.get(folder) ?? dataset) !== dataset)
  }
}
wire(PlaceDoctor, DocumentStore, Folders)
