import { hostname } from 'node:os'
import { type DocumentStore, eq, type Log } from 'pounce/sdk'
import { unlessConflict } from 'pounce/sdk/kit'
import type { Config } from '../kernel/config.ts'
import { idOfName, type LeaseRecord, leaseRecords } from '../kernel/kernel-records.ts'
import { folderId } from './local-stores.ts'

const prefix = 'kernel/data-folder '
const renewalMs = 20_000
/** A record that is older belongs to a server that was killed. */
const currentMs = 3 * renewalMs
const keptMs = 86_400_000

/** The plugins whose data each data folder has for itself, although the records are shared. */
const separatePlugins = ({ plugins }: Config): readonly string[] =>
  plugins.some(({ plugin }) => plugin.isLocal) ? [] : plugins.filter(({ plugin }) => plugin.keepsLocalData).map(({ name }) => name)

const ageOf = ({ notBefore }: LeaseRecord): number => Date.now() - Date.parse(notBefore)

const foldersIn = async (documents: DocumentStore) => {
  const found = await Array.fromAsync(documents.walk(leaseRecords))
  return found.filter(({ name }) => name.startsWith(prefix))
}

const remedy = 'to share it, configure a store on a server instead (docs/operations.md, Several kernels)'

/** What is wrong when servers with different data folders use the same records; undefined if only one does, or all data is shared. */
export const separateDataIn = async (documents: DocumentStore, config: Config): Promise<string | undefined> => {
  const plugins = separatePlugins(config)
  if (plugins.length === 0) return undefined
  const current = (await foldersIn(documents)).filter(one => ageOf(one) < currentMs)
  if (current.length < 2) return undefined
  return `the servers with the data folders ${current.map(({ owner }) => owner).join(', ')} each have their own data of ${plugins.join(', ')}: ${remedy}`
}

/** Records the data folders of servers that use the same records, and warns if plugins keep data in each of them. */
export class SeparateData {
  readonly #config: Config
  readonly #log: Log
  #renewing: NodeJS.Timeout | undefined
  #leave: () => Promise<void> = async () => undefined

  constructor(config: Config, log: Log) {
    this.#config = config
    this.#log = log
  }

  /** A command, which has no roles, is no server. */
  async begin(documents: DocumentStore): Promise<void> {
    const { data, roles } = this.#config.kernel
    const plugins = separatePlugins(this.#config)
    if (plugins.length === 0 || roles.length === 0) return
    const name = `${prefix}${await folderId(data)}`
    const owner = `${hostname()}:${data}`
    const id = idOfName(name)
    const renew = async (): Promise<void> => {
      const notBefore = new Date().toISOString()
      const set = { owner, notBefore }
      if (await unlessConflict(documents.commit({ update: id, in: leaseRecords, set }))) return
      await unlessConflict(documents.commit({ insert: { id, name, owner, forMs: 0, notBefore, fence: 1 }, into: leaseRecords }))
    }
    // First: of servers that start at the same time, at least one then finds the other.
    await renew()
    for (const one of await foldersIn(documents)) {
      if (one.name === name) continue
      if (ageOf(one) > keptMs)
        await unlessConflict(documents.commit({ tombstone: one.id, in: leaseRecords, where: eq('notBefore', one.notBefore) }))
      else if (ageOf(one) < currentMs)
        this.#log.warn('Another server uses these records with its own data folder, and each has its own data of some plugins', {
          ...{ dataFolder: one.owner, plugins, remedy },
        })
    }
    this.#renewing = setInterval(() => void renew().catch(() => undefined), renewalMs).unref()
    this.#leave = async () => {
      await documents.commit({ tombstone: id, in: leaseRecords, where: eq('owner', owner) }).catch(() => undefined)
    }
  }

  async end(): Promise<void> {
    await this.abandon()
    await this.#leave()
  }

  /** Stops renewing. */
  async abandon(): Promise<void> {
    clearInterval(this.#renewing)
  }
}
