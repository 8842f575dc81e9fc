import { parentPort } from 'node:worker_threads'
import type { ThreadReply } from 'pounce/sdk/kit'
import { IndexFile } from './index-file.ts'
import type { WriteFailure, WriteTask } from './write-task.ts'

let open: IndexFile | undefined

const opened = (path: string): IndexFile => {
  if (open?.path === path) return open
  open?.close()
  open = undefined
  open = new IndexFile(path, { isDurable: true })
  return open
}

const write = ({ path, changes }: WriteTask): WriteFailure | undefined => {
  try {
    const index = opened(path)
    index.transaction(() => {
      for (const change of changes) index.apply(change)
    })
    return undefined
  } catch (error) {
    return { ...(error as WriteFailure), message: error instanceof Error ? error.message : String(error) }
  }
}

parentPort?.on('message', (task: WriteTask) => {
  const reply: ThreadReply<WriteFailure | undefined> = { ok: true, result: write(task) }
  parentPort?.postMessage(reply)
})
