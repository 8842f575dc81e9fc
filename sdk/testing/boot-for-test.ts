import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Plugin } from '../plugin.ts'
import type { Contributions, Token } from '../port.ts'
import { Clock, type Command, Commands } from '../ports/kernel.ts'
import { Users } from '../ports/users.ts'

type PluginChoice = string | Plugin | { readonly plugin: string; readonly as: string }

/** How the runners of tests name what registers a function for the end of a test: ava, node:test, vitest. */
export type TestEnd =
  | { teardown(end: () => Promise<void>): void }
  | { after(end: () => Promise<void>): void }
  | { onTestFinished(end: () => Promise<void>): void }

/** What to boot. Everything has a default: the plugins of `config/default.json` with their own settings. */
export interface BootOptions {
  /** Of the test, to stop and clean up after it: `bootForTest({ t })`, with the context that ava, vitest or node:test gives to tests. */
  readonly t?: TestEnd
  /** Instead of the default plugins: ids, package names, folders or plugin objects. */
  readonly plugins?: readonly PluginChoice[]
  /** Besides the plugins. */
  readonly also?: readonly PluginChoice[]
  /** Ids of default plugins to leave out, such as the store that a plugin of `also` replaces. */
  readonly without?: readonly string[]
  /** Settings as in a configuration file; stronger than `env`. */
  readonly config?: Readonly<Record<string, unknown>>
  /** Variables as of the process, such as `POUNCE_HTTP__PORT`; those of the process itself are not read. */
  readonly env?: Readonly<Record<string, string>>
  /** `none`: a new installation without any account. */
  readonly admin?: 'none'
  readonly clock?: Clock
  /** Instances in the place of what the kernel or a plugin provides, by port. */
  readonly overrides?: Readonly<Record<string, unknown>>
  /** Where the data lies; a new folder that is removed at the end unless given. */
  readonly folder?: string
}

/** `fetch` with a path of the server; `json` is sent as the body. Of a stream of events the first bytes are the whole body: use `fetch` itself to read on. */
export type TestFetch = (path: string, init?: RequestInit & { readonly json?: unknown }) => Promise<Response>

/** A real kernel with a real server on a free port. */
export interface TestServer {
  /** Without a trailing slash. Changes with `restart`. */
  readonly url: string
  /** The data folder. */
  readonly folder: string
  /** A server admin with an API key. Throws where no plugin keeps accounts. */
  readonly admin: { readonly id: string; readonly email: string; readonly password: string; readonly key: string }
  /** What is behind a port, or the instance of a plugin's class. */
  get<T>(token: Token<T>): T
  /** Calls the API with a key; without one, as no one. */
  as(key?: string): TestFetch
  /** Resolves when no event waits any more; rejects after `limitMs` (60 s), naming what waits and what was dead-lettered. */
  drained(limitMs?: number): Promise<void>
  /** Runs one piece of periodic work now: `resources.files/sweep`. */
  runPeriodic(name: string): Promise<void>
  /** Stops the kernel and starts a new one on the same data. */
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
 * The SDK imports nothing of the kernel, and a published SDK has none beside it. The address is made at run time so that
 * neither the compiler nor a bundler follows it.
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
  // Kernels that share a store have one admin, and the name of a key is taken once.
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
 * `POUNCE_TEST_STORE=mongodb` has every kernel with the default plugins keep its documents on the server of `POUNCE_TEST_MONGODB_URL`,
 * in a database named after its folder. The databases stay, so that is a server for tests alone.
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
 * Boots a real kernel: temp folder, free port, silent log (`POUNCE_TEST_LOG=debug` shows it). Every answer is compared with what its route declares;
 * one that differs is thrown where no one catches it.
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
