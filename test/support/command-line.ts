import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ExecutionContext } from 'ava'
import type { Person } from './people.ts'
import { tempFolder } from './temp-folder.ts'

const main = fileURLToPath(new URL('../../core/main.js', import.meta.url))

/** How a command ended. */
export interface CommandEnd {
  readonly code: number | null
  readonly out: string
  readonly err: string
  /** Standard output as JSON, or as one value for each line. */
  json<T>(): T
  lines<T>(): readonly T[]
}

/** A computer of a user: a home, and the command in it. */
export interface UserComputer {
  readonly folder: string
  readonly credentials: string
  run(words: readonly string[], options?: { readonly input?: string; readonly env?: Readonly<Record<string, string>> }): Promise<CommandEnd>
  /** As `run`; throws unless the exit code is 0. */
  done(...words: readonly string[]): Promise<CommandEnd>
}

/** A home without credentials, gone with the test. */
export const userComputer = async (t: ExecutionContext): Promise<UserComputer> => {
  const folder = await tempFolder(t)
  const config = join(folder, 'config')
  const run: UserComputer['run'] = async (words, { input = '', env = {} } = {}) => {
    const { PATH, NODE_COMPILE_CACHE } = process.env
    const child = spawn(process.execPath, [main, ...words], {
      cwd: folder,
      env: { PATH, NODE_COMPILE_CACHE, HOME: folder, XDG_CONFIG_HOME: config, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const text = { out: '', err: '' }
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text.out += chunk
    })
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      text.err += chunk
    })
    // A command that reads no input may have ended before it is written.
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
    const [code] = (await once(child, 'close')) as [number | null]
    const lines = <T>() => text.out.split('\n').flatMap(line => (line === '' ? [] : [JSON.parse(line) as T]))
    return { code, ...text, lines, json: <T>() => JSON.parse(text.out) as T }
  }
  return {
    folder,
    credentials: join(config, 'pounce/credentials.json'),
    run,
    done: async (...words) => {
      const ended = await run(words)
      if (ended.code !== 0) throw new Error(`pounce ${words.join(' ')} ended with ${ended.code}: ${ended.err}${ended.out}`)
      return ended
    },
  }
}

/** A computer where a person is signed in. */
export const signedInComputer = async (t: ExecutionContext, url: string, { key }: Pick<Person, 'key'>): Promise<UserComputer> => {
  const computer = await userComputer(t)
  const ended = await computer.run(['login', url, '--key', '-'], { input: `${key}\n` })
  if (ended.code !== 0) throw new Error(ended.err)
  return computer
}

/** The key in the file of a computer. */
export const storedKey = async ({ credentials }: UserComputer, url: string): Promise<string> =>
  (JSON.parse(await readFile(credentials, 'utf8')) as { servers: Record<string, { key: string }> }).servers[url]?.key ?? ''
