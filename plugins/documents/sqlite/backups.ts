import { mkdir, readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Clock } from 'pounce/sdk'
import { copyDatabase } from 'pounce/sdk/sqlite'

const isBackup = (name: string): boolean => /^before-migration-\d{8}T\d{9}Z\.db$/.test(name)
/** What a killed process may leave: the backup and its journal. */
const isPartial = (name: string): boolean => /\.db\.part(?:-journal)?$/.test(name)

/** Copies of the database in the folder `backups` beside it, made before migrations. The newest ones are kept. */
export class Backups {
  readonly #file: string
  readonly #folder: string
  readonly #max: number
  readonly #clock: Clock

  constructor(file: string, max: number, clock: Clock) {
    this.#file = file
    this.#folder = join(dirname(file), 'backups')
    this.#max = max
    this.#clock = clock
  }

  /** Writes a backup and returns its path; undefined if none are kept. A failed one leaves nothing and removes no earlier one. */
  async write(): Promise<string | undefined> {
    if (this.#max === 0) return undefined
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    await this.#remove((await readdir(this.#folder)).filter(isPartial))
    const file = join(this.#folder, `before-migration-${this.#clock.now().toISOString().replace(/[-:.]/g, '')}.db`)
    try {
      await copyDatabase(this.#file, file)
    } catch (error) {
      const message = `The backup of the records before migrations failed (${(error as Error).message}): free space for a copy of ${this.#file} in ${this.#folder}, or make a backup and set documents.sqlite.maxBackups to 0`
      throw new Error(message, { cause: error })
    }
    await this.#remove((await readdir(this.#folder)).filter(isBackup).sort().slice(0, -this.#max))
    return file
  }

  async #remove(names: readonly string[]): Promise<void> {
    for (const name of names) await rm(join(this.#folder, name), { force: true })
  }
}
