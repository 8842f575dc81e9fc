import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { CommitConflict, type DocumentStore, eq, type Log } from 'pounce/sdk'
import type { Config } from '../kernel/config.ts'
import { idOfName, leaseRecords } from '../kernel/kernel-records.ts'
import { StartupError } from '../kernel/startup-error.ts'

const name = 'kernel/local-stores'
const id = idOfName(name)
const leaseMs = 12_000
/** Another data folder waits longer than its owner renews, because clocks drift. */
const observedMs = leaseMs * 1.1
const pollMs = 500

/** The permanent id of a data folder, which is copied and moved with it. */
export const folderId = async (folder: string): Promise<string> => {
  const file = join(folder, 'folder-id')
  const known = (await readFile(file, 'utf8').catch(() => '')).trim()
  if (known) return known
  const made = randomUUID()
  await writeFile(file, `${made}\n`)
  return made
}

/**
 * Prevents two data folders from being used with the same shared records, while one of them contains stores of the installation: each kernel would
 * find only a part of the bytes, and mark the files of the other one as damaged. The lease is like those of `Leases`, but its owner is the data
 * folder, so that a restart need not wait.
 */
export class LocalStores {
  readonly #config: Config
  readonly #log: Log
  #owner = ''
  #documents: DocumentStore | undefined
  #renewing: NodeJS.Timeout | undefined

  constructor(config: Config, log: Log) {
    this.#config = config
    this.#log = log
  }

  /** Rejects while another data folder is in use with these records. A command, which has no roles, checks this only. */
  async claim(documents: DocumentStore, storePlugin: string | undefined): Promise<void> {
    const { plugins, kernel } = this.#config
    const local = plugins.filter(({ plugin }) => plugin.isLocal).map(one => one.name)
    if (local.length === 0 || storePlugin === undefined || local.includes(storePlugin)) return
    const folder = await folderId(kernel.data)
    await this.#refuseOthers(documents, folder, local)
    if (kernel.roles.length === 0) return
    this.#owner = `${folder} ${hostname()}:${kernel.data}`
    this.#documents = documents
    await this.#take(documents)
    this.#renewing = setInterval(() => void this.#renew(documents), leaseMs / 6).unref()
  }

  /** Lets other data folders start at once; while the store is unavailable they have to wait instead. */
  async release(): Promise<void> {
    const documents = this.#documents
    await this.abandon()
    if (!documents) return
    const where = eq('owner', this.#owner)
    await documents.commit({ update: id, in: leaseRecords, where, set: { owner: null } }).catch(() => undefined)
  }

  /** Stops renewing. */
  async abandon(): Promise<void> {
    clearInterval(this.#renewing)
    this.#documents = undefined
  }

  async #refuseOthers(documents: DocumentStore, folder: string, local: readonly string[]): Promise<void> {
    const first = await documents.get(leaseRecords, id)
    if (!first?.owner || first.owner.startsWith(`${folder} `)) return
    const until = performance.now() + observedMs
    this.#log.info('These records were last used with another data folder; checking that no server uses it', { owner: first.owner })
    while (performance.now() < until) {
      await setTimeout(pollMs)
      const now = await documents.get(leaseRecords, id)
      if (!now?.owner) return
      if (now.revision === first.revision) continue
      const other = now.owner.slice(now.owner.indexOf(' ') + 1)
      throw new StartupError(
        `Another server uses these records, with the data folder ${other}, and each data folder has its own ${local.join(' and ')}: stop that server, or configure stores that servers can share (docs/operations.md)`,
      )
    }
  }

  async #take(documents: DocumentStore): Promise<void> {
    const known = await documents.get(leaseRecords, id)
    const record = { id, name, owner: this.#owner, forMs: leaseMs, notBefore: new Date(0).toISOString(), fence: 1 }
    const made = known
      ? documents.commit({
          update: id,
          in: leaseRecords,
          where: eq('revision', known.revision),
          set: { owner: this.#owner },
          inc: { fence: 1 },
        })
      : documents.commit({ insert: record, into: leaseRecords })
    await made.catch((error: unknown) => {
      if (error instanceof CommitConflict) throw new StartupError('Another server started with these records at the same time: start again')
      throw error
    })
  }

  async #renew(documents: DocumentStore): Promise<void> {
    try {
      await documents.commit({ update: id, in: leaseRecords, where: eq('owner', this.#owner), set: { forMs: leaseMs } })
    } catch (error) {
      // While the store is unavailable, others cannot take the lease either.
      if (!(error instanceof CommitConflict)) return
      clearInterval(this.#renewing)
      this.#log.error('Another server uses these records with its own data folder: stop one of them')
    }
  }
}
