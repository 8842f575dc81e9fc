import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { BackupParts, type Command, Conflict, type Contributions, Installation, Invalid, Unavailable, wire } from 'pounce/sdk'
import type { BackupPart } from 'pounce/sdk/kit'

type Row = Readonly<Record<string, unknown>>

/** The file of a backup with the id of its installation. */
const ownerFile = 'installation'

/** The id of the installation that a folder is a backup of; undefined for a new folder. */
const ownerOf = async (folder: string): Promise<string | undefined> => {
  try {
    return (await readFile(join(folder, ownerFile), 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return undefined
  }
}

/** True for a folder in another one, and for the same one. */
const isIn = (inner: string, outer: string): boolean => {
  const path = relative(outer, inner)
  return path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path)
}

/** The path without symbolic links; that of the closest existing folder and the rest for one that does not exist. */
const realPathOf = async (path: string): Promise<string> => {
  try {
    return await realpath(path)
  } catch (error) {
    const parent = dirname(path)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === path) return path
    return join(await realPathOf(parent), basename(path))
  }
}

/** `pounce backup`: copies the local stores while the server runs. */
export class BackupCommand implements Command {
  readonly name = 'backup'
  readonly summary = 'Copy records, stored bytes and datapoints into a folder, while the server runs'
  readonly options = [
    {
      name: 'to',
      summary: 'Folder of the backup. Files that it already contains are not copied again',
      takesValue: true,
      isRequired: true,
      isPath: true,
    },
  ]
  readonly #parts: Contributions<BackupPart>
  readonly #installation: Installation
  #isRunning = false

  constructor(parts: Contributions<BackupPart>, installation: Installation) {
    this.#parts = parts
    this.#installation = installation
  }

  async run({ options }: Parameters<Command['run']>[0], progress: (message: string) => void): Promise<readonly Row[]> {
    const folder = resolve(String(options['to']))
    const parts = this.#parts.all()
    if (parts.length === 0)
      throw new Invalid('No store of this server is local: use the backup tools of their servers (docs/operations.md)')
    const targets = await Promise.all([folder, ...parts.map(({ name }) => join(folder, name))].map(realPathOf))
    for (const { source } of parts) {
      const path = await realPathOf(source)
      if (targets.some(target => isIn(target, path) || isIn(path, target)))
        throw new Invalid(`--to must be outside of ${source}, which is copied`)
    }
    if (this.#isRunning) throw new Conflict('A backup is already running: wait for its end')
    this.#isRunning = true
    try {
      await this.#claim(folder)
      return await this.#copy(parts, folder, progress)
    } catch (error) {
      if (error instanceof Conflict) throw error
      throw new Unavailable(`The backup in ${folder} is incomplete (${(error as Error).message}): run it again to complete it`, {
        cause: error,
      })
    } finally {
      this.#isRunning = false
    }
  }

  /** Throws `Conflict` for the backup of another installation. */
  async #claim(folder: string): Promise<void> {
    const { instance } = this.#installation
    const owner = await ownerOf(folder)
    if (owner === instance) return
    // A process killed while the file was written leaves it empty.
    if (owner) throw new Conflict(`${folder} is a backup of another installation (${owner}, not ${instance}): use another folder`)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await writeFile(join(folder, ownerFile), `${instance}\n`, { flush: true, mode: 0o600 })
  }

  async #copy(parts: readonly BackupPart[], folder: string, progress: (message: string) => void): Promise<readonly Row[]> {
    const releases = parts.flatMap(part => part.retain?.() ?? [])
    try {
      const rows: Row[] = []
      for (const part of parts.toSorted((one, other) => Number(one.holds === 'bytes') - Number(other.holds === 'bytes'))) {
        progress(part.name)
        const copy = await part.copyTo(join(folder, part.name), message => progress(`${part.name}: ${message}`))
        rows.push({ folder: part.name, ...copy })
      }
      const elsewhere = ['documents', 'blobs'].filter(name => !parts.some(part => part.name === name))
      const note = 'Not in a local store: back up its server, too'
      return [...rows, ...elsewhere.map(name => ({ folder: name, copied: 0, unchanged: 0, bytes: 0, note }))]
    } finally {
      for (const release of releases) await release()
    }
  }
}
wire(BackupCommand, BackupParts, Installation)
