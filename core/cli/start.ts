import { flushCompileCache } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Log, Metrics, StartupMessages } from 'pounce/sdk'
import { bootKernel, type Kernel } from '../boot.ts'
import { pluginFinder } from '../plugin-source.ts'
import { programVersion } from '../services/installation.ts'
import { createLog, type LogLevel, logDestination } from '../services/log.ts'
import type { RunCommand } from './built-in.ts'
import { serveCommands } from './command-socket.ts'
import { readConfig } from './kernel-session.ts'
import { prettyLine } from './pretty-log.ts'

/**
 * Maximum growth of the old generation after a major collection, in percent, before the next one begins. V8 also counts the buffers of streams, and by
 * default lets the small heap of an idle server grow by only a few MiB: an upload then started a major collection every 20 MiB (docs/decisions/0003).
 */
const heapGrowingPercent = 200

const lookEveryMs = 1000

/** Event loop utilization in that interval below which the server is idle. */
const busyShare = 0.1

type Collect = (options: { readonly type: 'major'; readonly flavor: 'last-resort' }) => void

/** Only a context created after setting the flag has `gc`. */
const exposedCollect = (): Collect => {
  setFlagsFromString('--expose-gc')
  try {
    return runInNewContext('gc') as Collect
  } finally {
    setFlagsFromString('--no-expose-gc')
  }
}

/**
 * Returns the memory that was only needed for the start to the system: a quarter of the heap, which V8 would otherwise keep. It blocks the event loop for
 * 60 ms, or 300 on a busy machine, so it is done once, after the first idle second.
 */
const releaseStartupMemory = (): void => {
  let before = performance.eventLoopUtilization()
  const timer = setInterval(() => {
    const { utilization } = performance.eventLoopUtilization(before)
    before = performance.eventLoopUtilization()
    if (utilization > busyShare) return
    clearInterval(timer)
    exposedCollect()({ type: 'major', flavor: 'last-resort' })
  }, lookEveryMs).unref()
}

const startupText = async (kernel: Kernel): Promise<string> => {
  const { data, http } = kernel.config.kernel
  const url = kernel.address?.url
  const lines = [
    url === undefined ? `Pounce ${programVersion} is running without HTTP` : `Pounce ${programVersion} listens on ${url}`,
    `  data folder  ${data}`,
    ...(url === undefined ? [] : [`  API          ${http.baseUrl ?? url}/docs`]),
  ]
  for (const one of kernel.get(StartupMessages).all()) lines.push(...(await one.lines()))
  return lines.join('\n')
}

/** Stops the kernel on SIGTERM or SIGINT; a second signal ends the process immediately. */
const stopOnSignal = (kernel: Kernel): { readonly isStopRequested: () => boolean; readonly ended: Promise<void> } => {
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  let isStopRequested = false
  const stop = (signal: NodeJS.Signals): void => {
    if (isStopRequested) process.exit(1)
    isStopRequested = true
    kernel.log.info('Stopping; waiting for running requests', { signal })
    void kernel
      .stop()
      .catch(error => kernel.log.error('Stop incomplete', { error }))
      .then(resolve)
  }
  // By default, Node would open its debugger, which has full control of the server, to all processes of the same user, including extractors.
  process.on('SIGUSR1', signal => kernel.log.warn('Signal ignored: use --inspect to open the debugger', { signal }))
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  return { isStopRequested: () => isStopRequested, ended }
}

/** `pounce start`: serves until SIGTERM or SIGINT. */
export const start: RunCommand = async ({ sources, output, asJson, runLine }) => {
  const config = await readConfig(sources)
  const level = config.kernel.log.level as LogLevel
  // With --json, standard output contains exactly one object.
  const log = asJson ? { stream: logDestination(2) } : process.stdout.isTTY ? { pretty: prettyLine } : {}
  const kernel = await bootKernel(config, { log: createLog({ level, ...log }) })
  const { isStopRequested, ended } = stopOnSignal(kernel)
  try {
    await kernel.start()
  } catch (error) {
    if (!isStopRequested()) throw error
    await ended
    return undefined
  }
  installCrashHandlers(kernel.log, kernel.get(Metrics), pluginFinder(config.plugins))
  const closeCommands = await serveCommands(kernel, runLine)
  // Saves compiled code for the next start, even if this process ends with kill -9.
  flushCompileCache()
  setFlagsFromString(`--heap-growing-percent=${heapGrowingPercent}`)
  releaseStartupMemory()
  if (asJson) output.out(`${JSON.stringify({ url: kernel.address?.url, data: config.kernel.data, version: programVersion })}\n`)
  else output.out(`${await startupText(kernel)}\n`)
  await ended
  await closeCommands()
  return undefined
}

const isClosedPipe = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EPIPE'

/**
 * Keeps the process alive on uncaught errors of plugins, listeners, timers and promises (promise P12): they are logged as
 * errors and counted. Returns a function that removes the handlers.
 */
const installCrashHandlers = (log: Log, metrics: Metrics, pluginOf: (error: unknown) => string | undefined): (() => void) => {
  const survive = (kind: string) => (error: unknown) => {
    // The reader of the log has closed the pipe: logging would only fail again.
    if (isClosedPipe(error)) return
    metrics.count('uncaught_faults_total', { kind })
    const plugin = pluginOf(error)
    log.error('Uncaught exception; the server continues', { kind, ...(plugin === undefined ? {} : { plugin }), error })
  }
  const onException = survive('exception')
  const onRejection = survive('rejection')
  process.on('uncaughtException', onException)
  process.on('unhandledRejection', onRejection)
  return () => {
    process.off('uncaughtException', onException)
    process.off('unhandledRejection', onRejection)
  }
}
