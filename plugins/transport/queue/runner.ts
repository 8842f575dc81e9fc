import { mkdirSync, rmSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { Socket } from 'node:net'
import { setPriority } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Extract, ExtractorNeeds } from 'pounce/sdk'
import { Channel } from './channel.ts'
import { lockDown } from './lockdown.ts'
import { type FromProcess, maxOutputCharacters, progressSentEveryMs, type RunRequest, type ToProcess } from './messages.ts'

// This module is an extractor process: the server starts it and sends it runs one at a time.

/** Newer than its type definitions. */
interface DroppablePermission {
  drop(scope: string): void
}

/** Drops a right of Node's permission model, on releases that support this. */
const drop = (scope: string): void => (process.permission as Partial<DroppablePermission> | undefined)?.drop?.(scope)

const [needsText = '{}', server] = process.argv.slice(2)
const needs = JSON.parse(needsText) as ExtractorNeeds
const kill = process.kill.bind(process)

const send = (message: FromProcess, sent?: () => void): void => channel.send(message, sent)

/** Ends this process and its children (ffprobe …): the server made it the leader of a process group. */
const endAll = (): void => {
  kill(process.platform === 'win32' ? process.pid : 0, 'SIGKILL')
}

// An extractor in an endless loop does not notice that the server has ended. Where the system does not kill it, a thread checks.
const watch = `
  const { workerData } = require('node:worker_threads')
  setInterval(() => {
    if (process.ppid !== workerData.server) process.kill(process.platform === 'win32' ? process.pid : 0, 'SIGKILL')
  }, 500)
`
if (server !== undefined) new Worker(watch, { eval: true, workerData: { server: Number(server) } }).unref()
// A thread has the rights of the permission model, but is not affected by `lockDown`.
if (!needs.workerThreads) drop('worker')

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
    mkdirSync(input.outputFolder, { mode: 0o700 })
    const output = JSON.stringify((await extract({ ...input, signal: controller.signal, progress })) ?? {})
    if (output.length > maxOutputCharacters) throw new Error(`The result is larger than ${maxOutputCharacters} characters of JSON`)
    send({ type: 'output', output })
  } catch (error) {
    send({ type: 'error', message: textOf(error), isLast: false })
  }
}

setPriority(10)

const receive = (message: ToProcess): void => {
  if (message.type === 'abort') controller.abort()
  else if (message.type === 'clear') rmSync(message.folder, { recursive: true, force: true })
  else void run(message.request)
}
const pipe = new Socket({ fd: 3 })
if (!needs.network) drop('net')
pipe.on('close', endAll)
// An extractor of an installed package resolves the SDK of this server, wherever the package is located.
registerHooks({
  resolve: (name, context, next) =>
    /^@?pounce\/sdk(\/|$)/.test(name) ? next(name.replace('@', ''), { ...context, parentURL: import.meta.url }) : next(name, context),
})
const channel = new Channel(pipe, JSON.parse, message => receive(message as ToProcess), endAll)
process.on('uncaughtException', error => {
  // The process is in an unknown state: report the error, then exit so that a fresh one replaces it.
  send({ type: 'error', message: textOf(error), isLast: true }, () => process.exit(1))
})
lockDown(needs)
send({ type: 'ready' })
