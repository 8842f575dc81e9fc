import type { Log, Metrics } from 'pounce/sdk'

const isClosedPipe = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EPIPE'

/**
 * Keeps the process alive when a plugin, listener, timer or promise throws where nobody catches (promise P12): logged as an
 * error and counted. Returns how to end that.
 */
export const installCrashHandlers = (log: Log, metrics: Metrics): (() => void) => {
  const survive = (kind: string) => (error: unknown) => {
    // Whoever read the log has gone: writing about it would only fail again.
    if (isClosedPipe(error)) return
    metrics.count('uncaught_faults_total', { kind })
    log.error('Uncaught exception; the server continues', { kind, error })
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
