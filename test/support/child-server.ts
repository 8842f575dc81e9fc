import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestFetch } from 'pounce/sdk/testing'
import { startFlags } from '../../scripts/start-flags.ts'
import { checkingFlags, throwFaults } from './child-faults.ts'
import { basic } from './people.ts'
import { until } from './until.ts'

const main = fileURLToPath(new URL('../../core/main.js', import.meta.url))

/** The server admin of every child server. */
export const childAdmin = { email: 'admin@example.org', password: 'correct-horse-battery' }

/** The result of a finished command. */
export interface Ended {
  /** Null if it was ended by a signal. */
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** A server in a separate process. */
export interface ChildServer {
  readonly url: string
  readonly pid: number
  /** Calls the API with a key; without one, anonymously. */
  as(key?: string): TestFetch
  /** Memory of the process, in bytes. */
  rss(): Promise<number>
  signal(name: NodeJS.Signals): void
  /** Resolves when the process has ended for any reason. */
  readonly ended: Promise<Ended>
}

/** A folder that is deleted after the test. */
export const dataFolder = async (t: { teardown(end: () => Promise<void>): void }): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'pounce-child-'))
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))
  return folder
}

type Settings = Readonly<Record<string, string>>

/** Starts a `pounce` command. Its settings come only from its environment, without the tester's own variables. */
const launch = (folder: string, settings: Settings, ...words: readonly string[]): { child: ChildProcess; ended: Promise<Ended> } => {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(?:POUNCE|CLOWDER)_/.test(name))
  const env = {
    ...Object.fromEntries(inherited),
    POUNCE_DATA: folder,
    POUNCE_HTTP__PORT: '0',
    POUNCE_LOG__LEVEL: 'warn',
    // On a slow machine any request may be slow.
    POUNCE_HTTP__SLOW_REQUEST_MS: '3600000',
    POUNCE_ADMIN__EMAIL: childAdmin.email,
    POUNCE_ADMIN__PASSWORD: childAdmin.password,
    ...settings,
  }
  const child = spawn(
    process.execPath,
    [...startFlags, ...checkingFlags, '--disable-warning=ExperimentalWarning', main, '--json', ...words],
    {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let out = ''
  let err = ''
  child.stdout.on('data', (text: Buffer) => {
    out += text
    child.emit('printed', out)
  })
  child.stderr.on('data', (text: Buffer) => {
    err += text
  })
  const ended = once(child, 'close').then(([code]) => {
    throwFaults(err)
    return { code: code as number | null, out, err }
  })
  return { child, ended }
}

/** Runs a `pounce` command on a folder and waits for it to finish. */
export const runPounce = (folder: string, ...words: readonly string[]): Promise<Ended> => runPounceWith({}, folder, ...words)

/** The same with settings. */
export const runPounceWith = (settings: Settings, folder: string, ...words: readonly string[]): Promise<Ended> =>
  launch(folder, settings, ...words).ended

/** Starts a `pounce` command that can be killed. */
export const startPounce = (
  settings: Settings,
  folder: string,
  ...words: readonly string[]
): { readonly ended: Promise<Ended>; signal(name: NodeJS.Signals): void } => {
  const { child, ended } = launch(folder, settings, ...words)
  return {
    ended,
    signal: name => {
      child.kill(name)
    },
  }
}

/** The resident memory of a local process, in bytes. */
const rssOf = async (pid: number): Promise<number> => {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1024
}

/** A started server that may not be ready yet. */
export interface StartingServer {
  /** Resolves when it is ready; rejects with its output if it ends before that. */
  readonly ready: Promise<ChildServer>
  signal(name: NodeJS.Signals): void
  readonly ended: Promise<Ended>
}

/** Starts a server on a folder, on a free port. */
export const startChild = (folder: string, settings: Settings = {}): StartingServer => {
  const { child, ended } = launch(folder, settings, 'start')
  const signal = (name: NodeJS.Signals): void => {
    child.kill(name)
  }
  const url = new Promise<string>((resolve, reject) => {
    child.on('printed', (out: string) => {
      const [, found] = /^\{"url":"([^"]+)"/m.exec(out) ?? []
      if (found !== undefined) resolve(found)
    })
    ended.then(({ code, out, err }) => reject(new Error(`The server exited (${code}) before it was ready\n${out}${err}`)), reject)
  })
  const ready = url.then((at): ChildServer => {
    const pid = child.pid ?? 0
    return { url: at, pid, as: key => fetchOf(at, key), rss: () => rssOf(pid), signal, ended }
  })
  // Tests that kill a server before it is ready do not await this.
  ready.catch(() => undefined)
  return { ready, signal, ended }
}

/** A running server that is stopped after the test. */
export const childServer = async (
  t: { teardown(end: () => Promise<void>): void },
  folder: string,
  settings: Settings = {},
): Promise<ChildServer> => {
  const starting = startChild(folder, settings)
  t.teardown(async () => {
    starting.signal('SIGKILL')
    await starting.ended
  })
  return starting.ready
}

const fetchOf =
  (url: string, key: string | undefined): TestFetch =>
  (path, { json, ...init } = {}) => {
    const headers = new Headers(init.headers)
    if (key !== undefined) headers.set('x-api-key', key)
    if (json !== undefined) headers.set('content-type', 'application/json')
    return fetch(url + path, { ...init, headers, ...(json === undefined ? {} : { body: JSON.stringify(json) }) })
  }

/** A key of the server admin. */
export const adminKey = async (server: ChildServer): Promise<string> => {
  const headers = { authorization: basic(childAdmin.email, childAdmin.password) }
  const create = () => server.as()('/api/users/keys?name=child', { method: 'POST', headers })
  // Passwords wait for their turn, on a busy machine too long.
  const answer = await until('a key', create, ({ status }) => status !== 503)
  if (answer.status !== 200) throw new Error(await answer.text())
  return ((await answer.json()) as { key: string }).key
}
