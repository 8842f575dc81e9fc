import { contributions } from '../port.ts'

/**
 * A record for statistics and billing systems, in the format of Clowder 1.x (reference, extraction §6.4): `category`, usually `type`, `created` in milliseconds
 * since 1970, and flat fields.
 */
export interface SinkRecord {
  readonly category: string
  readonly created: number
  readonly [field: string]: string | number
}

/** A destination for such records, such as a broker exchange. */
export interface EventSink {
  /** Resolves when the next hop has confirmed the records; `Unavailable` while it is unreachable. At most 1,000, sent in order. */
  publish(records: readonly SinkRecord[]): Promise<void>
}
/** Plugins that send records to other systems. */
export const EventSinks = contributions<EventSink>('eventSinks')
