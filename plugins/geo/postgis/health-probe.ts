import type { Client, ClientConfig } from 'pg'
import { stateOf } from './problems.ts'

/** Asks the server for a sign of life, over a connection of its own, so that slow work and a dead server can be told apart. */
export class HealthProbe {
  readonly #connect: () => Client
  readonly #limitMs: number
  #client: Promise<Client> | undefined
  #asking: Promise<void> | undefined
  #isClosed = false

  constructor(library: { readonly Client: new (config: ClientConfig) => Client }, config: ClientConfig, limitMs: number) {
    this.#connect = () => new library.Client({ ...config, connectionTimeoutMillis: limitMs })
    this.#limitMs = limitMs
  }

  /** Resolves when the server answers, whatever it says, and rejects when it does not in time. Those who ask at one time share an answer. */
  ask(): Promise<void> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#drop()
  }

  async #drop(): Promise<void> {
    const client = this.#client
    this.#client = undefined
    await client?.then(open => open.end()).catch(ended)
  }

  async #ask(): Promise<void> {
    if (this.#isClosed) throw new Error('The connection is closed')
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      // What has come by now is looked at before, for this process may have been the slow one.
      timer = setTimeout(() => setImmediate(() => reject(new Error(`No response within ${this.#limitMs} ms`))), this.#limitMs)
    })
    try {
      this.#client ??= this.#open()
      await Promise.race([this.#client.then(client => client.query('select 1')), late])
    } catch (error) {
      void this.#drop()
      // A server that refuses is one that answers.
      if (stateOf(error) === undefined) throw error
    } finally {
      clearTimeout(timer)
    }
  }

  async #open(): Promise<Client> {
    const client = this.#connect()
    client.on('error', () => void this.#drop())
    await client.connect()
    return client
  }
}

/** What cannot be closed is closed already. */
const ended = (): void => undefined
