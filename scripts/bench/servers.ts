import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startFlags } from '../start-flags.ts'

/** A measured server, in its own process and folder. */
export interface Server {
  readonly port: number
  readonly url: string
  readonly pid: number
  readonly folder: string
  /** Milliseconds from the start of the process to its first response. */
  readonly startedMs: number
  stop(): Promise<void>
}

export const account = { email: 'bench@example.org', password: 'bench-bench-bench' }

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = net.createServer()
    probe.on('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as net.AddressInfo
      probe.close(() => resolve(port))
    })
  })

const answers = async (url: string): Promise<boolean> => {
  try {
    return (await fetch(url)).ok
  } catch (error) {
    // refused until it listens
    if (error instanceof TypeError) return false
    throw error
  }
}

const untilAnswers = async (child: ChildProcess, url: string): Promise<void> => {
  for (let waited = 0; waited < 60_000; waited += 2) {
    if (child.exitCode !== null) throw new Error(`the server exited with ${child.exitCode} before it responded`)
    if (await answers(url)) return
    await pause(2)
  }
  throw new Error(`no response at ${url}`)
}

const ended = (child: ChildProcess): Promise<void> =>
  new Promise(resolve => {
    if (child.exitCode !== null || child.signalCode !== null) resolve()
    else child.once('exit', () => resolve())
  })

const start = async (
  script: string,
  options: {
    readonly folder?: string
    readonly flags?: readonly string[]
    readonly args?: readonly string[]
    readonly env?: Readonly<Record<string, string>>
  },
): Promise<Server> => {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'pounce-bench-')))
  const port = await freePort()
  const env = { ...process.env, POUNCE_DATA: folder, POUNCE_HTTP__PORT: String(port), ...options.env }
  const at = performance.now()
  const child = spawn(
    process.execPath,
    [...(options.flags ?? []), '--disable-warning=ExperimentalWarning', script, ...(options.args ?? [])],
    {
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
  const kill = (): boolean => child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('exit', () => process.off('exit', kill))
  await untilAnswers(child, `http://127.0.0.1:${port}/healthz`)
  const startedMs = performance.now() - at
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    folder,
    startedMs,
    stop: async () => {
      child.kill('SIGTERM')
      await ended(child)
      if (options.folder === undefined) await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Pounce as `npm start` runs it, with the default plugins unless `plugins` is given. */
export const startPounce = (
  options: {
    readonly folder?: string
    readonly settings?: Readonly<Record<string, string>>
    /** The source tree to start; this one by default. */
    readonly tree?: string
    /** Additional flags for Node. */
    readonly flags?: readonly string[]
  } = {},
): Promise<Server> =>
  start(join(options.tree ?? join(import.meta.dirname, '../..'), 'core/main.js'), {
    ...options,
    flags: [...startFlags, ...(options.flags ?? [])],
    args: ['start'],
    env: {
      POUNCE_ADMIN__EMAIL: account.email,
      POUNCE_ADMIN__PASSWORD: account.password,
      POUNCE_LOG__LEVEL: 'warn',
      ...options.settings,
    },
  })

/** The same work without Pounce: see `baseline-server.ts`. */
export const startBaseline = (options: { readonly folder?: string } = {}): Promise<Server> =>
  start(join(import.meta.dirname, 'baseline-server.ts'), options)

/** Streams of node:http that receive the same text: see `baseline-events.ts`. */
export const startEventsBaseline = (): Promise<Server> => start(join(import.meta.dirname, 'baseline-events.ts'), {})

/** Rows of an index as JSON, directly from node:sqlite: see `baseline-entries.ts`. */
export const startEntriesBaseline = (count: number): Promise<Server> =>
  start(join(import.meta.dirname, 'baseline-entries.ts'), { env: { BENCH_ENTRIES: String(count) } })

/** A row iterator with csv-stringify over Pounce's database: see `baseline-csv.ts`. */
export const startCsvBaseline = (options: { readonly folder: string }): Promise<Server> =>
  start(join(import.meta.dirname, 'baseline-csv.ts'), options)

/** The ZIP writers of npm: see `zip-server.ts`. */
export const startZipWriters = (): Promise<Server> => start(join(import.meta.dirname, 'zip-server.ts'), {})

/** An API key of an account; by default the one that Pounce was started with. */
export const newKey = async (server: Server, { email, password } = account): Promise<string> => {
  const authorization = `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`
  const answer = await fetch(`${server.url}/api/users/keys?name=bench${Date.now()}`, { method: 'POST', headers: { authorization } })
  if (!answer.ok) throw new Error(`no key: ${answer.status} ${await answer.text()}`)
  return ((await answer.json()) as { key: string }).key
}

/** Posts a body; resolves to the id of the created resource. */
export const sent = async (
  { url }: Server,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string | Buffer,
): Promise<string> => {
  const answer = await fetch(url + path, { method: 'POST', headers, body: typeof body === 'string' ? body : new Uint8Array(body) })
  if (!answer.ok) throw new Error(`${answer.status} ${path}: ${await answer.text()}`)
  return ((await answer.json()) as { id: string }).id
}

/** Resident memory of a process, or its peak, in MiB. Linux only. */
export const memoryOf = async (pid: number, what: 'VmRSS' | 'VmHWM' = 'VmRSS'): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`${what}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024
}

/** Processor time of all threads of a process so far, in milliseconds, from `schedstat`, because `stat` has a resolution of 10 ms. Linux only. */
export const cpuMsOf = async (pid: number): Promise<number> => {
  const threads = await readdir(`/proc/${pid}/task`)
  const taken = threads.map(async thread => {
    try {
      return Number((await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8')).split(' ')[0])
    } catch (error) {
      // The thread has ended.
      if (/^(?:ENOENT|ESRCH)$/.test((error as NodeJS.ErrnoException).code ?? '')) return 0
      throw error
    }
  })
  return (await Promise.all(taken)).reduce((sum, nanoseconds) => sum + nanoseconds, 0) / 1e6
}
