import { randomUUID } from 'node:crypto'
import { link, mkdir, open, readdir, readFile, rm, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Clock, configPort, Installation, Invalid, Keys, Log, s, type Transport, wire } from 'pounce/sdk'
import type { Job, QueueStatistics, TransportListener } from 'pounce/sdk/kit'

export const config = s.Object({
  folder: s.Optional(s.String({ minLength: 1, description: 'The shared folder. Default: `template` in the data folder' })),
  pollMs: s.Integer({ default: 1000, minimum: 50, maximum: 60_000, description: 'Polling interval for replies, in milliseconds' }),
})
const Config = configPort(config)

const maxJobs = 1000
const fileForm = /^([\w.-]{1,200})\.json$/
const jobForm = /^[0-9a-f]{24}$/
/** Number of files written or read concurrently. */
const maxConcurrent = 16

interface StoredJob {
  /** Its position among all jobs. */
  readonly order: string
  readonly job: Job
  /** The key with which the program acts for the user on the job's target. */
  readonly secretKey?: string
}

interface Reply {
  readonly jobId: string
  /** In Clowder's terms: `StatusMessage.processing: …`, `DONE`, `StatusMessage.error: …`. */
  readonly status: string
}

type Pending = Awaited<ReturnType<Transport['pending']>>[number]

/** Stores jobs as files in a folder, from which programs claim them by moving them. For the layout see the README. */
export class FolderTransport implements Transport {
  readonly kind = 'folder'
  readonly #folder: string
  readonly #pollMs: number
  readonly #isWorker: boolean
  readonly #keys: Keys
  readonly #clock: Clock
  readonly #log: Log
  #extractors: ReadonlySet<string> = new Set()
  #announced = new Map<string, number>()
  #published = 0
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> = Promise.resolve()

  constructor({ folder, pollMs }: s.Static<typeof config>, { dataFolder, roles }: Installation, keys: Keys, clock: Clock, log: Log) {
    this.#folder = folder ?? join(dataFolder, 'template')
    this.#pollMs = pollMs
    this.#isWorker = roles.has('worker')
    this.#keys = keys
    this.#clock = clock
    this.#log = log
  }

  async start(): Promise<void> {
    await this.#prepare()
    this.#extractors = new Set((await this.#filesIn('extractors')).map(nameOf))
  }

