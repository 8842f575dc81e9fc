import { type Command, DocumentStore, wire } from 'pounce/sdk'
import { type DoctorRow, recordsRow } from 'pounce/sdk/kit'
import { type Folder, folders } from './collection.ts'

/** The part of `pounce doctor` that finds folders in another dataset than the one that contains them, or whose parent folder is. */
export class FolderDoctor implements Command {
  readonly name = 'doctor'
  readonly summary = 'Check the installation for problems; changes nothing without an option'
  readonly #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async run(_input: unknown, progress: (message: string) => void): Promise<readonly DoctorRow[]> {
    progress('places of folders')
    const check = {
      in: folders,
      findingsIn: (batch: readonly Folder[]) => this.#misplacedIn(batch),
      text: ({ id, dataset, parent }: Folder) => `folder ${id} is in dataset ${dataset}, its ${parent.kind} ${parent.id} is not`,
      remedy: 'moving the folder elsewhere and back takes it along, with its contents',
    }
    return [await recordsRow(this.#documents, 'places of folders', check)]
  }

  /** Parents that do not exist are reported as references. */
  async #misplacedIn(batch: readonly Folder[]): Promise<readonly Folder[]> {
    const inFolders = batch.flatMap(({ parent }) => (parent.kind === 'folder' ? [parent.id] : []))
    const parents = await this.#documents.getMany(folders, [...new Set(inFolders)])
    return batch.filter(
      ({ dataset, parent }) => (parent.kind === 'dataset' ? parent.id : (parents.get(parent.id)?.dataset ?? dataset)) !== dataset,
    )
  }
}
wire(FolderDoctor, DocumentStore)
