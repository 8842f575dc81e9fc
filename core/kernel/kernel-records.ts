import { createHash } from 'node:crypto'
import { collection } from 'pounce/sdk'

/** The id of a record that is looked up by name. */
export const idOfName = (name: string): string => createHash('sha256').update(name).digest('hex').slice(0, 24)

/** The single record about the installation. */
export interface MetaRecord {
  readonly instance: string
  /** The server version that ran last. */
  readonly version: string
  /** Ids of all plugins that this installation has loaded: migrations of a new plugin do not change existing data. */
  readonly plugins: readonly string[]
  /** The backup made before migrations that have not all been applied. */
  readonly backup?: string
}
export const metaRecords = collection<MetaRecord>()('kernel.meta')

/** An applied migration. */
export interface MigrationRecord {
  readonly plugin: string
  /** The file name without its extension. */
  readonly name: string
  readonly appliedAt: string
}
export const migrationRecords = collection<MigrationRecord>()('kernel.migrations', { byPlugin: { on: ['plugin'] } })

/** The current holder of a lease. */
export interface LeaseRecord {
  readonly name: string
  /** Null if it was released. */
  readonly owner: string | null
  /** Validity after each change in milliseconds; once released, the pause until it can be taken. */
  readonly forMs: number
  /** Earliest time at which it can be taken, in ISO 8601. */
  readonly notBefore: string
  /** Fencing token: increases with every owner, to distinguish a former owner from the current one. */
  readonly fence: number
}
export const leaseRecords = collection<LeaseRecord>()('kernel.leases')

export const kernelCollections = [metaRecords, migrationRecords, leaseRecords]

/** The id of the installation record. */
export const installationId = idOfName('installation')
