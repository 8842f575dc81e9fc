import { buffer } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { adminKey, type ChildServer, type StartingServer, startChild } from './child-server.ts'
import { sha256 } from './main-job.ts'
import { formWith, newDataset } from './scene.ts'
import type { SeededRandom } from './seeded-random.ts'
import { noise } from './streams.ts'
import { until } from './until.ts'

/** An upload whose response was read completely. */
export interface Acked {
  readonly id: string
  readonly name: string
  /** A unique word in its name. */
  readonly token: string
  readonly sizeBytes: number
  readonly sha256: string
  readonly extract: boolean
}

/** Size distribution in percent: 5 % are empty, the next 60 % are smaller than 4 KiB, and so on. */
const sizes: readonly (readonly [until: number, below: number])[] = [
  [5, 1],
  [65, 4 * 1024],
  [90, 128 * 1024],
  [98, 1024 * 1024],
  [100, 8 * 1024 * 1024],
]
const largest = 8 * 1024 * 1024

/** A server on one data folder that is killed at random times during uploads. */
export class KilledServer {
  readonly folder: string
  readonly acked: Acked[] = []
  /** Error responses. None are expected, because a killed server does not respond. */
  readonly refused: string[] = []
  /** Number of uploads cut off by a kill. */
  cutOff = 0
  #random: SeededRandom
  #up: PromiseWithResolvers<ChildServer> = Promise.withResolvers()
  #key = ''
  #dataset = ''
  #isUp = false
  #isOver = false
  #count = 0
  #material: Buffer = Buffer.alloc(0)
  #starting: StartingServer | undefined

  constructor(folder: string, seededRandom: SeededRandom) {
    this.folder = folder
    this.#random = seededRandom
  }

  call = async (path: string, init?: RequestInit & { readonly json?: unknown }): Promise<Response> =>
    (await this.#up.promise).as(this.#key)(path, init)

  async prepare(): Promise<void> {
    this.#material = await buffer(noise(2 * largest, String(this.#random.seed)))
    const server = await this.start()
    this.#key = await adminKey(server)
    this.#dataset = await newDataset(this.call)
  }

  /** Starts the server and resumes the uploads. */
  async start(): Promise<ChildServer> {
    this.#starting = startChild(this.folder)
    const server = await this.#starting.ready
    this.#isUp = true
    this.#up.resolve(server)
    return server
  }

  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<number | null | undefined> {
    // Keep the promise that uploaders may already be waiting for.
    if (this.#isUp) this.#up = Promise.withResolvers()
    this.#isUp = false
    this.#starting?.signal(signal)
    return (await this.#starting?.ended)?.code
  }

  /** Kills the server a few responses and some milliseconds after its start, and occasionally during its start. */
  async killOnce(): Promise<void> {
    if (this.#random.oneIn(8)) {
      this.#starting = startChild(this.folder)
      await pause(this.#random.int(800))
    } else {
      await this.start()
      const enough = this.acked.length + this.#random.int(16)
      await until(
        'uploads to be acknowledged',
        () => this.acked.length,
        count => count >= enough,
      )
      await pause(this.#random.int(40))
    }
    await this.end()
  }

  /** Uploads files sequentially until `stop`. */
  async upload(): Promise<void> {
    while (!this.#isOver) {
      const server = await this.#up.promise
      if (!this.#isOver) await this.#uploadOne(server)
    }
  }

  stop(): void {
    this.#isOver = true
  }

  async #uploadOne(server: ChildServer): Promise<void> {
    const bytes = this.#content()
    const token = `token${this.#count++}x${this.#random.seed}`
    const extract = this.#random.oneIn(12)
    const form = formWith(bytes, `${token}.bin`, 'application/octet-stream')
    let answer: { status: number; text: string }
    try {
      const response = await server.as(this.#key)(`/api/uploadToDataset/${this.#dataset}?extract=${extract}`, {
        method: 'POST',
        body: form,
      })
      answer = { status: response.status, text: await response.text() }
    } catch {
      // the server was killed: an unacknowledged file may or may not be stored
      this.cutOff += 1
      return
    }
    const { id } = JSON.parse(answer.text) as { id?: string }
    if (answer.status !== 200 || id === undefined) this.refused.push(`${answer.status} ${answer.text}`)
    else this.acked.push({ id, name: `${token}.bin`, token, sizeBytes: bytes.length, sha256: sha256(bytes), extract })
  }

  #content(): Buffer {
    const at = this.#random.int(100)
    const [, below] = sizes.find(([end]) => at < end) ?? [0, 1]
    const size = this.#random.int(below)
    const start = this.#random.int(largest)
    return this.#material.subarray(start, start + size)
  }
}

/** Processes each item, with limited concurrency. */
export const eachOf = async <T>(items: readonly T[], work: (item: T) => Promise<void>, atOnce = 8): Promise<void> => {
  const rest = items.values()
  const take = async (): Promise<void> => {
    for (const item of rest) await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, take))
}
