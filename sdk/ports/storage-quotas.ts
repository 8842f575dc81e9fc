import { contributions } from '../port.ts'

/** Who stored files are charged to: their author and the spaces of their datasets. */
export interface ChargedTo {
  readonly author: string
  readonly datasets: readonly string[]
}

/** Limits the storage used by people and spaces. Has no effect if no quota is set. */
export interface StorageQuota {
  /** Throws if the amount does not fit at the moment, without reserving it: for refusing an upload before its bytes are sent. */
  check(to: ChargedTo, amount: { readonly bytes: number; readonly files: number }): Promise<void>
  /** Reserves all or none, by conditional updates: concurrent reservations never exceed a limit. A file that is already reserved is not counted again. */
  reserve(to: ChargedTo, files: readonly { readonly id: string; readonly sizeBytes: number }[]): Promise<void>
  /** Releases the reservations of files. Idempotent. */
  release(files: readonly string[]): Promise<void>
}
/** Plugins that limit stored bytes. */
export const StorageQuotas = contributions<StorageQuota>('storageQuotas')
