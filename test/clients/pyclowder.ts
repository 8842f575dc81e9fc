import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const script = fileURLToPath(new URL('pyclowder_calls.py', import.meta.url))

/** The releases that are tested: the newest, and the last one that binds its queues and registers over HTTP. */
export type Release = '3.0.8' | '2.7.0'

const folderOf = (release: Release): string => fileURLToPath(new URL(`../../node_modules/.cache/pyclowder-${release}`, import.meta.url))

/** The Python that has this release. */
export const pythonOf = (release: Release): string => join(folderOf(release), 'bin', 'python')

const isComplete = (release: Release): boolean => existsSync(join(folderOf(release), 'complete'))

const lastLine = (error: unknown): string => {
  const { stderr = '', message } = error as Error & { readonly stderr?: string }
  return (stderr || message).trim().split('\n').at(-1) ?? ''
}

/**
 * Makes a virtual environment with pyclowder, or finds the one of an earlier run. Test files that start at once do not meet: each
 * makes its own, and the first that is complete stays.
 * @returns why there is none, or undefined when it is ready
 */
export const installPyclowder = async (release: Release = '3.0.8'): Promise<string | undefined> => {
  if (isComplete(release)) return undefined
  try {
    await run('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 6))'], { timeout: 10_000 })
  } catch {
    return 'there is no python3'
  }
  const folder = `${folderOf(release)}-${randomUUID()}`
  try {
    const fault = await installInto(folder, release)
    if (fault === undefined) await keep(folder, release)
    return fault
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const installInto = async (folder: string, release: Release): Promise<string | undefined> => {
  await mkdir(folder, { recursive: true })
  try {
    await run('python3', ['-m', 'venv', folder], { timeout: 60_000 })
  } catch (error) {
    return `python3 makes no virtual environment: ${lastLine(error)}`
  }
  const pip = ['-m', 'pip', 'install', '--quiet', '--no-input', '--disable-pip-version-check', '--timeout', '15', '--retries', '1']
  try {
    await run(join(folder, 'bin', 'python'), [...pip, `pyclowder==${release}`], { timeout: 120_000 })
  } catch (error) {
    return `pip installs no pyclowder ${release}: ${lastLine(error)}`
  }
  return undefined
}

const keep = async (folder: string, release: Release): Promise<void> => {
  await writeFile(join(folder, 'complete'), '')
  if (existsSync(folderOf(release)) && !isComplete(release)) await rm(folderOf(release), { recursive: true, force: true })
  try {
    await rename(folder, folderOf(release))
  } catch (error) {
    if (!isComplete(release)) throw error
  }
}

/** What pyclowder told its connector on the way. */
export interface StatusMessage {
  readonly status: string
  readonly type: string
  readonly id: string
  readonly message: string
}

/** What a function returned, or the HTTP error it raised. */
export interface Outcome {
  readonly result?: unknown
  readonly messages?: readonly StatusMessage[]
  readonly error?: string
  readonly status?: number
  readonly body?: string
}

/** A Python process that calls functions of pyclowder, one after the other. */
export class Pyclowder {
  #child: ChildProcessWithoutNullStreams
  #lines: AsyncIterator<string>
  #reader: Interface
  #errors = ''
  #last: Promise<unknown> = Promise.resolve()

  constructor() {
    const { CLOWDER_VERSION: _version, ...environment } = process.env
    this.#child = spawn(pythonOf('3.0.8'), [script], { env: { ...environment, PYTHONDONTWRITEBYTECODE: '1' } })
    this.#child.stderr.setEncoding('utf8').on('data', text => {
      this.#errors += text
    })
    this.#reader = createInterface({ input: this.#child.stdout })
    this.#lines = this.#reader[Symbol.asyncIterator]()
  }

  /** Calls `files.download` and the like with a host, a key and the rest. Calls that overlap wait for each other. */
  call(name: string, host: string, key: string, ...rest: readonly unknown[]): Promise<Outcome> {
    const outcome = this.#last.then(() => this.#call({ call: name, host, key, arguments: rest }))
    this.#last = outcome.catch(() => undefined)
    return outcome
  }

  async #call(request: object): Promise<Outcome> {
    this.#child.stdin.write(`${JSON.stringify(request)}\n`)
    const { value, done } = await this.#lines.next()
    if (done) throw new Error(`pyclowder ended: ${this.#errors}`)
    return JSON.parse(value) as Outcome
  }

  /** Ends the process. */
  end(): void {
    this.#reader.close()
    this.#child.stdin.end()
    this.#child.kill()
  }
}
