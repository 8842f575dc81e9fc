import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { ExecutionContext } from 'ava'

const main = fileURLToPath(new URL('../main.js', import.meta.url))
const plugins = ['memory-plugin', 'command-plugin'].map(name => fileURLToPath(new URL(`./${name}/`, import.meta.url)))

/** How a command line ended. */
export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

const environmentWith = (more: Readonly<Record<string, string>>) => ({
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  POUNCE_PLUGINS: plugins.join(),
  ...more,
})

const spawned = (words: readonly string[], environment: Readonly<Record<string, string>>): ChildProcess =>
  spawn(process.execPath, [main, ...words], { env: environmentWith(environment), stdio: ['ignore', 'pipe', 'pipe'] })

const collected = (child: ChildProcess) => {
  const text = { out: '', err: '' }
  child.stdout?.on('data', (chunk: Buffer) => {
    text.out += chunk.toString()
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    text.err += chunk.toString()
  })
  return text
}

/** Runs `pounce` with the store and the command plugin until it ends. */
export const pounce = async (words: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Ended> => {
  const child = spawned(words, environment)
  const text = collected(child)
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, ...text }
}

/** A server in a process of its own. */
export interface RunningServer {
  readonly url: string
  readonly pid: number
  /** What it has written so far. */
  readonly text: { readonly out: string; readonly err: string }
  kill(signal: NodeJS.Signals): void
  /** Resolves when the process is gone. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
}

/** `pounce start` on a free port; killed after the test if it still runs. */
export const startServer = async (
  t: ExecutionContext,
  folder: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<RunningServer> => {
  const child = spawned(['start', '--port', '0', '--data', folder], environment)
  const text = collected(child)
  const ended = once(child, 'close').then(([code, signal]) => ({ code: code as number | null, signal: signal as NodeJS.Signals | null }))
  t.teardown(() => {
    child.kill('SIGKILL')
    return ended
  })
  for (;;) {
    const url = /listens on (\S+)/.exec(text.out)?.[1]
    if (url !== undefined && child.pid !== undefined) return { url, pid: child.pid, text, kill: signal => void child.kill(signal), ended }
    const early = await Promise.race([once(child.stdout as NodeJS.EventEmitter, 'data').then(() => undefined), ended])
    if (early) throw new Error(`The server ended with ${early.code}: ${text.err}${text.out}`)
  }
}
