import { contributions } from '../port.ts'

/** Whom stored files count against: their author, and the spaces that their datasets are in. */
export interface ChargedTo {
  readonly author: string
  readonly datasets: readonly string[]
}

/** Limits what people and spaces store. Does nothing where no quota is set. */
export interface StorageQuota {
  /** Refuses what does not fit as resources are now, and reserves nothing: for a refusal before the bytes come. */
  check(to: ChargedTo, amount: { readonly bytes: number; readonly files: number }): Promise<void>
  /** All of them or none, by conditional updates: parallel reservations never pass a limit together. A file that is reserved already is counted once. */
  reserve(to: ChargedTo, files: readonly { readonly id: string; readonly sizeBytes: number }[]): Promise<void>
  /** Releases the charge of files. Idempotent. */
  release(files: readonly string[]): Promise<void>
}
/** Plugins that limit stored bytes. */
export const StorageQuotas = contributions<StorageQuota>('storageQuotas')
