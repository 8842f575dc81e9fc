import { type Command, Conflict, Installation, Log, Problem, port, type Ref, SearchIndex, wire } from 'pounce/sdk'
import { Contents, type ContentsToIndex } from './contents.ts'
import { Board, type ReindexBoard, type Reindexing } from './reindex-board.ts'

/** The progress is written down this often. */
const tellEveryMs = 2000

/** Builds the index anew from the store, all of it beside the one that serves, or the part of one thing. One kernel at a time does each. */
export class Rebuilding {
  #index: SearchIndex
  #contents: ContentsToIndex
  #board: ReindexBoard
  #installation: Installation
  #log: Log
  #stop = new AbortController()
  #running = new Set<Promise<void>>()

  constructor(index: SearchIndex, contents: ContentsToIndex, board: ReindexBoard, installation: Installation, log: Log) {
    this.#index = index
    this.#contents = contents
    this.#board = board
    this.#installation = installation
    this.#log = log
  }

  /** Looks after the start, which does not wait: a large index takes seconds to check. */
  start(): void {
    if (!this.#installation.roles.has('worker')) return
    this.run().catch((error: unknown) => this.#log.warn('the search index could not be checked', { error }))
  }

  /** An index that was lost or damaged comes back by itself, and what a kernel left undone is done. */
  async run(): Promise<void> {
    if (await this.#index.needsRebuild?.()) await this.#board.request(null, true, 'the index is new, or was damaged')
    for (const { id } of await this.#board.waiting()) this.#begin(id)
  }

  async dispose(): Promise<void> {
    this.#stop.abort(new Error('the server stops'))
    await Promise.all(this.#running)
  }

  /** Asks for everything, or one thing with or without what is in it; soon a kernel begins in the background. One that is under way already will do. */
  async request(what: Ref | null, isRecursive: boolean, reason: string): Promise<Reindexing> {
    const asked = await this.#board.request(what, isRecursive, reason)
    if (asked.state === 'queued' && this.#installation.roles.has('worker')) this.#begin(asked.id)
    return asked
  }

  /** The latest of everything, or of one thing. */
  latest(what?: Ref): Promise<Reindexing | undefined> {
    return this.#board.get(what)
  }

  /** Builds everything anew and waits for the end. `Conflict` while another kernel does. */
  async rebuild(tell: (count: number) => void): Promise<number> {
    const { id } = await this.#board.request(null, true, 'by the reindex command')
    const taken = await this.#board.take(id)
    if (!taken) throw new Conflict('The search index is being built anew already')
    return this.#work(taken, tell)
  }

  clear(): Promise<void> {
    return this.#index.clear()
  }

  #begin(id: string): void {
    const work = this.#takeAndWork(id).catch((error: unknown) => {
      if (error === this.#stop.signal.reason) this.#log.info('indexing anew waits for the next start, or another kernel: this one stops')
      else this.#log.error('indexing anew failed', { error })
    })
    this.#running.add(work)
    void work.finally(() => this.#running.delete(work))
  }

  async #takeAndWork(id: string): Promise<void> {
    const taken = this.#stop.signal.aborted ? undefined : await this.#board.take(id)
    if (!taken) return
    this.#log.info('indexing anew', { what: taken.what ?? 'everything', reason: taken.reason })
    const count = await this.#work(taken, () => undefined)
    this.#log.info('indexed anew', { what: taken.what ?? 'everything', count })
  }

  /** Does it, tells the board how far it is, and how it ended. */
  async #work(taken: Reindexing, tell: (count: number) => void): Promise<number> {
    const lost = new AbortController()
    const signal = AbortSignal.any([this.#stop.signal, lost.signal])
    const progress = { count: 0, total: null as number | null }
    const telling = setInterval(() => void this.#tell(taken.id, progress, lost), tellEveryMs).unref()
    try {
      const count = await this.#indexAnew(taken, signal, progress, tell)
      await this.#board.end(taken.id, { ...progress, state: 'done', count, problem: null })
      return count
    } catch (error) {
      if (this.#stop.signal.aborted) {
        await this.#board.giveBack(taken.id)
        throw this.#stop.signal.reason
      }
      const problem = error instanceof Problem ? error.message : 'an error that the log of the server tells of'
      await this.#board.end(taken.id, { ...progress, state: 'failed', problem })
      throw error
    } finally {
      clearInterval(telling)
    }
  }

  async #tell(id: string, { count, total }: Progress, lost: AbortController): Promise<void> {
    try {
      if (!(await this.#board.renew(id, count, total))) lost.abort(new Error('another kernel indexes anew'))
    } catch (error) {
      this.#log.warn('the progress of indexing anew could not be written', { error })
    }
  }

  async #indexAnew(
    { what, isRecursive }: Reindexing,
    signal: AbortSignal,
    progress: Progress,
    tell: (count: number) => void,
  ): Promise<number> {
    const told = (count: number): void => {
      progress.count = count
      tell(count)
    }
    if (what) return this.#contents.refreshAll(what, isRecursive, signal, total => Object.assign(progress, { total }), told)
    progress.total = await this.#contents.count(signal)
    const { count } = await this.#index.rebuild(this.#contents.everything(), { signal, progress: told })
    return count
  }
}
wire(Rebuilding, SearchIndex, Contents, Board, Installation, Log)

interface Progress {
  count: number
  total: number | null
}

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
