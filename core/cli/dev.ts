import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, type FSWatcher, readdirSync, statSync, watch } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { StartupError } from '../kernel/startup-error.ts'
import type { CommandContext, RunCommand } from './built-in.ts'
import type { Output } from './output.ts'
import { prettyLine } from './pretty-log.ts'

const main = fileURLToPath(new URL('../main.js', import.meta.url))
const account = { email: 'dev@example.org', password: 'pounce-development' }
const settleMs = 200
const stopLimitMs = 10_000
/** Folders without plugin sources. */
const ignored = new Set(['node_modules', 'out', '.pounce', '.git'])
const isIgnored = (path: string): boolean => ignored.has(path.split(/[\\/]/)[0] ?? '') || /\.(?:log|tgz)$/.test(path)

/** The plugin's source folder: `./src` or `.`. */
const sourceOf = (folder: string): string => {
  const source = ['src', '.'].find(path => ['index.ts', 'index.js'].some(name => existsSync(join(folder, path, name))))
  if (source === undefined)
    throw new StartupError(`${folder} has no src/index.ts: run this in the folder of a plugin, or create one with pounce plugin new`)
  return source
}

/** Calls back once for a burst of changes. On Linux a recursive watch of the whole folder would include `node_modules`. */
const watchFolder = (folder: string, changed: (path: string) => void): { close(): void } => {
  let timer: NodeJS.Timeout | undefined
  const note = (path: string): void => {
    if (isIgnored(path)) return
    clearTimeout(timer)
    timer = setTimeout(() => changed(path), settleMs)
  }
  const parts = readdirSync(folder).filter(name => !ignored.has(name) && statSync(join(folder, name)).isDirectory())
  const watchers: FSWatcher[] = [
    watch(folder, (_, name) => name !== null && note(name)),
    ...parts.map(part => watch(join(folder, part), { recursive: true }, (_, name) => note(join(part, name ?? '')))),
  ]
  return {
    close: () => {
      clearTimeout(timer)
      for (const one of watchers) one.close()
    },
  }
}

/** A log line as text; other lines unchanged. */
const readable = (line: string): string => {
  if (!line.startsWith('{')) return `${line}\n`
  try {
    return prettyLine(line)
  } catch {
    return `${line}\n`
  }
}

/** The server process with the plugin. */
class PluginServer {
  readonly #folder: string
  readonly #args: readonly string[]
  readonly #environment: NodeJS.ProcessEnv
  readonly #output: Output
  #child: ChildProcess | undefined
  #isStopping = false

  constructor(folder: string, { sources, output }: CommandContext) {
    const config = join(folder, 'pounce.json')
    const flags = Object.entries(sources.flags ?? {}).flatMap(([name, value]) => ['--set', `${name}=${value}`])
    this.#folder = folder
    this.#output = output
    this.#args = [...(existsSync(config) ? ['--config', config] : []), ...flags, 'start']
    this.#environment = {
      POUNCE_DATA: join(folder, '.pounce'),
      POUNCE_ADMIN__EMAIL: account.email,
      POUNCE_ADMIN__PASSWORD: account.password,
      ...(existsSync(config) ? {} : { POUNCE_PLUGINS: `+${join(folder, sourceOf(folder))}` }),
      ...process.env,
    }
  }

  start(): void {
    const child = spawn(process.execPath, [main, ...this.#args], {
      cwd: this.#folder,
      env: this.#environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    const { out, isTerminal } = this.#output
    const print = (line: string): void => out(isTerminal ? readable(line) : stripVTControlCharacters(readable(line)))
    for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', print)
    child.once('close', () => {
      if (this.#child !== child) return
      this.#child = undefined
      if (!this.#isStopping) print('The server exited; waiting for a change')
    })
  }

  async stop(signal?: NodeJS.Signals): Promise<void> {
    const child = this.#child
    if (!child) return
    this.#isStopping = true
    const closed = once(child, 'close')
    // A terminal sends the interrupt to both processes, and a second signal would end the server immediately.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill('SIGTERM')
    const limit = setTimeout(() => child.kill('SIGKILL'), stopLimitMs)
    await closed
    clearTimeout(limit)
    this.#isStopping = false
  }
}

/** `pounce dev`: runs Pounce with the plugin in a folder and restarts it on each change, until SIGTERM or SIGINT. */
export const dev: RunCommand = async context => {
  const folder = resolve(context.arguments['folder'] || '.')
  const { out } = context.output
  out(`The plugin in ${join(folder, sourceOf(folder))}; data in ${join(folder, '.pounce')}\n`)
  out(`Sign in as ${account.email} with the password ${account.password}\n`)
  const server = new PluginServer(folder, context)
  let last: Promise<unknown> = Promise.resolve()
  const watcher = watchFolder(folder, path => {
    last = last.then(async () => {
      out(`${relative(folder, resolve(folder, path))} changed; restarting\n`)
      await server.stop()
      server.start()
    })
  })
  const { promise: ended, resolve: end } = Promise.withResolvers<NodeJS.Signals>()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end)
  server.start()
  const signal = await ended
  watcher.close()
  await last
  await server.stop(signal)
  return undefined
}
