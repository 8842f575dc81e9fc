import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bootKernel, type Kernel } from '../boot.ts'
import { type Config, loadConfig } from '../kernel/config.ts'
import type { StartOptions } from '../kernel/kernel-options.ts'
import { createLog, logDestination } from '../services/log.ts'
import type { CommandContext } from './built-in.ts'
import { prettyLine } from './pretty-log.ts'

/** Data folders that are made for one command and go with it. */
const scratchFolders = new WeakMap<Config, string>()

/**
 * Configuration for a command. It takes no part in the work of the servers that run, and where everything is kept on servers it leaves the data
 * folder to them too, so that it works beside them; otherwise the folder's lock keeps it away.
 */
const forCommand = (config: Config): Config => {
  const withoutWork = { ...config, kernel: { ...config.kernel, roles: [] } }
  if (config.plugins.some(({ plugin }) => plugin.isLocal)) return withoutWork
  const data = join(tmpdir(), `pounce-command-${randomUUID()}`)
  const apart = { ...withoutWork, kernel: { ...withoutWork.kernel, data } }
  scratchFolders.set(apart, data)
  return apart
}

/**
 * The kernel for a command: that of the server it runs in, or a new one, whose log goes to the error stream, warnings and errors only, so that the
 * output is the result alone.
 */
export const makeKernel = async ({ sources, running }: Pick<CommandContext, 'sources' | 'running'>): Promise<Kernel> => {
  if (running) return running
  const config = forCommand(await loadConfig(sources))
  const level = config.kernel.log.level === 'debug' ? 'debug' : 'warn'
  const stream = logDestination(2)
  return bootKernel(config, { log: createLog({ level, stream, ...(process.stderr.isTTY ? { pretty: prettyLine } : {}) }) })
}

/** Starts a kernel as far as a command needs it, and stops it afterwards whatever happens. That of a server runs already, and goes on. */
export const withKernel = async <T>(
  { running }: Pick<CommandContext, 'running'>,
  kernel: Kernel,
  until: NonNullable<StartOptions['until']>,
  work: (kernel: Kernel) => Promise<T>,
): Promise<T> => {
  if (kernel === running) return work(kernel)
  await kernel.start({ until })
  try {
    return await work(kernel)
  } finally {
    await kernel.stop()
    const scratch = scratchFolders.get(kernel.config)
    if (scratch !== undefined) await rm(scratch, { recursive: true, force: true })
  }
}
