import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type StartingServer, startChild } from '../../test/support/child-server.ts'
import type { SeededRandom } from '../../test/support/seeded-random.ts'
import type { Balancer } from './balancer.ts'

interface Kernel {
  readonly starting: StartingServer
  port: number | undefined
}

/** Kernels of one installation behind one address; any of them can be killed and restarted. */
export class Kernels {
  kills = 0
  readonly #folder: string
  readonly #settings: Readonly<Record<string, string>>
  readonly #balancer: Balancer
  readonly #all: Kernel[] = []

  constructor(folder: string, settings: Readonly<Record<string, string>>, balancer: Balancer) {
    this.#folder = folder
    this.#settings = { POUNCE_HTTP__BASE_URL: balancer.url, ...settings }
    this.#balancer = balancer
  }

  async start(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, (_, n) => this.#start(n)))
  }

  /** Kills one at a random time, restarts it, and resolves when it is ready. */
  async killOne(seededRandom: SeededRandom): Promise<void> {
    await pause(seededRandom.int(400))
    const n = seededRandom.int(this.#all.length)
    await this.#end(n)
    this.kills += 1
    await this.#start(n)
  }

  async end(): Promise<void> {
    await Promise.all(this.#all.map((_, n) => this.#end(n)))
  }

  async #start(n: number): Promise<void> {
    const starting = startChild(join(this.#folder, `kernel-${n}`), this.#settings)
    const kernel: Kernel = { starting, port: undefined }
    this.#all[n] = kernel
    kernel.port = Number(new URL((await starting.ready).url).port)
    this.#announce()
  }

  async #end(n: number): Promise<void> {
    const kernel = this.#all[n]
    if (!kernel) return
    kernel.port = undefined
    this.#announce()
    kernel.starting.signal('SIGKILL')
    await kernel.starting.ended
  }

  #announce(): void {
    this.#balancer.serve(this.#all.flatMap(({ port }) => port ?? []))
  }
}
