import { DocumentStore } from 'pounce/sdk'
import type { TestServer } from 'pounce/sdk/testing'
import { extractions } from '../../plugins/resources/extractions/collections.ts'

/** Records that an extractor has failed on a file. */
export const recordFailedRun = async (server: TestServer, file: string): Promise<void> => {
  const [start, status] = [new Date().toISOString(), 'StatusMessage.error: no picture']
  const outcome = { state: 'failed', status, lines: [{ status, at: start }], start, end: start, endHeard: start } as const
  const about = { target: { kind: 'file', id: file }, extractor: 'lab.shapes', queue: 'lab.shapes', user: null } as const
  await server.get(DocumentStore).commit({ insert: { id: file, ...about, ...outcome, trigger: 'manual', chain: [] }, into: extractions })
}
