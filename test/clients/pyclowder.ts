import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const release = '3.0.8'
const folder = fileURLToPath(new URL(`../../node_modules/.cache/pyclowder-${release}`, import.meta.url))
const python = join(folder, 'bin', 'python')
const isComplete = join(folder, 'complete')
const script = fileURLToPath(new URL('pyclowder_calls.py', import.meta.url))

const lastLine = (error: unknown): string => {
  const { stderr = '', message } = error as Error & { readonly stderr?: string }
  return (stderr || message).trim().split('\n').at(-1) ?? ''
}

/**
 * Makes a virtual environment with pyclowder, or finds the one of an earlier run.
 * @returns why there is none, or undefined when it is ready
 */
export const installPyclowder = async (): Promise<string | undefined> => {
  if (existsSync(isComplete)) return undefined
  try {
    await run('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 6))'], { timeout: 10_000 })
  } catch {
    return 'there is no python3'
  }
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  try {
    await run('python3', ['-m', 'venv', folder], { timeout: 60_000 })
  } catch (error) {
    return `python3 makes no virtual environment: ${lastLine(error)}`
  }
  const pip = ['-m', 'pip', 'install', '--quiet', '--no-input', '--disable-pip-version-check', '--timeout', '15', '--retries', '1']
  try {
    await run(python, [...pip, `pyclowder==${release}`], { timeout: 120_000 })
  } catch (error) {
    return `pip installs no pyclowder ${release}: ${lastLine(error)}`
  }
  await writeFile(isComplete, '')
  return undefined
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
    this.#child = spawn(python, [script], { env: { ...environment, PYTHONDONTWRITEBYTECODE: '1' } })
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
