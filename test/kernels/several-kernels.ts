import { join } from 'node:path'
import { adminKey, type ChildServer, dataFolder, startChild } from '../support/child-server.ts'
import { placesOn, type ServerPart } from '../support/server-places.ts'

interface Ending {
  teardown(end: () => Promise<void>): void
}
type Url = Parameters<typeof placesOn>[1]
type Settings = Readonly<Record<string, string>>

const parts: readonly ServerPart[] = ['documents.mongodb', 'blobs.s3', 'search.elasticsearch']

/** Several kernels of one installation, each with its own data folder. They are stopped after the test. */
export class SeveralKernels {
  readonly #t: Ending
  readonly #folder: string
  readonly #settings: Settings
  readonly #up = new Map<number, ChildServer>()
  #key = ''

  constructor(t: Ending, folder: string, settings: Settings) {
    this.#t = t
    this.#folder = folder
    this.#settings = settings
  }

  /** Starts `count` kernels at the same time on empty servers. */
  static async begin(t: Ending, url: Url, count: number, more: Settings = {}, use: readonly string[] = []): Promise<SeveralKernels> {
    const { settings } = await placesOn(t, url, parts)
    const all = { ...settings, POUNCE_REPLACE_PLUGINS: [...parts, ...use].join(','), ...more }
    const kernels = new SeveralKernels(t, await dataFolder(t), all)
    await Promise.all(Array.from({ length: count }, (_, n) => kernels.start(n)))
    kernels.#key = await adminKey(kernels.at(0))
    return kernels
  }

  get key(): string {
    return this.#key
  }

  get settings(): Settings {
    return this.#settings
  }

  folderOf(n: number): string {
    return join(this.#folder, `kernel-${n}`)
  }

  at(n: number): ChildServer {
    const server = this.#up.get(n)
    if (!server) throw new Error(`Kernel ${n} is not running`)
    return server
  }

  /** Calls one kernel as the server admin. */
  call(n: number, path: string, init?: RequestInit & { readonly json?: unknown }): Promise<Response> {
    return this.at(n).as(this.#key)(path, init)
  }

  async start(n: number, more: Settings = {}): Promise<ChildServer> {
    const starting = startChild(this.folderOf(n), { ...this.#settings, ...more })
    this.#t.teardown(async () => {
      starting.signal('SIGKILL')
      await starting.ended
    })
    const server = await starting.ready
    this.#up.set(n, server)
    return server
  }

  /** Ends a kernel; resolves to its exit code, or null if it was killed. */
  async end(n: number, signal: NodeJS.Signals): Promise<number | null> {
    const server = this.at(n)
    this.#up.delete(n)
    server.signal(signal)
    return (await server.ended).code
  }
}
