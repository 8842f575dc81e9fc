import { randomUUID } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bootKernel, type Kernel } from '../boot.ts'
import { type Config, loadConfig } from '../kernel/config.ts'
import type { StartOptions } from '../kernel/kernel-options.ts'
import { StartupError } from '../kernel/startup-error.ts'
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

/** A start would make an installation where a mistyped folder has none. One that was restored from a backup has the folders of its stores, and no lock yet. */
const requireInstallation = async ({ config }: Kernel): Promise<void> => {
  const { data } = config.kernel
  const stores = config.plugins.filter(({ plugin }) => plugin.isLocal).map(({ plugin }) => plugin.id.split('.')[0])
  if (stores.length === 0) return
  const entries = await readdir(data).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw new StartupError(
      error.code === 'ENOTDIR' ? `The data folder ${data} is not a folder` : `The data folder ${data} cannot be read: ${error.message}`,
      { cause: error },
    )
  })
  if (!entries.some(entry => entry === 'kernel.lock' || stores.includes(entry)))
    throw new StartupError(`There is no installation in the data folder ${data}: name another one, or make one with \`pounce start\``)
}

/**
 * Starts a kernel as far as a command needs it, and stops it afterwards whatever happens. That of a server runs already, and goes on. Without an installation in the
 * data folder it is refused, unless the command `creates` one.
 */
export const withKernel = async <T>(
  { running }: Pick<CommandContext, 'running'>,
  kernel: Kernel,
  { until, creates = false }: { readonly until: NonNullable<StartOptions['until']>; readonly creates?: boolean | undefined },
  work: (kernel: Kernel) => Promise<T>,
): Promise<T> => {
  if (kernel === running) return work(kernel)
  if (!creates) await requireInstallation(kernel)
  await kernel.start({ until })
  try {
    return await work(kernel)
  } finally {
    await kernel.stop()
    const scratch = scratchFolders.get(kernel.config)
    if (scratch !== undefined) await rm(scratch, { recursive: true, force: true })
  }
}
