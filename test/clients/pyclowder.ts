import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { createInterface, type Interface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { installPython, pythonWith } from './python-environment.ts'

const script = fileURLToPath(new URL('pyclowder_calls.py', import.meta.url))

/** The tested releases: the newest, and the last one that binds its queues and registers over HTTP. */
export type Release = '3.0.8' | '2.7.0'

/** The Python interpreter with this release. */
export const pythonOf = (release: Release): string => pythonWith({ name: 'pyclowder', release })

/** Undefined when it is available, otherwise the reason why it is not. */
export const installPyclowder = (release: Release = '3.0.8'): Promise<string | undefined> => installPython({ name: 'pyclowder', release })

/** Status messages of pyclowder's connector. */
export interface StatusMessage {
  readonly status: string
  readonly type: string
  readonly id: string
  readonly message: string
}

/** The return value of a function, or the HTTP error it raised. */
export interface Outcome {
  readonly result?: unknown
  readonly messages?: readonly StatusMessage[]
  readonly error?: string
  /** Of an error of pyclowder itself, before or after the request. */
  readonly kind?: string
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

  constructor(release: Release = '3.0.8') {
    const { CLOWDER_VERSION: _version, ...environment } = process.env
    this.#child = spawn(pythonOf(release), [script], { env: { ...environment, PYTHONDONTWRITEBYTECODE: '1' } })
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
