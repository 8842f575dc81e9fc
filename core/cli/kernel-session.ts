import { randomUUID } from 'node:crypto'
import { readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bootKernel, type Kernel } from '../boot.ts'
import { type Config, type ConfigSources, loadConfig } from '../kernel/config.ts'
import type { StartOptions } from '../kernel/kernel-options.ts'
import { installationId, metaRecords } from '../kernel/kernel-records.ts'
import { StartupError } from '../kernel/startup-error.ts'
import { lockDataFolder } from '../services/data-lock.ts'
import { createLog, logDestination } from '../services/log.ts'
import type { CommandContext } from './built-in.ts'
import { prettyLine } from './pretty-log.ts'

/** The usual name of a configuration file, which only `pounce dev` reads by itself. */
const usualFile = 'pounce.json'

/** The configuration, with a warning if the current folder has a configuration file that is not read. */
export const readConfig = async (sources: ConfigSources): Promise<Config> => {
  const config = await loadConfig(sources)
  if (sources.file !== undefined || !(await stat(usualFile).catch(() => undefined))) return config
  return { ...config, warnings: [...config.warnings, `${usualFile} is not read; to use it, add --config ${usualFile}`] }
}

/** Temporary data folders of single commands. */
const scratchFolders = new WeakMap<Kernel, string>()

/** Kernels of commands that may create an installation. */
const creating = new WeakSet<Kernel>()

/** Whether a server has used the data folder, and none uses it now. */
const isUnused = async (data: string): Promise<boolean> => {
  if (!(await stat(join(data, 'kernel.lock')).catch(() => undefined))) return false
  const lock = await lockDataFolder(data).catch(() => undefined)
  await lock?.release()
  return lock !== undefined
}

/**
 * The configuration for a command. The command does not handle events or periodic tasks. If all stores are remote, it uses a temporary data
 * folder beside a server, so that it can run concurrently; otherwise the lock of the data folder prevents that. The data folder may contain datapoints.
 */
const forCommand = async (config: Config): Promise<Config> => {
  const withoutWork = { ...config, kernel: { ...config.kernel, roles: [] } }
  if (config.plugins.some(({ plugin }) => plugin.isLocal) || (await isUnused(config.kernel.data))) return withoutWork
  return { ...withoutWork, kernel: { ...withoutWork.kernel, data: join(tmpdir(), `pounce-command-${randomUUID()}`) } }
}

/**
 * The kernel for a command: that of the server it runs in, or a new one, which logs only warnings and errors, to standard error, so that
 * standard output contains only the result.
 */
export const makeKernel = async ({ sources, running }: Pick<CommandContext, 'sources' | 'running'>): Promise<Kernel> => {
  if (running) return running
  const configured = await readConfig(sources)
  const config = await forCommand(configured)
  const level = config.kernel.log.level === 'debug' ? 'debug' : 'warn'
  const stream = logDestination(2)
  const kernel: Kernel = await bootKernel(config, {
    log: createLog({ level, stream, ...(process.stderr.isTTY ? { pretty: prettyLine } : {}) }),
    // The records of an interrupted backup are missing, although the folder contains others of its files.
    checkRecords: async documents => {
      if (localStoresOf(config).length === 0 || creating.has(kernel) || (await documents.get(metaRecords, installationId))) return
      throw new StartupError(
        `The data folder ${config.kernel.data} contains no records of an installation: a backup without them is incomplete (run \`pounce backup\` again); otherwise check the settings of the document store`,
      )
    },
  })
  if (config.kernel.data !== configured.kernel.data) scratchFolders.set(kernel, config.kernel.data)
  return kernel
}

/** The kinds of the plugins that keep data in the data folder. */
const localStoresOf = ({ plugins }: Config): string[] =>
  plugins.flatMap(({ plugin }) => (plugin.isLocal ? [plugin.id.split('.')[0] ?? ''] : []))

/** Prevents creating an installation in a mistyped folder. An installation restored from a backup has its stores' folders, but no lock yet. */
const requireInstallation = async ({ config }: Kernel): Promise<void> => {
  const { data } = config.kernel
  const stores = localStoresOf(config)
  if (stores.length === 0) return
  const entries = await readdir(data).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw new StartupError(
      error.code === 'ENOTDIR' ? `The data folder ${data} is not a folder` : `The data folder ${data} cannot be read: ${error.message}`,
      { cause: error },
    )
  })
  if (!entries.some(entry => entry === 'kernel.lock' || stores.includes(entry)))
    throw new StartupError(`There is no installation in the data folder ${data}: specify another one, or create one with \`pounce start\``)
}

/**
 * Starts a kernel as far as a command needs it, and always stops it afterwards. A server's kernel keeps running. Throws if the data folder
 * contains no installation, unless the command `creates` one.
 */
export const withKernel = async <T>(
  { running }: Pick<CommandContext, 'running'>,
  kernel: Kernel,
  { until, creates = false }: { readonly until: NonNullable<StartOptions['until']>; readonly creates?: boolean | undefined },
  work: (kernel: Kernel) => Promise<T>,
): Promise<T> => {
  if (kernel === running) return work(kernel)
  if (creates) creating.add(kernel)
  else await requireInstallation(kernel)
  await kernel.start({ until })
  try {
    return await work(kernel)
  } finally {
    await kernel.stop()
    const scratch = scratchFolders.get(kernel)
    if (scratch !== undefined) await rm(scratch, { recursive: true, force: true })
  }
}
