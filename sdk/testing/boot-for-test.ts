import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Plugin } from '../plugin.ts'
import type { Contributions, Token } from '../port.ts'
import { Clock, type Command, Commands } from '../ports/kernel.ts'
import { Users } from '../ports/users.ts'

type PluginChoice = string | Plugin | { readonly plugin: string; readonly as: string }

/** A context that can register a function for the end of a test, as named by ava, node:test and vitest. */
export type TestEnd =
  | { teardown(end: () => Promise<void>): void }
  | { after(end: () => Promise<void>): void }
  | { onTestFinished(end: () => Promise<void>): void }

/** What to boot. By default the plugins of `config/default.json` with their default settings. */
export interface BootOptions {
  /** The test context of ava, vitest or node:test, for stopping the server and cleaning up after the test: `bootForTest({ t })`. */
  readonly t?: TestEnd
  /** Replaces the default plugins: ids, package names, folders or plugin objects. */
  readonly plugins?: readonly PluginChoice[]
  /** Additional plugins. */
  readonly also?: readonly PluginChoice[]
  /** Ids of default plugins to leave out, such as a store replaced by a plugin in `also`. */
  readonly without?: readonly string[]
  /** Settings as in a configuration file; take precedence over `env`. */
  readonly config?: Readonly<Record<string, unknown>>
  /** Environment variables such as `POUNCE_HTTP__PORT`; those of the process are ignored. */
  readonly env?: Readonly<Record<string, string>>
  /** `none`: a new installation without any account. */
  readonly admin?: 'none'
  readonly clock?: Clock
  /** Instances that replace what the kernel or a plugin provides, by port. */
  readonly overrides?: Readonly<Record<string, unknown>>
  /** The data folder; by default a new one that is removed at the end. */
  readonly folder?: string
}

/**
 * `fetch` with a path on the server; `json` is sent as the body. An event stream is returned with its first bytes as the whole body: use `fetch` directly to
 * read on.
 */
export type TestFetch = (path: string, init?: RequestInit & { readonly json?: unknown }) => Promise<Response>

/** A real kernel with an HTTP server on a free port. */
export interface TestServer {
  /** Without a trailing slash. Changes after `restart`. */
  readonly url: string
  /** The data folder. */
  readonly folder: string
  /** A server admin with an API key. Throws if no plugin stores accounts. */
  readonly admin: { readonly id: string; readonly email: string; readonly password: string; readonly key: string }
  /** The instance for a port or for a class of a plugin. */
  get<T>(token: Token<T>): T
  /** Calls the API with a key; anonymous without one. */
  as(key?: string): TestFetch
  /** Resolves when no events are pending; rejects after `limitMs` (60 s), naming pending events and dead letters. */
  drained(limitMs?: number): Promise<void>
  /** Runs one periodic task now: `resources.files/sweep`. */
  runPeriodic(name: string): Promise<void>
  /** Stops the kernel and starts a new one with the same data. */
  restart(): Promise<void>
  /** Stops the kernel and removes the folder. Idempotent. */
  stop(): Promise<void>
}

/** The parts of `core/boot.ts` and `core/kernel/config.ts` that are used here. */
interface Kernel {
  readonly address: { readonly url: string } | undefined
  get<T>(token: Token<T>): T
  start(): Promise<void>
  stop(): Promise<void>
  drained(limitMs?: number): Promise<void>
  runPeriodic(name: string): Promise<void>
}
interface Core {
  loadConfig(sources: Readonly<Record<string, unknown>>): Promise<unknown>
  bootKernel(config: unknown, options: Readonly<Record<string, unknown>>): Promise<Kernel>
  checkAnswers(): void
}

/**
 * The SDK does not import the kernel, and the published SDK does not include it. The specifier is computed at run time so that neither the compiler nor
 * bundlers follow it.
 */
const core = async (): Promise<Core> => {
  const [config, kernel, check] = await Promise.all(
    ['kernel/config', 'boot', 'http/testing/answer-check'].map(
      name => import(new URL(`../../core/${name}.ts`, import.meta.url).href) as Promise<Partial<Core>>,
    ),
  )
  return { ...config, ...kernel, ...check } as Core
}

const shippedDefaults = async (): Promise<{ readonly plugins: readonly PluginChoice[]; readonly basePlugins: readonly string[] }> =>
  JSON.parse(await readFile(new URL('../../config/default.json', import.meta.url), 'utf8'))

const account = { email: 'admin@example.org', password: 'correct-horse-battery' }

const adminOf = async (kernel: Kernel): Promise<TestServer['admin'] | undefined> => {
  const commands = (kernel.get(Commands) as Contributions<Command>).all()
  const createKey = commands.find(({ name }) => name === 'key create')
  if (!createKey) return undefined
  const user = await kernel.get(Users).byEmail(account.email)
  if (!user) return undefined
  const keyNamed = (name: string) => createKey.run({ arguments: { email: account.email, name }, options: {} }, () => undefined)
  // Kernels with a shared store have one admin, and key names are unique.
  const made = await keyNamed('test').catch(() => keyNamed(`test ${randomUUID()}`))
  return { ...account, id: user.id, key: String((made as Readonly<Record<string, unknown>>)['key']) }
}

