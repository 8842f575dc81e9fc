import { argon2Sync } from 'node:crypto'
import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import type { HashRequest } from './passwords.ts'
import type { ThreadReply } from './worker-client.ts'

/** A third of the weight of other threads: at the lowest priority hashing would starve on a busy machine. */
const niceness = 5

// Only Linux has per-thread priorities; elsewhere this would slow down the whole process.
if (process.platform === 'linux') setPriority(0, niceness)

const answer = (request: HashRequest): ThreadReply<Uint8Array> => {
  try {
    return { ok: true, result: argon2Sync('argon2id', request) }
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error : new Error(String(error)) }
  }
}

parentPort?.on('message', (request: HashRequest) => parentPort?.postMessage(answer(request)))
