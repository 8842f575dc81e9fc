import { setTimeout as pause } from 'node:timers/promises'
import type { Clock, Log } from 'pounce/sdk'
import type { MongodbConnection } from './mongodb-connection.ts'

interface Report {
  readonly _id: string
  readonly at: number
}

export interface KernelTimes {
  /** A kernel that reported within this time may be running, or was killed. */
  readonly absentMs: number
  /** Much longer than the interval of reports: one that is running may report 0 when a command or another kernel ends. */
  readonly observeMs: number
  readonly pollMs: number
  readonly limitMs: number
}
export const kernelTimes: KernelTimes = { absentMs: 60_000, observeMs: 15_000, pollMs: 500, limitMs: 80_000 }

/** Other kernels on the database, noticed by the reports of their consumers. */
export class OtherKernels {
  readonly #server: MongodbConnection
  readonly #clock: Clock
  readonly #log: Log
  readonly #times: KernelTimes

  constructor(server: MongodbConnection, clock: Clock, log: Log, times: KernelTimes) {
    this.#server = server
    this.#clock = clock
    this.#log = log
    this.#times = times
  }

  /**
   * Waits until no other kernel is running, or until `isRequired` is false. Resolves to false if one may still be running after the time
   * limit. Takes at least 15 s, and up to a minute after a kernel was killed, unless no kernel has ever used the database.
   */
  async stopped(isRequired: () => Promise<boolean>): Promise<boolean> {
    const { absentMs, observeMs, pollMs, limitMs } = this.#times
    const begin = performance.now()
    let last = await this.#reports()
    let since = begin
    let isNoticed = false
    while (last.size > 0) {
      const isReporting = Math.max(...last.values()) > this.#clock.now().getTime() - absentMs
      if (!isReporting && performance.now() > since + observeMs) return true
      if (performance.now() > begin + limitMs) return false
      if (isReporting && !isNoticed) this.#log.info('Waiting for other servers to stop, because this version changes indexes')
      isNoticed ||= isReporting
      await pause(pollMs)
      if (!(await isRequired())) return true
      const now = await this.#reports()
      if ([...now].some(([name, at]) => at !== last.get(name))) since = performance.now()
      last = now
    }
    return true
  }

  /** When each consumer was last reported; 0 once its kernel has stopped. */
  async #reports(): Promise<ReadonlyMap<string, number>> {
    const reports = await this.#server.use(database => database.collection<Report>('_consumers').find({}).toArray())
    return new Map(reports.map(({ _id, at }) => [_id, at]))
  }
}
