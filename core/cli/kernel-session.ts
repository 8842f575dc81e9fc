import pino from 'pino'
import { loadConfig } from '../config.ts'
import { bootKernel, type Kernel } from '../kernel.ts'
import type { StartOptions } from '../kernel-options.ts'
import { createLog } from '../log.ts'
import { prettyLine } from '../pretty-log.ts'
import type { Context } from './built-in.ts'

/** Makes a kernel for a command: its log goes to the error stream, warnings and errors only, so that the output is the result alone. */
export const makeKernel = async ({ sources }: Pick<Context, 'sources'>): Promise<Kernel> => {
  const config = await loadConfig(sources)
  const level = config.kernel.log.level === 'debug' ? 'debug' : 'warn'
  const stream = pino.destination({ dest: 2, sync: true })
  return bootKernel(config, { log: createLog({ level, stream, ...(process.stderr.isTTY ? { pretty: prettyLine } : {}) }) })
}

/** Starts a kernel as far as a command needs it, and stops it afterwards whatever happens. */
export const withKernel = async <T>(
  kernel: Kernel,
  until: NonNullable<StartOptions['until']>,
  work: (kernel: Kernel) => Promise<T>,
): Promise<T> => {
  await kernel.start({ until })
  try {
    return await work(kernel)
  } finally {
    await kernel.stop()
  }
}
