import { execFile } from 'node:child_process'
import { access } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Command } from './ports/kernel.ts'
import { Unavailable } from './problem.ts'

/** A database file, and what its plugin knows about it. */
export interface CheckedDatabase {
  /** As in the row `database documents`. */
  readonly name: string
  /** Path of the file in use. */
  readonly file: () => string
  /** True if the file is created at the first use. */
  readonly mayBeAbsent?: boolean
  /** Columns that contain JSON (or are empty): `doc` of every table, or `events.doc` of one. Their values are parsed with `read-data`. */
  readonly jsonColumns: readonly string[]
  /** What to do about damage, as an imperative: `restore a backup`. */
  readonly remedy: string
}

/** What to check, as the argument of the process that does. */
export interface DatabaseCheck {
  readonly file: string
  readonly isRead: boolean
  readonly jsonColumns: readonly string[]
}

/** What SQLite reports about a file: nothing about an intact one. `isDamage` is false if the file could not be checked. */
export interface DatabaseFindings {
  readonly isDamage: boolean
  readonly messages: readonly string[]
}

const maxShown = 3
const maxShownLength = 200

/**
 * The part of `pounce doctor` that checks a SQLite database, including what is in its log; with `read-data` also its indexes and JSON values. It changes
 * nothing and delays no writer. Another process reads the file: a thread cannot be terminated while SQLite checks, so stopping the server would take as long.
 */
export class DatabaseDoctor implements Command {
  readonly name = 'doctor'
  readonly summary = 'Check the installation for problems; changes nothing without an option'
  readonly options = [
    { name: 'read-data', summary: 'Verify the checksums of all stored files, and all indexes and values of databases', takesValue: false },
  ]
  readonly #database: CheckedDatabase
  readonly #stopped = new AbortController()

  constructor(database: CheckedDatabase) {
    this.#database = database
  }

  /** Throws `Unavailable` if the plugin is stopped meanwhile. */
  async run(
    { options }: Parameters<Command['run']>[0],
    progress: (message: string) => void,
  ): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const { name, mayBeAbsent, file } = this.#database
    const check = `database ${name}`
    progress(check)
    const path = file()
    if (mayBeAbsent && !(await exists(path))) return [{ check, ok: true, detail: 'no file yet' }]
    const findings = await this.#check(path, options['read-data'] === true)
    // Another file has replaced it meanwhile, such as after a rebuild of the search index.
    if (findings.messages.length > 0 && file() !== path) return this.run({ arguments: {}, options }, progress)
    return [{ check, ok: findings.messages.length === 0, ...this.#detail(path, findings) }]
  }

  async #check(file: string, isRead: boolean): Promise<DatabaseFindings> {
    const check: DatabaseCheck = { file, isRead, jsonColumns: this.#database.jsonColumns }
    const program = fileURLToPath(new URL('./database-check.ts', import.meta.url))
    try {
      const { signal } = this.#stopped
      const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify(check)], { signal, killSignal: 'SIGKILL' })
      return JSON.parse(stdout) as DatabaseFindings
    } catch (error) {
      if (this.#stopped.signal.aborted) throw new Unavailable('The check was stopped', { cause: error })
      return { isDamage: false, messages: [error instanceof Error ? error.message : String(error)] }
    }
  }

  #detail(file: string, { isDamage, messages }: DatabaseFindings): { readonly detail?: string } {
    if (messages.length === 0) return {}
    const shown = messages.slice(0, maxShown).map(message => message.slice(0, maxShownLength))
    const found = [...shown, ...(messages.length > maxShown ? ['and more'] : [])].join('; ')
    const detail = isDamage
      ? `${file} is damaged (${found}): ${this.#database.remedy}`
      : `${file} could not be checked (${found}): check the disk and the access rights, then try again`
    return { detail }
  }

  dispose(): void {
    this.#stopped.abort()
  }
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )
