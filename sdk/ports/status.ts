import { contributions } from '../port.ts'

/**
 * What a plugin reports about its backend in `/api/status`, in the terms of Clowder 1.x. Contributed by plugins whose store, index or broker has an address of
 * its own.
 */
export interface StatusPart {
  /** `mongo`, `elasticsearch`, `rabbitmq`, `postgres`; `storage` for the blob store. */
  readonly name: string
  /** For everyone, such as `{location: 's3'}`. */
  readonly publicDetails?: Readonly<Record<string, unknown>>
  /** Report only true or false, as Clowder 1.x does. Server admins still see the details. */
  readonly isPlain?: boolean
  /** Additional details for server admins only: addresses, names, but no passwords (`maskedUri`). Determined without a request, so available during an outage. */
  readonly details?: Readonly<Record<string, unknown>>
  /** Resolves if the backend answers, otherwise rejects; ignored after one second. The result is also shown to server admins. */
  check(): Promise<Readonly<Record<string, unknown>> | undefined>
}
/** Plugins with an entry on the status page. */
export const StatusParts = contributions<StatusPart>('statusParts')

/** A URL without its password and query. Also handles multiple hosts, as in MongoDB URLs. */
export const maskedUri = (uri: string): string => uri.replace(/\?.*$/s, '').replace(/^([a-z0-9+.-]+:\/\/[^/@:]*):.*@/is, '$1:***@')
