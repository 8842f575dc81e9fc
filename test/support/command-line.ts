import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ExecutionContext } from 'ava'
import type { Person } from './people.ts'
import { type ReverseProxy, reverseProxy } from './reverse-proxy.ts'
import { newDataset, type Somebody, somebody } from './spaces-and-people.ts'
import { tempFolder } from './temp-folder.ts'

/** The file of the `pounce` command. */
export const programFile = fileURLToPath(new URL('../../core/main.js', import.meta.url))

/** The result of a command. */
export interface CommandEnd {
  readonly code: number | null
  readonly out: string
  readonly err: string
  /** Standard output as JSON, or as one value per line. */
  json<T>(): T
  lines<T>(): readonly T[]
}

interface CommandInput {
  readonly input?: string
  /** The input does not end while the command runs. */
  readonly isInputOpen?: boolean
  readonly env?: Readonly<Record<string, string>>
}

/** A user's computer: a home directory, and the command that uses it. */
export interface UserComputer {
  readonly folder: string
  readonly credentials: string
  run(words: readonly string[], options?: CommandInput): Promise<CommandEnd>
  /** Like `run`; throws unless the exit code is 0. */
  done(...words: readonly string[]): Promise<CommandEnd>
}

/** A home directory without credentials, deleted after the test. */
export const userComputer = async (t: ExecutionContext): Promise<UserComputer> => {
  const folder = await tempFolder(t)
  const config = join(folder, 'config')
  const run: UserComputer['run'] = async (words, { input = '', isInputOpen = false, env = {} } = {}) => {
    const { PATH, NODE_COMPILE_CACHE } = process.env
    const child = spawn(process.execPath, [programFile, ...words], {
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
    // A command that does not read its input may exit before it is written.
    child.stdin.on('error', () => undefined)
    if (isInputOpen) child.stdin.write(input)
    else child.stdin.end(input)
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

/** A computer on which a user is signed in. */
export const signedInComputer = async (t: ExecutionContext, url: string, { key }: Pick<Person, 'key'>): Promise<UserComputer> => {
  const computer = await userComputer(t)
  const ended = await computer.run(['login', url, '--key', '-'], { input: `${key}\n` })
  if (ended.code !== 0) throw new Error(ended.err)
  return computer
}

/** The key in the credentials file of a computer. */
export const storedKey = async ({ credentials }: UserComputer, url: string): Promise<string> =>
  (JSON.parse(await readFile(credentials, 'utf8')) as { servers: Record<string, { key: string }> }).servers[url]?.key ?? ''

/** A line of `put`, `get` or `sync` with `--json`. */
export interface TransferLine {
  readonly path: string
  readonly state: string
  readonly id?: string
}

/** The states of the files of a transfer by path. */
export const states = (lines: readonly TransferLine[]): Readonly<Record<string, string>> =>
  Object.fromEntries(lines.flatMap(({ path, state }) => (path === undefined ? [] : [[path, state]])))

/** Files by path. */
export type Contents = Readonly<Record<string, Buffer | string>>

export const writeFiles = async (folder: string, contents: Contents): Promise<void> => {
  for (const [path, content] of Object.entries(contents)) {
    const file = join(folder, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, content)
  }
}

/** All files below a folder. */
export const contentsOf = async (folder: string): Promise<Contents> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
  return Object.fromEntries(await Promise.all(files.map(async file => [file.slice(folder.length + 1), await readFile(file)])))
}

const asBytes = (contents: Contents): Contents =>
  Object.fromEntries(Object.entries(contents).map(([path, content]) => [path, Buffer.from(content)]))

/** The paths in order. */
export const sorted = (contents: Contents): readonly string[] => Object.keys(contents).sort()

/** Asserts that a folder has these files and no others. */
export const sameFiles = async (t: ExecutionContext, folder: string, wanted: Contents): Promise<void> => {
  const found = await contentsOf(folder)
  t.deepEqual(sorted(found), sorted(wanted))
  for (const [path, content] of Object.entries(asBytes(wanted))) t.true((content as Buffer).equals(found[path] as Buffer), path)
}

/** A user with a dataset, on a computer that reaches the server through a proxy. */
interface TransferScene {
  readonly ada: Somebody
  readonly computer: UserComputer
  readonly dataset: string
  readonly proxy: ReverseProxy
}

export const transferScene = async (t: ExecutionContext, server: Parameters<typeof somebody>[0]): Promise<TransferScene> => {
  const ada = await somebody(server)
  const proxy = await reverseProxy(t, server.url, '/data/pounce')
  const computer = await signedInComputer(t, proxy.url, ada)
  return { ada, computer, proxy, dataset: await newDataset(ada) }
}
