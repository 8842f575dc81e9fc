import { Unavailable } from 'pounce/sdk'
import { Connection, type Opening, replaceInDoubt } from 'pounce/sdk/sqlite'
import { isBroken, namingDamage, problemOf } from './problems.ts'

/** The file format version that this program writes. */
const version = 1

/** The only writing connection. It is replaced after an error that makes its view of the file unreliable, such as a failed fsync. */
export class Database {
  #opening: Opening
  #connection: Connection | undefined
  #isOpen = false
  #isBroken = false
  /** Called when the file was reopened: a write that was reported as failed may have been stored after all. */
  onReopened: () => void = () => undefined

  constructor(opening: Opening) {
    this.#opening = opening
  }

  /** Opens the file, creating it when absent. Throws for a file written by a newer program. */
  open(): void {
    this.#isOpen = true
    const connection = this.connection()
    const found = Number(connection.get('PRAGMA user_version')?.[0])
    if (found > version) {
      this.close()
      throw new Error(
        `${this.#opening.file} was written by a newer version of this program (format ${found}; this version supports ${version})`,
      )
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

  /** After a failed COMMIT, ensures that the transaction is rolled back before the new connection reads or writes anything. */
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

  /** Uses the connection, and converts errors for callers: see `problemOf`. */
  use<R>(work: (connection: Connection) => R): R {
    try {
      return work(this.connection())
    } catch (error) {
      this.failed(error)
      throw problemOf(namingDamage(this.#opening.file, error))
    }
  }

  /** Records an error; after some kinds the next call reopens the file, which recovers it from its log. */
  failed(error: unknown): void {
    this.#isBroken ||= isBroken(error)
  }

  get isBroken(): boolean {
    return this.#isBroken
  }

  /** The error for callers of a failed transaction. After one that broke the connection the file is reopened first, to find out whether it was stored. */
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
