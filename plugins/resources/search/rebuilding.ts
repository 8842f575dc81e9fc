import { type Command, Installation, Log, port, SearchIndex, wire } from 'pounce/sdk'
import { type Indexing, SearchIndexing } from './indexing.ts'

/** Builds the index anew from the store, beside the one that serves. One rebuild at a time. */
export class Rebuilding {
  #index: SearchIndex
  #indexing: Indexing
  #installation: Installation
  #log: Log
  #stop = new AbortController()
  #running: Promise<number> | undefined

  constructor(index: SearchIndex, indexing: Indexing, installation: Installation, log: Log) {
    this.#index = index
    this.#indexing = indexing
    this.#installation = installation
    this.#log = log
  }

  /** Looks after the start, which does not wait: a large index takes seconds to check. */
  start(): void {
    if (!this.#installation.roles.has('worker')) return
    this.run().catch((error: unknown) => this.#log.warn('the search index could not be checked', { error }))
  }

  /** An index that was lost or damaged comes back by itself. */
  async run(): Promise<void> {
    if (await this.#index.needsRebuild?.()) this.begin('the index is new, or was damaged')
  }

  async dispose(): Promise<void> {
    this.#stop.abort(new Error('the server stops'))
    await this.#running?.catch(() => undefined)
  }

  /** Starts a rebuild in the background, unless one runs. */
  begin(reason: string): void {
    if (this.#running) return
    this.#log.info('the search index is built anew', { reason })
    this.#running = this.rebuild(() => undefined)
    this.#running
      .then(
        count => this.#log.info('the search index was built anew', { count }),
        (error: unknown) => this.#log.error('building the search index anew failed; the old one serves', { error }),
      )
      .finally(() => {
        this.#running = undefined
      })
  }

  async rebuild(progress: (count: number) => void): Promise<number> {
    const { count } = await this.#index.rebuild(this.#indexing.everything(), { signal: this.#stop.signal, progress })
    return count
  }

  clear(): Promise<void> {
    return this.#index.clear()
  }
}
wire(Rebuilding, SearchIndex, SearchIndexing, Installation, Log)

export const Rebuild = port<Rebuilding>('search.rebuilding')

/** `pounce reindex`. */
export class ReindexCommand implements Command {
  readonly name = 'reindex'
  readonly summary = 'Build the search index anew from the store'
  #rebuilding: Rebuilding

  constructor(rebuilding: Rebuilding) {
    this.#rebuilding = rebuilding
  }

  async run(_input: unknown, progress: (message: string) => void): Promise<Readonly<Record<string, unknown>>> {
    return { indexed: await this.#rebuilding.rebuild(count => progress(`${count} resources indexed`)) }
  }
}
wire(ReindexCommand, Rebuild)
