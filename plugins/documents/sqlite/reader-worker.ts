import { parentPort, workerData } from 'node:worker_threads'
import type { ThreadReply } from 'pounce/sdk/kit'
import { Connection, type Opening } from 'pounce/sdk/sqlite'
import { problemOf } from './problems.ts'
import { carryOut, type Query } from './queries.ts'
import type { RowPart } from './row-formatter.ts'

const connection = new Connection(workerData as Opening)

const answer = (query: Query): ThreadReply => {
  try {
    return { ok: true, result: connection.snapshot(() => carryOut(connection, query, Number.POSITIVE_INFINITY)) }
  } catch (error) {
    return { ok: false, error: problemOf(error) }
  }
}

/** Bytes are transferred, not copied. */
const handedOver = ({ kind }: Query, reply: ThreadReply): ArrayBuffer[] =>
  kind === 'rows' && reply.ok ? [(reply.result as RowPart).bytes.buffer] : []

parentPort?.on('message', (query: Query) => {
  const reply = answer(query)
  parentPort?.postMessage(reply, handedOver(query, reply))
})
