import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { connect } from 'amqplib'
import { until } from '../support/until.ts'
import { pythonOf, type Release } from './pyclowder.ts'

/** A program under `extractors`, and its arguments. */
export interface ExtractorOptions {
  readonly release: Release
  readonly program: 'wordcount' | 'echo' | 'inventory'
  readonly broker: string
  /** Environment variables, such as `EXTRACTOR_KEY`. */
  readonly env?: Readonly<Record<string, string>>
}

const maxOutput = 20_000

/** Number of consumers of a queue; 0 if it does not exist. */
const consumersOf = async (broker: string, queue: string): Promise<number> => {
  const model = await connect(broker)
  // For a missing queue the channel is closed, and the caller also gets the error.
  model.on('error', () => undefined)
  try {
    const channel = await model.createChannel()
    channel.on('error', () => undefined)
    return (await channel.checkQueue(queue)).consumerCount
  } catch {
    return 0
  } finally {
    await model.close()
  }
}

/** An extractor as run in production: a Python program configured with the broker only. */
export class RunningExtractor {
  #child: ChildProcess
  #output = ''

  constructor({ release, program, broker, env = {} }: ExtractorOptions) {
    const script = fileURLToPath(new URL(`extractors/${program}/${program}.py`, import.meta.url))
    const own = { PATH: process.env['PATH'] ?? '', PYTHONDONTWRITEBYTECODE: '1', RABBITMQ_URI: broker, HEARTBEAT: '5' }
    this.#child = spawn(pythonOf(release), [script], { env: { ...own, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output = (this.#output + text).slice(-maxOutput)
      })
    }
  }

  /** Starts one, and waits until it listens to its queue. */
  static async start(options: ExtractorOptions, queue: string): Promise<RunningExtractor> {
    const extractor = new RunningExtractor(options)
    try {
      await until(`an extractor to listen to ${queue}`, () => extractor.#listens(options.broker, queue))
    } catch (error) {
      await extractor.stop()
      throw new Error(`${options.program} did not start: ${extractor.#output}`, { cause: error })
    }
    return extractor
  }

  /** The last 20,000 characters of its output. */
  get output(): string {
    return this.#output
  }

  /** Kills it. Idempotent. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }

  async #listens(broker: string, queue: string): Promise<boolean> {
    if (this.#child.exitCode !== null) throw new Error(`it ended with ${this.#child.exitCode}`)
    return (await consumersOf(broker, queue)) > 0
  }
}
