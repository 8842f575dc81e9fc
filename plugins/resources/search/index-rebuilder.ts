import { setTimeout as delay } from 'node:timers/promises'
import {
  type Command,
  Conflict,
  type Contributions,
  Installation,
  Log,
  Problem,
  ProgressListeners,
  type Ref,
  SearchIndex,
  wire,
} from 'pounce/sdk'
import { type ProgressListener, reportProgress } from 'pounce/sdk/kit'
import { IndexSources } from './index-sources.ts'
import { type Reindexing, ReindexTasks } from './reindex-tasks.ts'

/** Interval at which progress is stored. */
const reportEveryMs = 2000

/** Maximum time for which emptying the index waits for a rebuild: that of a small index has ended by then. */
const maxClearWaitMs = 5000

/**
 * Rebuilds the whole index from the store, while the old one is served, or the entries of one resource. Each is done by one kernel at a
 * time.
 */
export class IndexRebuilder {
  #index: SearchIndex
  #contents: IndexSources
  #tasks: ReindexTasks
  #installation: Installation
  #listeners: Contributions<ProgressListener>
  #log: Log
  #stop = new AbortController()
  #running = new Set<Promise<void>>()

  constructor(
    index: SearchIndex,
    contents: IndexSources,
    board: ReindexTasks,
    installation: Installation,
    listeners: Contributions<ProgressListener>,
    log: Log,
  ) {
    this.#listeners = listeners
    this.#index = index
    this.#contents = contents
    this.#tasks = board
    this.#installation = installation
    this.#log = log
  }

