import {
  authorize,
  type Caller,
  FileIngest,
  type FileRecord,
  Files,
  Folders,
  Invalid,
  NotFound,
  Policy,
  type Stored,
  s,
  wire,
} from 'pounce/sdk'

type File = FileRecord & Stored

/** A file that a client is about to upload. */
export interface CheckedFile {
  readonly path: string
  readonly size: number
  readonly sha256?: string | undefined
}

/** The existing file at its path. */
export interface Finding {
  readonly path: string
  readonly state: 'absent' | 'same' | 'other' | 'invalid'
  /** Id of the existing file. */
  readonly id: string | null
  /** The error in the path. */
  readonly message?: string
}

/** The target of a file, as far as its path exists. */
interface UploadTarget {
  readonly file: CheckedFile
  readonly name: string
  /** Id of the dataset or folder; undefined if it does not exist. */
  readonly in: string | undefined
}

/** Number of concurrent reads of the store. */
const maxConcurrent = 16
/** Maximum number of files with one name in one location that are compared: the newest. */
const maxAlike = 20

/** Compares files that are about to be uploaded with those at their paths. */
export class UploadCheck {
  readonly #ingest: FileIngest
  readonly #files: Files
  readonly #folders: Folders
  readonly #policy: Policy

  constructor(ingest: FileIngest, files: Files, folders: Folders, policy: Policy) {
    this.#ingest = ingest
    this.#files = files
    this.#folders = folders
    this.#policy = policy
  }

  /** One finding for each file, in order. Hidden files are reported as absent. */
  async check(
    caller: Caller,
    { dataset, folder }: { readonly dataset: string; readonly folder?: string | undefined },
    files: readonly CheckedFile[],
  ): Promise<readonly Finding[]> {
    await authorize(this.#policy, caller, 'AddResourceToDataset', { kind: 'dataset', id: dataset })
    const top = folder ?? dataset
    if (folder !== undefined && (s.isId(folder) ? await this.#folders.get(folder) : undefined)?.dataset !== dataset)
      throw new NotFound('folder')
    const places = new Map<string, Promise<string | undefined>>([['', Promise.resolve(top)]])
    const found = await sideBySide(files, async file => {
      const wanted = await this.#follow(file, top, dataset, places)
      if ('state' in wanted) return wanted
      const alike = wanted.in === undefined ? [] : await this.#files.named(wanted.in, wanted.name, maxAlike)
      return { file, alike }
    })
    const ids = [...new Set(found.flatMap(one => ('alike' in one ? one.alike.map(({ id }) => id) : [])))]
    const seen = await this.#policy.allowed(caller, 'ViewFile', 'file', ids)
    return found.map(one =>
      'state' in one
        ? one
        : findingOf(
            one.file,
            one.alike.filter(({ id }) => seen.has(id)),
          ),
    )
  }

  async #follow(
    file: CheckedFile,
    top: string,
    dataset: string,
    places: Map<string, Promise<string | undefined>>,
  ): Promise<UploadTarget | Finding> {
    const { path } = file
    try {
      const { folders, name } = this.#ingest.pathOf(path)
      const key = folders.join('/')
      const place = places.get(key) ?? this.#folderAt(top, dataset, folders)
      places.set(key, place)
      return { file, name, in: await place }
    } catch (error) {
      if (!(error instanceof Invalid)) throw error
      return { path, state: 'invalid', id: null, message: error.message }
    }
  }

  async #folderAt(top: string, dataset: string, path: readonly string[]): Promise<string | undefined> {
    const parent = { kind: top === dataset ? ('dataset' as const) : ('folder' as const), id: top }
    return (await this.#folders.at({ parent, path }))?.id
  }
}
wire(UploadCheck, FileIngest, Files, Folders, Policy)

/** Without a digest the size decides. */
const isSame = ({ size, sha256 }: CheckedFile, file: File): boolean =>
  file.sizeBytes === size && (sha256 === undefined || file.sha256 === sha256.toLowerCase())

const findingOf = (wanted: CheckedFile, alike: readonly File[]): Finding => {
  const same = alike.find(file => isSame(wanted, file))
  const [newest] = alike
  return { path: wanted.path, state: same ? 'same' : newest ? 'other' : 'absent', id: (same ?? newest)?.id ?? null }
}

const sideBySide = async <T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<readonly R[]> => {
  const results: R[] = []
  for (let at = 0; at < items.length; at += maxConcurrent)
    results.push(...(await Promise.all(items.slice(at, at + maxConcurrent).map(work))))
  return results
}
