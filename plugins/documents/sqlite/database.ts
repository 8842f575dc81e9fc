import { Unavailable } from 'pounce/sdk'
import { Connection, type Opening, replaceInDoubt } from 'pounce/sdk/sqlite'
import { isBroken, namingDamage, problemOf } from './problems.ts'

/** The form of the file that this program writes. */
const version = 1

/** The one connection that writes; it is replaced after an error that leaves its memory of the file in doubt, such as a failed fsync. */
export class Database {
  #opening: Opening
  #connection: Connection | undefined
  #isOpen = false
  #isBroken = false
  /** Called when the file was reopened: what the last connection was said to have failed to write may be there after all. */
  onReopened: () => void = () => undefined

  constructor(opening: Opening) {
    this.#opening = opening
  }

  /** Opens the file, which is made when absent. Throws for a file that a newer program wrote. */
  open(): void {
    this.#isOpen = true
    const connection = this.connection()
    const found = Number(connection.get('PRAGMA user_version')?.[0])
    if (found > version) {
      this.close()
      throw new Error(`${this.#opening.file} was written by a newer version of this program (form ${found}, known up to ${version})`)
    }
    if (found < version) connection.exec(`PRAGMA user_version=${version}`)
  }

  /** The connection; reopened when the last one broke. Throws `Unavailable` once the database is closed. */
  connection(): Connection {
    if (!this.#isOpen) throw new Unavailable('The document store is not open')
    if (this.#isBroken) this.#reopen()
    this.#connection ??= new Connection(this.#opening)
    return this.#connection
  }

  /** A transaction whose COMMIT failed is made sure to be undone before anything is read from or written to the new connection. */
  #reopen(): void {
    const broken = this.#connection
    if (broken?.isInDoubt) this.#connection = replaceInDoubt(broken, this.#opening)
    else {
      this.#drop()
      this.#connection = new Connection(this.#opening)
    }
    this.#isBroken = false
    try {
      this.onReopened()
    } catch (error) {
      this.#isBroken = true
      throw error
    }
  }

  /** Does something with the connection and says what its errors mean to callers: see `problemOf`. */
  use<R>(work: (connection: Connection) => R): R {
    try {
      return work(this.connection())
    } catch (error) {
      this.failed(error)
      throw problemOf(namingDamage(this.#opening.file, error))
    }
  }

  /** Takes note of an error; after some of them the next call reopens the file, which recovers it from its log. */
  failed(error: unknown): void {
    this.#isBroken ||= isBroken(error)
  }

  get isBroken(): boolean {
    return this.#isBroken
  }

  /** The error for callers of a failed transaction: after one that broke the connection the file is reopened first, so that it is known whether it was kept. */
  outcomeOf(error: unknown): Error {
    this.failed(error)
    const isInDoubt = this.#connection?.isInDoubt === true
    if (!this.#isBroken || !isInDoubt) return problemOf(namingDamage(this.#opening.file, error))
    try {
      this.connection()
      return new Unavailable('The change could not be made durable and was rolled back; try again', { cause: error })
    } catch (cause) {
      const message = 'The change could not be made durable, and the document store cannot be reopened: it may have been stored'
      return new Unavailable(message, { cause })
    }
  }

  #drop(): void {
    this.#connection?.close()
    this.#connection = undefined
  }

  close(): void {
    this.#drop()
    this.#isOpen = false
  }
}
