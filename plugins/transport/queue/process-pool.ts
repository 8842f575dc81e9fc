import { randomUUID } from 'node:crypto'
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Extractor, ExtractorNeeds, Log } from 'pounce/sdk'
import { ExtractorProcess } from './extractor-process.ts'
import type { RunLimits, RunRequest } from './messages.ts'
import type { Sandbox } from './sandbox.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url)).replace(/[\\/]$/, '')
const builtIn = join(root, 'plugins', 'extractors')

/** The folders from here up to the root of the file system. */
function* upFrom(folder: string): Generator<string> {
  for (let at = folder; ; at = dirname(at)) {
    yield at
    if (dirname(at) === at) return
  }
}

const libraries = (folder: string): readonly string[] => [...upFrom(folder)].map(each => join(each, 'node_modules')).filter(existsSync)

/** The folder of a package: the nearest one with a `package.json`, unless that is Pounce itself, which contains more than the extractor. */
function ownFolder(module: string): string {
  if (module.startsWith(builtIn + sep)) return builtIn
  const own = dirname(module)
  for (const folder of upFrom(own)) {
    if (folder === root) return own
    if (existsSync(join(folder, 'package.json'))) return folder
  }
  return own
}

/**
 * Files and folders that running a module needs: its own package, its `node_modules` and Pounce's, the SDK and the Node executable.
 * Neither Pounce's config nor its data, which may be in sibling folders.
 */
export function codeOf(module: URL): readonly string[] {
  // A package has what several modules share in `chunks`.
  const runs = ['package.json', 'sdk', 'chunks', 'plugins/transport/queue'].map(path => join(root, path)).concat(libraries(root))
  const own = module.protocol === 'file:' ? fileURLToPath(module) : undefined
  const all = own === undefined ? runs : [...runs, ownFolder(own), ...libraries(dirname(own))]
  // Both the path given to Node and the path it resolves to.
  return [...new Set(all.filter(existsSync).flatMap(path => [path, realpathSync(path)]))]
}

/** How the pool behaves; see the plugin's config. */
export interface PoolOptions {
  /** Maximum number of processes; the caller starts no more runs than that. */
  readonly size: number
  readonly runsPerProcess: number
  readonly idleMs: number
  readonly nativeMemoryMb: number
  readonly maxOutputBytes: number
  /** The sandbox of the processes, which may be detected only when the first one starts. */
  readonly sandbox: () => Promise<Sandbox>
  /** Where each process gets its own folder, unless the sandbox specifies another location. */
  readonly folder: string
  readonly log: Log
}

/** What a process is started for: extractors with the same rights can share one. */
interface Profile {
  readonly memoryMb: number
  readonly needs: ExtractorNeeds
  readonly readable: readonly string[]
}

const profileOf = ({ memoryMb, needs = {}, module }: Extractor): Profile => ({ memoryMb, needs, readable: codeOf(module) })

interface Idle {
  readonly worker: ExtractorProcess
  readonly kind: string
  readonly timer: NodeJS.Timeout
}

/** Extractor processes: started on demand, reused by extractors with the same limits and rights, ended when idle. */
export class ProcessPool {
  #options: PoolOptions
  /** Longest idle first. */
  #idle: Idle[] = []
  #busy = new Set<ExtractorProcess>()
  #starting = new Set<Promise<ExtractorProcess>>()
  #ending = new Set<Promise<void>>()
  #profiles = new WeakMap<Extractor, { readonly profile: Profile; readonly kind: string }>()

  constructor(options: PoolOptions) {
    this.#options = options
  }

  /** Runs an extractor; see `ExtractorProcess.run`. The process has no other run until `takeOver` has ended. */
  async run<T>(
    extractor: Extractor,
    request: RunRequest,
    limits: RunLimits,
    takeOver: (output: string, folder: string) => Promise<T>,
  ): Promise<T> {
    const { profile, kind } = this.#profileOf(extractor)
    const worker = this.#takeIdle(kind) ?? (await this.#start(profile))
    this.#busy.add(worker)
    try {
      return await worker.run(request, limits, takeOver)
    } finally {
      this.#busy.delete(worker)
      await this.#release(worker, kind)
    }
  }

  /** Whether a run could start without ending another process. */
  hasRoomFor(extractor: Extractor | undefined): boolean {
    if (extractor === undefined) return false
    if (this.#busy.size + this.#idle.length < this.#options.size) return true
    const { kind } = this.#profileOf(extractor)
    return this.#idle.some(idle => idle.kind === kind && idle.worker.isUsable)
  }

  /** Ends all processes, busy ones too: their runs fail. */
  async dispose(): Promise<void> {
    // A process that is starting becomes busy.
    await Promise.allSettled(this.#starting)
    const all = [...this.#busy, ...this.#idle.map(({ worker }) => worker)]
    for (const { timer } of this.#idle) clearTimeout(timer)
    this.#idle = []
    await Promise.all([...all.map(worker => worker.stop()), ...this.#ending])
  }

  /** Processes that are neither busy nor idle are waited for by `dispose`. */
  #end(worker: ExtractorProcess): Promise<void> {
    const ending = worker.stop().finally(() => this.#ending.delete(ending))
    this.#ending.add(ending)
    return ending
  }

  #profileOf(extractor: Extractor): { readonly profile: Profile; readonly kind: string } {
    const known = this.#profiles.get(extractor)
    if (known) return known
    const profile = profileOf(extractor)
    const entry = { profile, kind: JSON.stringify(profile) }
    this.#profiles.set(extractor, entry)
    return entry
  }

  #takeIdle(kind: string): ExtractorProcess | undefined {
    const at = this.#idle.findLastIndex(idle => idle.kind === kind && idle.worker.isUsable)
    const [idle] = at < 0 ? [] : this.#idle.splice(at, 1)
    clearTimeout(idle?.timer)
    return idle?.worker
  }

  #start(profile: Profile): Promise<ExtractorProcess> {
    const starting = this.#startNew(profile).finally(() => this.#starting.delete(starting))
    this.#starting.add(starting)
    return starting
  }

  async #startNew(profile: Profile): Promise<ExtractorProcess> {
    const { size, nativeMemoryMb, maxOutputBytes, log } = this.#options
    if (this.#busy.size + this.#idle.length >= size) await this.#drop(this.#idle[0])
    const sandbox = await this.#options.sandbox()
    const folder = join(sandbox.folder ?? this.#options.folder, randomUUID())
    return ExtractorProcess.start({ ...profile, folder, sandbox, nativeMemoryMb, maxOutputBytes, log })
  }

  async #release(worker: ExtractorProcess, kind: string): Promise<void> {
    const { runsPerProcess, idleMs } = this.#options
    if (!worker.isUsable || worker.runs >= runsPerProcess || idleMs === 0) return this.#end(worker)
    const idle: Idle = { worker, kind, timer: setTimeout(() => void this.#drop(idle), idleMs) }
    this.#idle.push(idle)
  }

  async #drop(idle: Idle | undefined): Promise<void> {
    if (!idle) return
    clearTimeout(idle.timer)
    this.#idle = this.#idle.filter(other => other !== idle)
    await this.#end(idle.worker)
  }
}
