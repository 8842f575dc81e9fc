import { rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { defaultJsonLimits, parseJson } from 'pounce/sdk/kit'
import type { Kernel } from '../kernel/kernel.ts'
import { messageOf, StartupError } from '../kernel/startup-error.ts'
import { commandSocket } from '../services/data-lock.ts'
import type { RunLine } from './built-in.ts'
import type { Output } from './output.ts'

/** A command line for the server, sent as one line of JSON. */
interface CommandRequest {
  readonly words: readonly string[]
  /** The base of relative paths in the arguments. */
  readonly folder: string
  readonly isTerminal: boolean
  readonly columns?: number
}

/** A response line of JSON: output to print, or finally the exit code. */
type CommandReply = { readonly out: string } | { readonly err: string } | { readonly exit: number }

const maxRequestBytes = 65_536
const requestLimits = { ...defaultJsonLimits, maxBytes: maxRequestBytes }
/** A long table is a single string. */
const replyLimits = { ...defaultJsonLimits, maxBytes: 256 * 2 ** 20 }
const maxConnections = 16
const requestLimitMs = 5000
const send = (socket: Socket, reply: CommandReply): void => {
  if (socket.writable) socket.write(`${JSON.stringify(reply)}\n`)
}

/** The first line of a connection; undefined on timeout or if it is too long. */
const firstLine = (socket: Socket): Promise<string | undefined> =>
  new Promise(done => {
    let text = ''
    // `setImmediate` runs after the poll phase, so data that arrived while the event loop was busy is still read.
    const timer = setTimeout(() => setImmediate(() => done(undefined)), requestLimitMs)
    socket.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
      const end = text.indexOf('\n')
      if (end < 0 && text.length <= maxRequestBytes) return
      clearTimeout(timer)
      done(end < 0 ? undefined : text.slice(0, end))
    })
    socket.on('close', () => {
      clearTimeout(timer)
      done(undefined)
    })
  })

const serve = async (socket: Socket, kernel: Kernel, runLine: RunLine): Promise<void> => {
  // A disconnected client does not end the command.
  socket.on('error', () => undefined)
  const line = await firstLine(socket)
  if (line === undefined) {
    socket.destroy()
    return
  }
  const { words, folder, isTerminal, columns } = parseJson(line, requestLimits, 'The request') as CommandRequest
  const output: Output = {
    out: text => send(socket, { out: text }),
    err: text => send(socket, { err: text }),
    isTerminal,
    ...(columns === undefined ? {} : { columns }),
  }
  send(socket, { exit: await runLine(words, output, { kernel, folder }) })
  socket.end()
}

/**
 * Runs `pounce` commands that need the data of a running server: they arrive on a socket in the data folder, which only its owner may use.
 * Returns a function that closes it. Call it while the data folder is locked.
 */
export const serveCommands = async (kernel: Kernel, runLine: RunLine): Promise<() => Promise<void>> => {
  const path = commandSocket(kernel.config.kernel.data)
  if (path === undefined) {
    kernel.log.debug('No socket for commands: stop the server to run commands on its data folder')
    return async () => undefined
  }
  // May be left from a killed server.
  await rm(path, { force: true })
  const server = createServer(socket => {
    serve(socket, kernel, runLine).catch((error: unknown) => {
      send(socket, { err: `${messageOf(error)}\n` })
      send(socket, { exit: 1 })
      socket.end()
    })
  })
  server.maxConnections = maxConnections
  // Creates the socket with this mode, so that other users can never open it.
  const before = process.umask(0o177)
  try {
    await new Promise<void>((listening, reject) => {
      server.once('error', reject).listen(path, listening)
      process.umask(before)
    })
  } catch (error) {
    kernel.log.warn('No socket for commands: stop the server to run commands on its data folder', { error })
  } finally {
    process.umask(before)
  }
  return () => new Promise(closed => server.close(() => closed()))
}

const absent = ['ENOENT', 'ENOTDIR', 'ECONNREFUSED', 'ENOTSOCK']

const refusal = (path: string, error: NodeJS.ErrnoException): StartupError =>
  new StartupError(
    error.code === 'EACCES'
      ? `The data folder ${dirname(path)} belongs to another account: run the command as that account, or as root`
      : `The server on the data folder ${dirname(path)} is unreachable: ${error.message}`,
    { cause: error },
  )

const connected = (path: string): Promise<Socket | undefined> =>
  new Promise((done, reject) => {
    const socket = connect(path, () => done(socket))
    socket.once('error', (error: NodeJS.ErrnoException) =>
      absent.includes(error.code ?? '') ? done(undefined) : reject(refusal(path, error)),
    )
  })

/** Runs a command line in the server of a data folder. Resolves to the exit code; undefined if no server is running there. */
export const runInServer = async (data: string, args: readonly string[], output: Output): Promise<number | undefined> => {
  const path = commandSocket(data)
  const socket = path === undefined ? undefined : await connected(path)
  if (socket === undefined) return undefined
  const request: CommandRequest = {
    words: args,
    folder: process.cwd(),
    isTerminal: output.isTerminal,
    ...(output.columns === undefined ? {} : { columns: output.columns }),
  }
  // A connection error ends the iteration.
  socket.on('error', () => undefined)
  socket.write(`${JSON.stringify(request)}\n`)
  for await (const line of createInterface({ input: socket })) {
    const reply = parseJson(line, replyLimits, 'The answer of the server') as CommandReply
    if ('out' in reply) output.out(reply.out)
    else if ('err' in reply) output.err(reply.err)
    else return reply.exit
  }
  output.err('The server stopped before the command ended\n')
  return 1
}
