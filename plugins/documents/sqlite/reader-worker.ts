import { parentPort, workerData } from 'node:worker_threads'
import { Connection, type Opening, problemOf } from './connection.ts'
import type { LinePart } from './line-parts.ts'
import { carryOut, type Query } from './queries.ts'
import type { Reply } from './reader-thread.ts'

const connection = new Connection(workerData as Opening)

const answer = (query: Query): Reply => {
  try {
    return { ok: true, result: connection.snapshot(() => carryOut(connection, query, Number.POSITIVE_INFINITY)) }
  } catch (error) {
    return { ok: false, error: problemOf(error) }
  }
}

/** Bytes are handed over, not copied. */
const handedOver = ({ kind }: Query, reply: Reply): ArrayBuffer[] =>
  kind === 'lines' && reply.ok ? [(reply.result as LinePart).bytes.buffer] : []

parentPort?.on('message', (query: Query) => {
  const reply = answer(query)
  parentPort?.postMessage(reply, handedOver(query, reply))
})
