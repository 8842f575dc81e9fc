import { createKernelHttp } from './http/kernel-http.ts'
import type { Config } from './kernel/config.ts'
import { Kernel } from './kernel/kernel.ts'
import type { KernelLog } from './kernel/kernel-options.ts'
import type { RetryRule } from './kernel/retry.ts'
import { lockDataFolder } from './services/data-lock.ts'
import { createLog, type LogLevel } from './services/log.ts'
import { createServices } from './services/services.ts'
import { moveRecords } from './store-migration/migration-record.ts'
import { refuseUnfinishedMove } from './store-migration/refuse-unfinished.ts'

export type { Kernel } from './kernel/kernel.ts'

/** What a kernel is booted with besides its configuration. */
export interface KernelOptions {
  /** Instances in the place of what the kernel or a plugin provides, by port: for tests. */
  readonly overrides?: Readonly<Record<string, unknown>>
  /** Standard output at the configured level unless given. */
  readonly log?: KernelLog
  readonly retry?: RetryRule
}

/** Makes a kernel: orders and makes the plugins, and refuses what cannot work. Nothing happens in the world before `start`. */
export const bootKernel = async (config: Config, { log, overrides = {}, ...options }: KernelOptions = {}): Promise<Kernel> => {
  const kernelLog = log ?? createLog({ level: config.kernel.log.level as LogLevel })
  return new Kernel(config, {
    ...options,
    overridden: new Set(Object.keys(overrides)),
    lockDataFolder,
    log: kernelLog,
    services: await createServices(config, kernelLog, overrides),
    createHttp: createKernelHttp,
    collections: [moveRecords],
    checkRecords: refuseUnfinishedMove,
  })
}
