import { randomInt } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { type Clock, type DocumentStore, isIn, type Log, type Plugin } from 'pounce/sdk'
import { pause, unlessConflict } from 'pounce/sdk/kit'
import { idOfName, installationId as metaId, metaRecords, migrationRecords } from './kernel-records.ts'
import type { Leases } from './leases.ts'
import type { NamedPlugin } from './plugin-graph.ts'
import { messageOf, refusing, StartupError } from './startup-error.ts'

/** A migration and its state. */
export interface MigrationState {
  readonly plugin: string
  readonly name: string
  readonly state: 'applied' | 'pending' | 'unknown'
  readonly appliedAt?: string
}

const filePattern = /^\d{4}-[a-z0-9-]+\.(?:ts|js)$/
const leaseMs = 15_000
const leaseWaitMs = 500

const filesOf = async (folder: URL): Promise<string[]> => (await readdir(folder)).filter(name => filePattern.test(name)).sort()

const letters = 'abcdefghjkmnpqrstuvwxyz23456789'

/** Ten letters and digits, without characters that look alike. */
const newInstanceName = (): string => Array.from({ length: 10 }, () => letters[randomInt(letters.length)]).join('')

const stem = (file: string): string => file.replace(/\.(ts|js)$/, '')

/** Dependencies of migrations. */
export interface MigrationTools {
  readonly documents: DocumentStore
  readonly leases: Leases
  readonly clock: Clock
  readonly log: Log
  /** The version of the server. */
  readonly version: string
  /** Aborted with a `StartupError` when the start is interrupted. */
  readonly interrupted: AbortSignal
}

const statesOf = async ({ id: plugin, migrations }: Plugin, applied: ReadonlyMap<string, string>): Promise<MigrationState[]> => {
  const names = migrations ? (await filesOf(migrations)).map(stem) : []
  return [...new Set([...applied.keys(), ...names])].sort().map(name => {
    const appliedAt = applied.get(name)
    if (appliedAt === undefined) return { plugin, name, state: 'pending' }
    return { plugin, name, state: names.includes(name) ? 'applied' : 'unknown', appliedAt }
  })
}

/** Applies the migrations of plugins to stored records, once and in order, and maintains the installation record. */
export class Migrations {
  readonly #plugins: readonly NamedPlugin[]
  readonly #tools: MigrationTools

  constructor(plugins: readonly NamedPlugin[], tools: MigrationTools) {
    this.#plugins = plugins.filter(({ name, plugin }) => name === plugin.id)
    this.#tools = tools
  }

