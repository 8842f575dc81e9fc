import type { EventConnection, EventFilter, EventStream } from 'pounce/sdk'
import type { Position } from './event-log.ts'

/** Why the server ends a stream. */
export type CloseReason = 'credential-ended' | 'shutdown'

/** What a stream requires of the hub. */
export interface LiveStreamOwner {
  readonly maxPendingBytes: number
  /** Replays the log from the stream's position, then sends new events. */
  opened(stream: LiveStream): void
  left(stream: LiveStream): void
  /** The final event of a stream, in SSE format. */
  closing(reason: CloseReason): Buffer
  /** Called when a stream was disconnected because its client reads too slowly. */
  cut(stream: LiveStream): void
}

/** The stream of one client. */
export class LiveStream implements EventStream {
  readonly filter: EventFilter
  /** Streams of one credential share their rights. */
  readonly group: string
  /** The position to resume from; absent: new events only. */
  readonly from: Position | undefined
  /** The newest segment that was sent, or had no events for this stream. */
  sequence = 0
  readonly #owner: LiveStreamOwner
  #connection: EventConnection | undefined

  constructor(owner: LiveStreamOwner, group: string, filter: EventFilter, from: Position | undefined) {
    this.#owner = owner
    this.group = group
    this.filter = filter
    this.from = from
  }

  get isOpen(): boolean {
    return this.#connection !== undefined
  }

  open(connection: EventConnection): void {
    this.#connection = connection
    this.#owner.opened(this)
  }

  closed(): void {
    this.#connection = undefined
    this.#owner.left(this)
  }

  stopping(): void {
    this.close('shutdown')
  }

  /** Disconnects a client that is too slow: it resumes from the log when it reconnects. */
  write(text: Uint8Array): void {
    const connection = this.#connection
    if (!connection) return
    if (connection.pendingBytes > this.#owner.maxPendingBytes) {
      this.#connection = undefined
      this.#owner.cut(this)
      connection.destroy()
    } else connection.write(text)
  }

  /** Resolves when the client has read most of what was written, or has disconnected. */
  async drained(): Promise<void> {
    await this.#connection?.drained()
  }

  close(reason: CloseReason): void {
    const connection = this.#connection
    this.#connection = undefined
    connection?.write(this.#owner.closing(reason))
    connection?.end()
  }
}
