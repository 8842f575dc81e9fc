/** The connection of one client to a stream of server-sent events (WHATWG HTML, 9.2). */
export interface EventConnection {
  /** Sends whole events. Never throws; after the end it does nothing. */
  write(events: Uint8Array): void
  /** Bytes that were written and that the client has not taken yet. */
  readonly pendingBytes: number
  /** Resolves when `pendingBytes` is small again, or the connection has ended. */
  drained(): Promise<void>
  /** Ends the response after what was written. */
  end(): void
  /** Cuts the connection, with what was not taken yet. */
  destroy(): void
}

/** A response that stays open. */
export interface EventStream {
  /** Called once, when the head was sent; not for HEAD. */
  open(connection: EventConnection): void
  /** Called once, when the connection has ended, by whichever side. */
  closed(): void
  /** Called when the server begins to stop: the stream should end. */
  stopping(): void
}
