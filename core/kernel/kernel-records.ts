import { createHash } from 'node:crypto'
import { collection } from 'pounce/sdk'

/** The id of a record that is found by name. */
export const idOfName = (name: string): string => createHash('sha256').update(name).digest('hex').slice(0, 24)

/** The single record about the installation. */
export interface MetaRecord {
  readonly instance: string
  /** Version of the program that ran last. */
  readonly version: string
  /** Ids of the plugins that this installation has used: a migration of a new plugin does not change old data. */
  readonly plugins: readonly string[]
}
export const metaRecords = collection<MetaRecord>()('kernel.meta')

/** A migration that was applied. */
export interface MigrationRecord {
  readonly plugin: string
  /** The file's name without its ending. */
  readonly name: string
  readonly appliedAt: string
}
export const migrationRecords = collection<MigrationRecord>()('kernel.migrations', { byPlugin: { on: ['plugin'] } })

/** The owner of a lease. */
export interface LeaseRecord {
  readonly name: string
  /** Null when it was released. */
  readonly owner: string | null
  /** Validity after each change. */
  readonly forMs: number
  /** Earliest time at which it can be taken; ISO 8601. */
  readonly notBefore: string
  /** Incremented for each owner, to distinguish a former owner from the current one. */
  readonly fence: number
}
export const leaseRecords = collection<LeaseRecord>()('kernel.leases')

export const kernelCollections = [metaRecords, migrationRecords, leaseRecords]

/** The id of the record of the installation. */
export const installationId = idOfName('installation')
