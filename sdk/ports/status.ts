import { contributions } from '../port.ts'

/**
 * What a plugin reports of its server on `/api/status`, in the terms of Clowder 1.x. Contributed by plugins whose store, index or
 * broker has an address of its own.
 */
export interface StatusPart {
  /** `mongo`, `elasticsearch`, `rabbitmq`, `postgres`; `storage` for the place of the bytes. */
  readonly name: string
  /** For everyone, such as `{location: 's3'}`. */
  readonly facts?: Readonly<Record<string, unknown>>
  /** Clowder 1.x reports only true or false. Server admins see its details all the same. */
  readonly isPlain?: boolean
  /** For server admins only, besides the facts: addresses, names. Of passwords nothing (`maskedUri`). Needs no request, so that it is available in an outage. */
  readonly details?: Readonly<Record<string, unknown>>
  /** Resolves while the part answers, else rejects; after a second no one waits any more. What it resolves with is shown to server admins too. */
  check(): Promise<Readonly<Record<string, unknown>> | undefined>
}
/** Plugins with a line on the status page. */
export const StatusParts = contributions<StatusPart>('statusParts')

/** An address without the password, and without what stands behind the `?`. Several hosts, as MongoDB has them, are fine. */
export const maskedUri = (uri: string): string => uri.replace(/\?.*$/s, '').replace(/^([a-z0-9+.-]+:\/\/[^/@:]*):.*@/is, '$1:***@')
