import { parentPort, workerData } from 'node:worker_threads'
import { Connection } from 'pounce/sdk/sqlite'
import { buffersOf, type PackedPoints } from './packed-points.ts'
import type { GeoOpening, ReadQuestion, ThreadTask, WriteQuestion } from './questions.ts'
import { RtreeReader } from './rtree-reader.ts'
import { RtreeWriter } from './rtree-writer.ts'
import type { FromThread, ToThread } from './task-thread.ts'
import { isBroken, tell } from './told-errors.ts'
import type { Turns } from './turns.ts'

/** A thread that reads or writes. Its tasks run in slices of some milliseconds each. */

interface Task {
  readonly question: ThreadTask
  readonly turns: Turns<unknown>
  /** Pieces that were requested and not yet sent. */
  wanted: number
}

const opening = workerData as GeoOpening
const tasks = new Map<number, Task>()
const writer = opening.readOnly ? undefined : new RtreeWriter(opening)
let connection: Connection | undefined
let reader: RtreeReader | undefined
let isScheduled = false
let toldMs = 0

const post = (message: FromThread, handedOver: ArrayBuffer[] = []): void => {
  toldMs = performance.now()
  parentPort?.postMessage(message, handedOver)
}

const readerNow = (): RtreeReader => {
  connection ??= new Connection(opening)
  reader ??= new RtreeReader(connection)
  return reader
}

const begin = (question: ThreadTask): Turns<unknown> =>
  writer ? writer.turns(question as WriteQuestion) : readerNow().turns(question as ReadQuestion)

const step = ({ question, turns }: Task): IteratorResult<unknown, void> =>
  'epoch' in question ? readerNow().look(question.epoch, () => turns.next()) : turns.next()

const buffersIn = (piece: unknown): ArrayBuffer[] => {
  if (typeof piece !== 'object' || piece === null) return []
  const packed = 'packed' in piece ? piece.packed : piece
  return typeof packed === 'object' && packed !== null && 'numbers' in packed ? buffersOf(packed as PackedPoints) : []
}

const turn = (number: number, task: Task): void => {
  try {
    const { value, done } = step(task)
    if (done) {
      tasks.delete(number)
      post({ task: number, done: true })
    } else if (value !== undefined) {
      task.wanted -= 1
      post({ task: number, piece: value }, buffersIn(value))
    } else if (performance.now() - toldMs > 1000) post({ isWorking: true })
  } catch (error) {
    tasks.delete(number)
    post({ task: number, error: tell(error) })
    if (!writer && isBroken(error)) failAll(error)
  }
}

/** The caches of other tasks belong to the broken connection. */
const failAll = (error: unknown): void => {
  for (const task of tasks.keys()) post({ task, error: tell(error) })
  tasks.clear()
  closeReader()
}

const closeReader = (): void => {
  connection?.close()
  connection = undefined
  reader = undefined
}

const takeTurns = (): void => {
  isScheduled = false
  for (const [number, task] of [...tasks]) if (task.wanted > 0) turn(number, task)
  schedule()
}

const schedule = (): void => {
  if (isScheduled || ![...tasks.values()].some(({ wanted }) => wanted > 0)) return
  isScheduled = true
  setImmediate(takeTurns)
}

const end = (): void => {
  for (const { turns } of tasks.values()) turns.return()
  tasks.clear()
  closeReader()
  writer?.close()
  parentPort?.close()
}

const start = (number: number, question: ThreadTask): void => {
  try {
    tasks.set(number, { question, turns: begin(question), wanted: 1 })
  } catch (error) {
    post({ task: number, error: tell(error) })
  }
}

parentPort?.on('message', (message: ToThread) => {
  if ('end' in message) {
    end()
    return
  }
  const task = tasks.get(message.task)
  if ('question' in message) start(message.task, message.question)
  else if ('more' in message) {
    if (task) task.wanted += 1
  } else {
    task?.turns.return()
    tasks.delete(message.task)
  }
  schedule()
})
