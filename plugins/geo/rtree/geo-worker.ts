import { parentPort, workerData } from 'node:worker_threads'
import { Connection } from 'pounce/sdk/sqlite'
import { buffersOf, type PackedPoints } from './packed-points.ts'
import { RtreeReader } from './rtree-reader.ts'
import { RtreeWriter } from './rtree-writer.ts'
import type { Slices } from './slices.ts'
import type { FromThread, ToThread } from './task-thread.ts'
import type { GeoOpening, GeoReadRequest, GeoWriteRequest, ThreadRequest } from './thread-requests.ts'
import { isBroken, toTransferred } from './transferred-errors.ts'

/** A thread that reads or writes. Its tasks run in slices of some milliseconds each. */

interface Task {
  readonly request: ThreadRequest
  readonly slices: Slices<unknown>
  /** Pieces that were requested and not yet sent. */
  wanted: number
}

const opening = workerData as GeoOpening
const tasks = new Map<number, Task>()
const writer = opening.readOnly ? undefined : new RtreeWriter(opening)
let connection: Connection | undefined
let reader: RtreeReader | undefined
let isScheduled = false
let reportedMs = 0

const post = (message: FromThread, transferList: ArrayBuffer[] = []): void => {
  reportedMs = performance.now()
  parentPort?.postMessage(message, transferList)
}

const openReader = (): RtreeReader => {
  connection ??= new Connection(opening)
  reader ??= new RtreeReader(connection)
  return reader
}

const begin = (request: ThreadRequest): Slices<unknown> =>
  writer ? writer.slices(request as GeoWriteRequest) : openReader().slices(request as GeoReadRequest)

const step = ({ request, slices }: Task): IteratorResult<unknown, void> =>
  'epoch' in request ? openReader().look(request.epoch, () => slices.next()) : slices.next()

const buffersIn = (piece: unknown): ArrayBuffer[] => {
  if (typeof piece !== 'object' || piece === null) return []
  const packed = 'packed' in piece ? piece.packed : piece
  return typeof packed === 'object' && packed !== null && 'numbers' in packed ? buffersOf(packed as PackedPoints) : []
}

const runSlice = (number: number, task: Task): void => {
  try {
    const { value, done } = step(task)
    if (done) {
      tasks.delete(number)
      post({ task: number, done: true })
    } else if (value !== undefined) {
      task.wanted -= 1
      post({ task: number, piece: value }, buffersIn(value))
    } else if (performance.now() - reportedMs > 1000) post({ isWorking: true })
  } catch (error) {
    tasks.delete(number)
    post({ task: number, error: toTransferred(error) })
    if (!writer && isBroken(error)) failAll(error)
  }
}

/** The caches of other tasks belong to the broken connection. */
const failAll = (error: unknown): void => {
  for (const task of tasks.keys()) post({ task, error: toTransferred(error) })
  tasks.clear()
  closeReader()
}

const closeReader = (): void => {
  connection?.close()
  connection = undefined
  reader = undefined
}

const runSlices = (): void => {
  isScheduled = false
  for (const [number, task] of [...tasks]) if (task.wanted > 0) runSlice(number, task)
  schedule()
}

const schedule = (): void => {
  if (isScheduled || ![...tasks.values()].some(({ wanted }) => wanted > 0)) return
  isScheduled = true
  setImmediate(runSlices)
}

const end = (): void => {
  for (const { slices } of tasks.values()) slices.return()
  tasks.clear()
  closeReader()
  writer?.close()
  parentPort?.close()
}

const start = (number: number, request: ThreadRequest): void => {
  try {
    tasks.set(number, { request, slices: begin(request), wanted: 1 })
  } catch (error) {
    post({ task: number, error: toTransferred(error) })
  }
}

parentPort?.on('message', (message: ToThread) => {
  if ('end' in message) {
    end()
    return
  }
  const task = tasks.get(message.task)
  if ('request' in message) start(message.task, message.request)
  else if ('more' in message) {
    if (task) task.wanted += 1
  } else {
    task?.slices.return()
    tasks.delete(message.task)
  }
  schedule()
})
