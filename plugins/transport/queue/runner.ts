import { setPriority } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Extract } from 'pounce/sdk'
import { type FromProcess, mostOutputCharacters, progressSentEveryMs, type RunRequest, type ToProcess } from './messages.ts'

// This module is an extractor process: the server forks it and hands it one run after the other.

const send = (message: FromProcess): void => {
  process.send?.(message)
}

/** Ends this process and what it has started (ffprobe …): the server made it the leader of a process group. */
const endAll = (): void => {
  process.kill(process.platform === 'win32' ? process.pid : -process.pid, 'SIGKILL')
}

// An extractor in an endless loop never hears of the disconnect, so a thread looks whether the server is still there.
const watch = `
  const { workerData } = require('node:worker_threads')
  setInterval(() => {
    if (process.ppid !== workerData.server) process.kill(process.platform === 'win32' ? process.pid : -process.pid, 'SIGKILL')
  }, 500)
`
new Worker(watch, { eval: true, workerData: { server: Number(process.argv[2]) } }).unref()

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)) || 'unknown error'

let controller = new AbortController()

async function run({ module, input }: RunRequest): Promise<void> {
  controller = new AbortController()
  let lastProgress = Number.NEGATIVE_INFINITY
  const progress = (message: string): void => {
    const now = performance.now()
    if (now - lastProgress < progressSentEveryMs) return
    lastProgress = now
    send({ type: 'progress', message: String(message).slice(0, 500) })
  }
  try {
    const { extract }: { extract?: Extract } = await import(module)
    if (typeof extract !== 'function') throw new Error(`${module} exports no function "extract"`)
    const output = JSON.stringify((await extract({ ...input, signal: controller.signal, progress })) ?? {})
    if (output.length > mostOutputCharacters) throw new Error(`The result is larger than ${mostOutputCharacters} characters of JSON`)
    send({ type: 'output', output })
  } catch (error) {
    send({ type: 'error', message: textOf(error), isLast: false })
  }
}

setPriority(10)

process.on('disconnect', endAll)
process.on('uncaughtException', error => {
  // Whatever runs is in an unknown state: say why, then make way for a fresh process.
  process.send?.({ type: 'error', message: textOf(error), isLast: true }, () => process.exit(1))
})
process.on('message', (message: ToProcess) => {
  if (message.type === 'abort') controller.abort()
  else void run(message.request)
})
send({ type: 'ready' })
