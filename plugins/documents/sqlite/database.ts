import { Connection, isBroken, type Opening } from './connection.ts'

/** The one connection that writes; it is replaced after an error that leaves its memory of the file in doubt, such as a failed fsync. */
export class Database {
  #opening: Opening
  #connection: Connection | undefined
  #isBroken = false

  constructor(opening: Opening) {
    this.#opening = opening
  }

  get opening(): Opening {
    return this.#opening
  }

  /** The connection, opened when need be. */
  connection(): Connection {
    if (this.#isBroken) this.close()
    this.#connection ??= new Connection(this.#opening)
    this.#isBroken = false
    return this.#connection
  }

  /** Takes note of an error; after some of them the next call opens the file anew, which recovers it from its log. */
  failed(error: unknown): void {
    this.#isBroken ||= isBroken(error)
  }

  get isBroken(): boolean {
    return this.#isBroken
  }

  close(): void {
    this.#connection?.close()
    this.#connection = undefined
  }
}