const atEnd = (t: TestEnd, end: () => Promise<void>): void => {
  if ('teardown' in t) t.teardown(end)
  else if ('after' in t) t.after(end)
  else t.onTestFinished(end)
}

const without = (plugins: readonly PluginChoice[], ids: readonly string[] = []): readonly PluginChoice[] => {
  const unknown = ids.filter(id => !plugins.includes(id))
  if (unknown.length > 0) throw new Error(`without: ${unknown.join(', ')}: no plugin that would be booted has this id`)
  return plugins.filter(plugin => typeof plugin !== 'string' || !ids.includes(plugin))
}

const finite = async (answer: Response): Promise<Response> => {
  if (!answer.headers.get('content-type')?.startsWith('text/event-stream') || !answer.body) return answer
  const reader = answer.body.getReader()
  const { value } = await reader.read()
  await reader.cancel()
  return new Response(value ?? null, answer)
}

const fetchOf =
  (urlNow: () => string, key: string | undefined): TestFetch =>
  async (path, { json, ...init } = {}) => {
    const headers = new Headers(init.headers)
    if (key !== undefined) headers.set('x-api-key', key)
    if (json !== undefined) headers.set('content-type', 'application/json')
    return finite(await fetch(urlNow() + path, { ...init, headers, ...(json === undefined ? {} : { body: JSON.stringify(json) }) }))
  }

/**
 * With `POUNCE_TEST_STORE=mongodb` all kernels with the default plugins store their documents on the server at `POUNCE_TEST_MONGODB_URL`, in a database named
 * after their folder. The databases are not removed, so use a server dedicated to tests.
 */
const chosenStore = ({ plugins, env }: BootOptions, folder: string): Readonly<Record<string, string>> => {
  if (process.env['POUNCE_TEST_STORE'] !== 'mongodb' || plugins !== undefined || env?.['POUNCE_REPLACE_PLUGINS'] !== undefined) return {}
  return {
    POUNCE_REPLACE_PLUGINS: 'documents.mongodb',
    POUNCE_DOCUMENTS__MONGODB__URI: process.env['POUNCE_TEST_MONGODB_URL'] ?? '',
    POUNCE_DOCUMENTS__MONGODB__DATABASE: basename(folder).toLowerCase(),
  }
}

/**
 * Boots a real kernel with a temporary folder, a free port and a silent log (`POUNCE_TEST_LOG=debug` shows it). Every response is validated against its route's
 * declaration; a mismatch is thrown as an uncaught exception.
 */
export const bootForTest = async (options: BootOptions = {}): Promise<TestServer> => {
  const { loadConfig, bootKernel, checkAnswers } = await core()
  checkAnswers()
  const isOwnFolder = options.folder === undefined
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'pounce-test-')))
  const shipped = await shippedDefaults()
  const plugins = [...without(options.plugins ?? shipped.plugins, options.without), ...(options.also ?? [])]
  const { http, ...settings } = (options.config ?? {}) as { readonly http?: object }
  const boot = async (): Promise<Kernel> => {
    const config = await loadConfig({
      defaults: {
        basePlugins: shipped.basePlugins,
        data: folder,
        ...(options.admin === 'none' ? {} : { admin: account }),
        log: { level: process.env['POUNCE_TEST_LOG'] ?? 'silent' },
      },
      plugins,
      environment: { ...chosenStore(options, folder), ...options.env },
      settings: { ...settings, http: { host: '127.0.0.1', port: 0, ...http } },
    })
    const overrides = { ...options.overrides, ...(options.clock ? { [Clock]: options.clock } : {}) }
    const kernel = await bootKernel(config, { overrides })
    await kernel.start()
    return kernel
  }
  const clean = async (): Promise<void> => {
    if (isOwnFolder) await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }

  let kernel: Kernel | undefined
  let admin: TestServer['admin'] | undefined
  const current = (): Kernel => {
    if (!kernel) throw new Error('The kernel does not run')
    return kernel
  }
  try {
    kernel = await boot()
    admin = await adminOf(kernel)
  } catch (error) {
    await kernel?.stop()
    await clean()
    throw error
  }
  const urlNow = (): string => current().address?.url ?? ''
  const server: TestServer = {
    get url() {
      return urlNow()
    },
    folder,
    get admin() {
      if (!admin) throw new Error('There is no admin: no plugin that runs here keeps accounts and keys')
      return admin
    },
    get: token => current().get(token),
    as: key => fetchOf(urlNow, key),
    drained: (limitMs = 60_000) => current().drained(limitMs),
    runPeriodic: name => current().runPeriodic(name),
    restart: async () => {
      await current().stop()
      kernel = await boot()
    },
    stop: async () => {
      await current().stop()
      await clean()
    },
  }
  if (options.t) atEnd(options.t, server.stop)
  return server
}
