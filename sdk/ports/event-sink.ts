import { contributions } from '../port.ts'

/**
 * A fact for those who count and bill, as Clowder 1.x publishes it (reference, extraction §6.4): `category`, mostly `type`, `created` in
 * milliseconds since 1970, then flat fields.
 */
export interface SinkRecord {
  readonly category: string
  readonly created: number
  readonly [field: string]: string | number
}

/** Where such facts go, such as an exchange of a broker. */
export interface EventSink {
  /** Resolves when the next hop has confirmed them; `Unavailable` while it is unavailable. At most 1,000, sent in this order. */
  publish(records: readonly SinkRecord[]): Promise<void>
}
/** Plugins that send events to other systems. */
export const EventSinks = contributions<EventSink>('eventSinks')
