import { argon2Sync } from 'node:crypto'
import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import type { HashQuestion } from './passwords.ts'
import type { ThreadReply } from './worker-client.ts'

/** A third of the weight of other threads: what is lowest would stand still on a machine that is busy with something else. */
const niceness = 5

// Only Linux gives each thread a priority of its own; elsewhere this would slow the whole process down.
if (process.platform === 'linux') setPriority(0, niceness)

const answer = (question: HashQuestion): ThreadReply<Uint8Array> => {
  try {
    return { ok: true, result: argon2Sync('argon2id', question) }
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error : new Error(String(error)) }
  }
}

parentPort?.on('message', (question: HashQuestion) => parentPort?.postMessage(answer(question)))