  /** All migrations of the enabled plugins, in the order of application. */
  async status(): Promise<readonly MigrationState[]> {
    const applied = new Map<string, Map<string, string>>()
    const ids = this.#plugins.map(({ plugin }) => plugin.id)
    const ofThese = isIn('plugin', ids)
    for await (const { plugin, name, appliedAt } of this.#tools.documents.scan(migrationRecords, { using: 'byPlugin', where: ofThese }))
      applied.set(plugin, (applied.get(plugin) ?? new Map()).set(name, appliedAt))
    return (await Promise.all(this.#plugins.map(({ plugin }) => statesOf(plugin, applied.get(plugin.id) ?? new Map())))).flat()
  }

  /** Rejects what `run` would reject: records of a newer version, and pending migrations unless they are allowed. Changes nothing. */
  async check(isAllowed: boolean) {
    // Read before the states: migrations of the plugins listed here have been applied, even if another kernel applies them concurrently.
    const meta = await this.#tools.documents.get(metaRecords, metaId)
    const states = await this.status()
    const unknown = states.filter(({ state }) => state === 'unknown')
    if (unknown.length > 0)
      throw new StartupError(
        `The data was written by a newer version; unknown migrations: ${unknown.map(({ plugin, name }) => `${plugin}/${name}`).join(', ')}. Start the newer version, or restore a backup.`,
      )
    const pending = states.filter(({ state }) => state === 'pending')
    const changesOldData = pending.filter(({ plugin }) => meta?.plugins.includes(plugin))
    if (changesOldData.length > 0 && !isAllowed)
      throw new StartupError(
        `Pending migrations: ${pending.map(({ plugin, name }) => `${plugin}/${name}`).join(', ')}. Make a backup, then start with POUNCE_DBUPDATE=1, or run \`pounce migrate up\`.`,
      )
    return { meta, pending, changesOldData }
  }

  /**
   * Rejects records written by a newer version. Applies pending migrations on a new installation, for plugins that are new to it,
   * and, after a backup, if `isAllowed`; otherwise rejects pending migrations. A new installation has no data, so its migrations are logged at debug level.
   * Returns the installation's name, the number of applied migrations and the location of the backup.
   */
  async run(isAllowed: boolean, progress?: (message: string) => void) {
    const { meta, pending, changesOldData } = await this.check(isAllowed)
    const backup = changesOldData.length > 0 ? (meta?.backup ?? (await this.#backUp())) : undefined
    const applied = pending.length > 0 ? await this.#apply(meta ? 'info' : 'debug', progress) : 0
    return { instance: await this.#recordInstallation(), applied, backup }
  }

  /** Once, however often failed migrations are tried again. */
  async #backUp(): Promise<string | undefined> {
    const backup = await refusing(async () => this.#tools.documents.backUp?.())
    if (backup !== undefined) await this.#tools.documents.commit({ update: metaId, in: metaRecords, set: { backup } })
    return backup
  }

  /** Resumable: if the process is killed at any point, the next call continues from there. */
  async #apply(level: 'info' | 'debug', progress?: (message: string) => void): Promise<number> {
    const lease = await this.#lease()
    const held = this.#tools.leases.hold(lease, error => this.#tools.log.warn('Failed to renew the migration lease', { error }))
    try {
      const pending = (await this.status()).filter(({ state }) => state === 'pending')
      for (const { plugin, name } of pending) {
        this.#tools.interrupted.throwIfAborted()
        if (held.signal.aborted) throw new StartupError(messageOf(held.signal.reason))
        progress?.(`${plugin}/${name}`)
        await this.#applyOne(plugin, name, level)
      }
      return pending.length
    } finally {
      held.end()
      await this.#tools.leases.release(lease)
    }
  }

  async #applyOne(id: string, name: string, level: 'info' | 'debug'): Promise<void> {
    const folder = this.#plugins.find(({ plugin }) => plugin.id === id)?.plugin.migrations
    if (!folder) throw new Error(`${id} has no migrations`)
    const file = (await filesOf(folder)).find(one => stem(one) === name)
    try {
      const { up } = (await import(new URL(file ?? name, folder).href)) as { up?: (documents: DocumentStore) => Promise<void> }
      if (typeof up !== 'function') throw new Error('it does not export a function `up`')
      await up(this.#tools.documents)
    } catch (error) {
      throw new StartupError(`The migration ${id}/${name} failed: ${messageOf(error)}. Nothing after it was applied.`, { cause: error })
    }
    const record = { id: idOfName(`${id}/${name}`), plugin: id, name, appliedAt: this.#tools.clock.now().toISOString() }
    // Another kernel, or this one before it was killed, may already have inserted the same document.
    await unlessConflict(this.#tools.documents.commit({ insert: record, into: migrationRecords }))
    this.#tools.log[level]('Migration applied', { plugin: id, migration: name })
  }

  async #lease() {
    const { leases, log, interrupted } = this.#tools
    for (let tries = 0; ; tries++) {
      const lease = await leases.take('kernel/migrations', leaseMs)
      if (lease) return lease
      if (tries === 0) log.info('Waiting for another kernel to apply migrations, or for its lease to expire')
      await pause(leaseWaitMs, interrupted)
      interrupted.throwIfAborted()
    }
  }

  async #recordInstallation(): Promise<string> {
    const ids = this.#plugins.map(({ plugin }) => plugin.id)
    const first = { id: metaId, instance: newInstanceName(), version: this.#tools.version, plugins: ids }
    await unlessConflict(this.#tools.documents.commit({ insert: first, into: metaRecords }))
    const meta = await this.#tools.documents.get(metaRecords, metaId)
    if (!meta) throw new Error('The installation record could not be read back')
    const isOutdated = meta.version !== this.#tools.version || ids.some(id => !meta.plugins.includes(id)) || meta.backup !== undefined
    const change = { update: metaId, in: metaRecords, set: { version: this.#tools.version }, unset: ['backup'], addToSet: { plugins: ids } }
    if (isOutdated) await this.#tools.documents.commit(change)
    return meta.instance
  }
}