  /** Runs after the start, which does not wait: checking a large index takes seconds. */
  start(): void {
    if (!this.#installation.roles.has('worker')) return
    this.run().catch((error: unknown) => {
      // The next start checks again: a server that stops, or whose start is refused, closes the stores meanwhile.
      if (!this.#stop.signal.aborted) this.#log.warn('Failed to check the search index', { error })
    })
  }

  /** Rebuilds an index that is lost, damaged or out of date, and resumes abandoned work. */
  async run(): Promise<void> {
    if (await this.#index.needsRebuild?.()) await this.#tasks.request(null, true, 'the index is new or incomplete')
    else if (await this.#wasReplaced()) await this.#tasks.request(null, true, 'another index was in use meanwhile')
    for (const { id } of await this.#tasks.waiting()) this.#begin(id)
  }

  async dispose(): Promise<void> {
    this.#stop.abort(new Error('the server is stopping'))
    await Promise.all(this.#running)
  }

  /**
   * Requests reindexing of everything, or of one resource with or without its contents; a kernel starts it in the background. An unfinished
   * request is reused.
   */
  async request(what: Ref | null, isRecursive: boolean, reason: string): Promise<Reindexing> {
    const reindexing = await this.#tasks.request(what, isRecursive, reason)
    if (reindexing.state === 'queued' && this.#installation.roles.has('worker')) this.#begin(reindexing.id)
    return reindexing
  }

  /** The latest request for everything, or for one resource. */
  latest(what?: Ref): Promise<Reindexing | undefined> {
    return this.#tasks.get(what)
  }

  /** Rebuilds everything and waits for the end. Throws `Conflict` while another kernel does. */
  async rebuild(onProgress: (count: number) => void): Promise<number> {
    const { id } = await this.#tasks.request(null, true, 'by the reindex command')
    const task = await this.#tasks.take(id)
    if (!task) throw new Conflict('A rebuild of the search index is already running')
    return this.#work(task, onProgress)
  }

  /**
   * Empties the index, after a rebuild of this kernel that ends soon. Throws `Conflict` while another is requested or running: a request made
   * right afterwards would join it.
   */
  async clear(maxWaitMs = maxClearWaitMs): Promise<void> {
    if (this.#running.size > 0) {
      const stop = new AbortController()
      const { signal } = stop
      await Promise.race([Promise.all(this.#running), delay(maxWaitMs, undefined, { signal }).catch(() => undefined)])
      stop.abort()
    }
    if (await this.#tasks.isPending()) throw new Conflict('The index cannot be emptied during a rebuild')
    await this.#index.clear()
    const latest = await this.#tasks.get()
    const identity = latest && (await this.#index.identity?.())
    if (latest && identity !== undefined) await this.#tasks.noteIndex(latest, identity)
  }

  /** Whether changes may have gone to another index since the last rebuild, such as that of another search plugin. */
  async #wasReplaced(): Promise<boolean> {
    if (await this.#tasks.isPending()) return false
    const latest = await this.#tasks.get()
    const identity = latest && (await this.#index.identity?.())
    if (!latest || identity === undefined || latest.index === identity) return false
    // A rebuild that has ended since then has replaced the index.
    if (latest.index !== undefined) return (await this.#tasks.get())?.revision === latest.revision
    await this.#tasks.noteIndex(latest, identity)
    return false
  }

  #begin(id: string): void {
    const work = this.#takeAndWork(id).catch((error: unknown) => {
      if (error === this.#stop.signal.reason)
        this.#log.info('Search index rebuild interrupted by shutdown; it continues at the next start or on another kernel')
      else this.#log.error('Search index rebuild failed', { error })
    })
    this.#running.add(work)
    void work.finally(() => this.#running.delete(work))
  }

  async #takeAndWork(id: string): Promise<void> {
    const task = this.#stop.signal.aborted ? undefined : await this.#tasks.take(id)
    if (!task) return
    this.#log.info('Search index rebuild started', { what: task.what ?? 'everything', reason: task.reason })
    const count = await this.#work(task, () => undefined)
    this.#log.info('Search index rebuilt', { what: task.what ?? 'everything', count })
  }

  /** Runs it, and records its progress and result. */
  async #work(taken: Reindexing, onProgress: (count: number) => void): Promise<number> {
    const lost = new AbortController()
    const signal = AbortSignal.any([this.#stop.signal, lost.signal])
    const progress = { count: 0, total: null as number | null }
    const reporting = setInterval(() => void this.#saveProgress(taken.id, progress, lost), reportEveryMs).unref()
    try {
      const count = await this.#indexAnew(taken, signal, progress, onProgress)
      const index = taken.what ? undefined : await this.#index.identity?.()
      await this.#tasks.end(taken.id, { ...progress, state: 'done', count, problem: null, ...(index === undefined ? {} : { index }) })
      this.#report(taken, progress, 'finished')
      return count
    } catch (error) {
      if (this.#stop.signal.aborted) {
        await this.#tasks.release(taken.id)
        throw this.#stop.signal.reason
      }
      const problem = error instanceof Problem ? error.message : 'an internal error; see the server log'
      await this.#tasks.end(taken.id, { ...progress, state: 'failed', problem })
      this.#report(taken, progress, 'failed')
      throw error
    } finally {
      clearInterval(reporting)
    }
  }

  async #saveProgress(id: string, { count, total }: Progress, lost: AbortController): Promise<void> {
    try {
      if (!(await this.#tasks.renew(id, count, total))) lost.abort(new Error('another kernel is rebuilding the index'))
    } catch (error) {
      this.#log.warn('Failed to store the progress of the search index rebuild', { error })
    }
  }

  /** Progress of the whole index is reported to server admins in superadmin mode only. */
  #report({ id, what }: Reindexing, { count, total }: Progress, state: 'running' | 'finished' | 'failed'): void {
    const about = { ...(what && { subject: what }), ...(total !== null && { total }) }
    reportProgress(this.#listeners, { activity: 'reindex', id, actor: null, state, done: count, unit: 'documents', ...about })
  }

  async #indexAnew(taken: Reindexing, signal: AbortSignal, progress: Progress, onProgress: (count: number) => void): Promise<number> {
    const reportCount = (count: number): void => {
      progress.count = count
      this.#report(taken, progress, 'running')
      onProgress(count)
    }
    const { what, isRecursive } = taken
    if (what) return this.#contents.refreshAll(what, isRecursive, signal, total => Object.assign(progress, { total }), reportCount)
    progress.total = await this.#contents.count(signal)
    const { count } = await this.#index.rebuild(this.#contents.everything(), { signal, progress: reportCount })
    return count
  }
}
wire(IndexRebuilder, SearchIndex, IndexSources, ReindexTasks, Installation, ProgressListeners, Log)

interface Progress {
  count: number
  total: number | null
}

/** `pounce reindex`. */
export class ReindexCommand implements Command {
  readonly name = 'reindex'
  readonly summary = 'Rebuild the search index from the document store'
  #rebuilding: IndexRebuilder

  constructor(rebuilding: IndexRebuilder) {
    this.#rebuilding = rebuilding
  }

  async run(_input: unknown, progress: (message: string) => void): Promise<Readonly<Record<string, unknown>>> {
    return { indexed: await this.#rebuilding.rebuild(count => progress(`${count} resources indexed`)) }
  }
}
wire(ReindexCommand, IndexRebuilder)