  async dispose(): Promise<void> {
    clearInterval(this.#timer)
    await this.#looking
  }

  runs(): ReadonlySet<string> {
    return this.#extractors
  }

  async publish(jobs: readonly Job[]): Promise<void> {
    if (jobs.length > maxJobs) throw new Invalid(`At most ${maxJobs} jobs can be published at once, not ${jobs.length}`)
    if (jobs.length === 0) return
    const orders = jobs.map(() => this.#nextOrder())
    await inPieces([...jobs.entries()], ([at, job]) => this.#publish(job, orders[at] ?? ''))
    await sync(this.#path('jobs'))
  }

  async cancel(jobId: string): Promise<'cancelled' | 'running' | 'unknown'> {
    if (!jobForm.test(jobId)) return 'unknown'
    try {
      await unlink(this.#path('jobs', `${jobId}.json`))
      return 'cancelled'
    } catch (error) {
      if (!isAbsent(error)) throw error
      return (await exists(this.#path('running', `${jobId}.json`))) ? 'running' : 'unknown'
    }
  }

  async listen(listener: TransportListener): Promise<void> {
    if (!this.#isWorker) return
    const look = (): void => {
      this.#looking = this.#looking.then(async () => {
        try {
          await this.#look(listener)
        } catch (error) {
          this.#log.warn('Failed to read replies; will retry', { error })
        }
      })
    }
    this.#timer = setInterval(look, this.#pollMs)
    look()
  }

  async queues(): Promise<readonly QueueStatistics[]> {
    const groups = Map.groupBy(await this.#all(), ({ job }) => job.queue)
    const statistics = [...groups].map(([queue, jobs]) => ({
      queue,
      waiting: jobs.filter(({ state }) => state === 'waiting').length,
      running: jobs.filter(({ state }) => state === 'running').length,
      consumers: 0,
      dead: 0,
    }))
    return statistics.sort((one, other) => (one.queue < other.queue ? -1 : 1)).slice(0, 1000)
  }

  async pending(target: Job['target']): Promise<readonly Pending[]> {
    const jobs = (await this.#all()).filter(({ job }) => job.target.kind === target.kind && job.target.id === target.id)
    return jobs.slice(0, 1000).map(({ job, state }) => ({ job, state, attempts: state === 'running' ? 1 : 0 }))
  }

  /** A failed job ends with its reply, so there are no dead jobs. */
  async revive(): Promise<boolean> {
    return false
  }

  async #prepare(): Promise<void> {
    for (const name of ['tmp', 'jobs', 'running', 'replies', 'extractors']) await mkdir(this.#path(name), { recursive: true, mode: 0o700 })
  }

  #nextOrder(): string {
    this.#published += 1
    return `${String(this.#clock.now().getTime()).padStart(15, '0')}-${String(this.#published).padStart(10, '0')}`
  }

  async #publish(job: Job, order: string): Promise<void> {
    if (!jobForm.test(job.id)) throw new Invalid(`A job has an id of 24 hexadecimal digits, not ${job.id}`)
    if (await exists(this.#path('running', `${job.id}.json`))) return
    const secretKey = await this.#keys.jobKey(job)
    const temporary = this.#path('tmp', randomUUID())
    const stored: StoredJob = { order, job, ...(secretKey === undefined ? {} : { secretKey }) }
    const handle = await open(temporary, 'wx', 0o600)
    try {
      await handle.writeFile(JSON.stringify(stored))
      await handle.datasync()
    } finally {
      await handle.close()
    }
    try {
      await link(temporary, this.#path('jobs', `${job.id}.json`))
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    } finally {
      await rm(temporary, { force: true })
    }
  }

  async #look(listener: TransportListener): Promise<void> {
    for (const file of await this.#filesIn('extractors')) {
      const { mtimeMs } = await stat(this.#path('extractors', file))
      if (this.#announced.get(file) === mtimeMs) continue
      const info = await this.#read<unknown>('extractors', file)
      this.#extractors = new Set([...this.#extractors, nameOf(file)])
      try {
        await listener.heartbeat({ queue: nameOf(file), info, isBuiltIn: false })
        this.#announced.set(file, mtimeMs)
      } catch (error) {
        this.#log.warn('Failed to announce a program; will retry', { file, error })
      }
    }
    for (const file of (await this.#filesIn('replies')).sort()) {
      try {
        await this.#take(listener, file)
      } catch (error) {
        // Replies about other jobs must not wait for it, since its file or dataset may stay in the trash for weeks.
        this.#log.warn('Failed to process a reply; will retry', { file, error })
      }
    }
  }

  async #take(listener: TransportListener, file: string): Promise<void> {
    const reply = await this.#read<Partial<Reply>>('replies', file)
    const id = jobForm.test(reply?.jobId ?? '') ? reply?.jobId : undefined
    const stored = id === undefined ? undefined : await this.#read<StoredJob>('running', `${id}.json`)
    if (stored && id !== undefined && typeof reply?.status === 'string') {
      const { status } = reply
      await listener.status({ jobId: id, targetId: stored.job.target.id, extractor: stored.job.queue, status, at: this.#clock.now() })
      if (status === 'DONE' || status.startsWith('StatusMessage.error')) await rm(this.#path('running', `${id}.json`), { force: true })
    } else this.#log.warn('Ignored a reply without a running job or status', { file })
    await rm(this.#path('replies', file), { force: true })
  }

  /** Oldest first. */
  async #all(): Promise<readonly (StoredJob & { readonly state: 'waiting' | 'running' })[]> {
    const states = { jobs: 'waiting', running: 'running' } as const
    const all = await Promise.all(
      (['jobs', 'running'] as const).map(async folder => {
        const found = await inPieces(await this.#filesIn(folder), file => this.#read<StoredJob>(folder, file))
        return found.flatMap(stored => (stored ? [{ ...stored, state: states[folder] }] : []))
      }),
    )
    return all.flat().sort((one, other) => (one.order < other.order ? -1 : 1))
  }

  async #filesIn(folder: string): Promise<string[]> {
    return (await readdir(this.#path(folder))).filter(name => fileForm.test(name))
  }

  /** Undefined if a program has just moved the file, or if it is not JSON. */
  async #read<T>(folder: string, file: string): Promise<T | undefined> {
    try {
      return JSON.parse(await readFile(this.#path(folder, file), 'utf8')) as T
    } catch (error) {
      if (isAbsent(error) || error instanceof SyntaxError) return undefined
      throw error
    }
  }

  #path(...names: readonly string[]): string {
    return join(this.#folder, ...names)
  }
}
wire(FolderTransport, Config, Installation, Keys, Clock, Log)

const nameOf = (file: string): string => fileForm.exec(file)?.[1] ?? file
const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined)
const isAbsent = (error: unknown): boolean => codeOf(error) === 'ENOENT'

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    error => {
      if (isAbsent(error)) return false
      throw error
    },
  )

const inPieces = async <T, R>(all: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> => {
  const done: R[] = []
  for (let at = 0; at < all.length; at += maxConcurrent) done.push(...(await Promise.all(all.slice(at, at + maxConcurrent).map(work))))
  return done
}

/** Syncs a directory, so that its entries survive a power failure. */
const sync = async (path: string): Promise<void> => {
  const handle = await open(path, 'r')
  try {
    await handle.datasync()
  } finally {
    await handle.close()
  }
}
