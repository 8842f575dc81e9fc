import { createLog } from '../../core/services/log.ts'

/** A log that records its lines as objects. */
export const recordingLog = (): { readonly log: ReturnType<typeof createLog>; readonly lines: Record<string, unknown>[] } => {
  const lines: Record<string, unknown>[] = []
  const write = (line: string): void => void lines.push(JSON.parse(line) as Record<string, unknown>)
  return { log: createLog({ level: 'debug', stream: { write } }), lines }
}
