/** One client's connection to a stream of server-sent events (WHATWG HTML, 9.2). */
export interface EventConnection {
  /** Sends complete events. Never throws; has no effect after the end. */
  write(events: Uint8Array): void
  /** Bytes written but not yet received by the client. */
  readonly pendingBytes: number
  /** Resolves when `pendingBytes` is small again or the connection has ended. */
  drained(): Promise<void>
  /** Ends the response after everything written so far. */
  end(): void
  /** Closes the connection immediately and drops pending bytes. */
  destroy(): void
}

/** A response that stays open. */
export interface EventStream {
  /** Called once, after the response headers were sent; not for HEAD. */
  open(connection: EventConnection): void
  /** Called once, when either side has ended the connection. */
  closed(): void
  /** Called when the server begins to shut down: the stream should end. */
  stopping(): void
}
