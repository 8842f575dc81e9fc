import { type Caller, type FileRecord, Files, Log, Policy, type Stored, s, wire } from 'pounce/sdk'
import { FileRemoval } from './file-removal.ts'

/** The outcome for each file that was to be deleted. */
export interface BulkRemoved {
  deleted: string[]
  'not found': string[]
  'error deleting': string[]
  'no permission': string[]
}
type RemovalOutcome = keyof BulkRemoved

/** Deletes many files, each with its own permission check and outcome. */
export class BulkRemoval {
  #files: Files
  #policy: Policy
  #removal: FileRemoval
  #log: Log

  constructor(files: Files, policy: Policy, removal: FileRemoval, log: Log) {
    this.#files = files
    this.#policy = policy
    this.#removal = removal
    this.#log = log
  }

  /** At most 1,000 ids; duplicates are deleted once. A file that the caller may not view is not found. */
  async remove(caller: Caller, named: readonly string[]): Promise<BulkRemoved> {
    const ids = [...new Set(named)]
    const wellFormed = ids.filter(s.isId)
    const [files, allowed, seen] = await Promise.all([
      this.#files.getMany(wellFormed),
      this.#policy.allowed(caller, 'DeleteFile', 'file', wellFormed),
      this.#policy.allowed(caller, 'ViewFile', 'file', wellFormed),
    ])
    const outcomes: BulkRemoved = { deleted: [], 'not found': [], 'error deleting': [], 'no permission': [] }
    for (const id of ids) {
      const file = files.get(id)
      const outcome = file && allowed.has(id) ? await this.#removed(file, caller) : seen.has(id) ? 'no permission' : 'not found'
      outcomes[outcome].push(id)
    }
    return outcomes
  }

  async #removed(file: FileRecord & Stored, caller: Caller): Promise<RemovalOutcome> {
    try {
      await this.#removal.remove(file, caller.user?.id)
      return 'deleted'
    } catch (error) {
      this.#log.warn('Failed to delete one of several files', { file: file.id, error })
      return 'error deleting'
    }
  }
}
wire(BulkRemoval, Files, Policy, FileRemoval, Log)
