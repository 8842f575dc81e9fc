import { collection, type Time } from 'pounce/sdk'

export type HolderKind = 'user' | 'space'

/** A holder of a quota: a user or a space. */
export interface Holder {
  readonly kind: HolderKind
  readonly id: string
}

/** The usage of a holder. Its id is the key of the holder. */
export interface UsageRecord {
  readonly bytes: number
  readonly files: number
}
export const usages = collection<UsageRecord>()('quotas.usages')

/**
 * The limits that a server admin set for one holder; null means the default in the settings, 0 no limit. Its id is the key of the holder.
 */
export interface LimitRecord {
  readonly maxBytes: number | null
  readonly maxFiles: number | null
}
export const limits = collection<LimitRecord>()('quotas.limits')

/** The size that one file is charged with, and the holders. Its id is the file's, so that each is charged once and released once. */
export interface ChargeRecord {
  readonly holders: readonly string[]
  readonly sizeBytes: number
  /** When it was created or released. */
  readonly at: Time
  /** Released: the record is deleted next. A recount still counts it, because the usage may not have been lowered yet. */
  readonly isReleased: boolean
}
export const charges = collection<ChargeRecord>()('quotas.charges', { byHolder: { on: ['holders'], array: 'holders' } })

export const keyOf = ({ kind, id }: Holder): string => `${kind}-${id}`

export const holderOf = (key: string): Holder => {
  const at = key.indexOf('-')
  return { kind: key.slice(0, at) === 'space' ? 'space' : 'user', id: key.slice(at + 1) }
}
