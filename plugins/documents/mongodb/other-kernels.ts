import { setTimeout as pause } from 'node:timers/promises'
import type { Log } from 'pounce/sdk'
import type { MongodbConnection } from './mongodb-connection.ts'

interface Report {
  readonly _id: string
  readonly at: number
}

export interface KernelTimes {
  /** Much longer than the interval of reports, 5 s and the maintenance before: that takes seconds on a busy server. */
  readonly observeMs: number
  readonly pollMs: number
  readonly limitMs: number
}
export const kernelTimes: KernelTimes = { observeMs: 15_000, pollMs: 500, limitMs: 60_000 }

/** Other kernels on the database, noticed by the reports of their consumers. Clocks are not compared. */
export class OtherKernels {
  readonly #server: MongodbConnection
  readonly #log: Log
  readonly #times: KernelTimes

  constructor(server: MongodbConnection, log: Log, times: KernelTimes) {
    this.#server = server
    this.#log = log
    this.#times = times
  }

  /**
   * Waits until no other kernel is running, or until `isRequired` is false. Resolves to false if one is still running after the time limit.
   * Takes at least 15 s, unless no kernel has ever used the database.
   */
  async stopped(isRequired: () => Promise<boolean>): Promise<boolean> {
    const { observeMs, pollMs, limitMs } = this.#times
    const begin = performance.now()
    let last = await this.#reports()
    let since = begin
    let isNoticed = false
    while (last !== '' && performance.now() < since + observeMs) {
      await pause(pollMs)
      if (!(await isRequired())) return true
      const now = await this.#reports()
      if (now === last) continue
      if (performance.now() > begin + limitMs) return false
      if (!isNoticed) this.#log.info('Waiting for other servers to stop, because this version changes indexes')
      isNoticed = true
      last = now
      since = performance.now()
    }
    return true
  }

  async #reports(): Promise<string> {
    const reports = await this.#server.use(database => database.collection<Report>('_consumers').find({}).sort({ _id: 1 }).toArray())
    return reports.map(({ _id, at }) => `${_id} ${at}`).join('\n')
  }
}
