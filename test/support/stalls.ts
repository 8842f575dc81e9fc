import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import type { ChildServer } from './child-server.ts'

/** One request of `/healthz`. */
export interface Wait {
  readonly fromMs: number
  readonly toMs: number
  /** CPU time of the event loop's thread meanwhile; the elapsed time if the system does not report it. */
  readonly stallMs: number
}

/** CPU time of the main thread of a process, unaffected by other load. */
const cpuMs = async (pid: number): Promise<number | undefined> => {
  try {
    return Number((await readFile(`/proc/${pid}/task/${pid}/schedstat`, 'latin1')).split(' ')[0]) / 1e6
  } catch {
    return undefined
  }
}

/** Requests `/healthz` continuously until stopped. */
export class Watch {
  readonly waits: Wait[] = []
  readonly #server: ChildServer
  #isOver = false
  readonly #done: Promise<void>

  constructor(server: ChildServer) {
    this.#server = server
    this.#done = this.#run()
    // Rejections are reported when the watch is stopped.
    this.#done.catch(() => undefined)
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#done
  }

  /** The longest stall that overlaps this period. */
  longest(fromMs: number, toMs: number): number {
    return this.waits.reduce((most, wait) => (wait.toMs > fromMs && wait.fromMs < toMs ? Math.max(most, wait.stallMs) : most), 0)
  }

  async #run(): Promise<void> {
    const get = this.#server.as()
    while (!this.#isOver) {
      const before = await cpuMs(this.#server.pid)
      const fromMs = performance.now()
      try {
        await (await get('/healthz')).arrayBuffer()
      } catch (error) {
        if (this.#isOver) return
        throw error
      }
      const toMs = performance.now()
      const after = await cpuMs(this.#server.pid)
      const wallMs = toMs - fromMs
      const stallMs = before === undefined || after === undefined ? wallMs : Math.min(wallMs, after - before)
      this.waits.push({ fromMs, toMs, stallMs })
      await setTimeout(5)
    }
  }
}

/** The longest response time of `/healthz` during some work. */
export interface Stall {
  readonly wallMs: number
  /** CPU time of the event loop meanwhile: the response time on an otherwise idle machine. */
  readonly busyMs: number
  /** Number of responses. */
  readonly answers: number
}

/** Requests the health of a server repeatedly until the work has finished. */
export const longestStall = async (server: ChildServer, work: Promise<unknown>): Promise<Stall> => {
  const watch = new Watch(server)
  await work.finally(() => watch.stop())
  const most = (of: (wait: Wait) => number): number => Math.max(0, ...watch.waits.map(of))
  return { wallMs: most(({ fromMs, toMs }) => toMs - fromMs), busyMs: most(({ stallMs }) => stallMs), answers: watch.waits.length }
}
