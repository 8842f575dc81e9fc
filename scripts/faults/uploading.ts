import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { TestFetch } from 'pounce/sdk/testing'
import { sha256 } from '../../test/support/main-job.ts'
import { formWith } from '../../test/support/scene.ts'
import type { SeededRandom } from '../../test/support/seeded-random.ts'

/** An upload whose response was read completely. */
export interface Acked {
  readonly id: string
  readonly name: string
  readonly sizeBytes: number
  readonly sha256: string
}

const maxConcurrent = 8
const restMs = 50

/** Uploads files until a number of them are acknowledged. Uploads cut off by a kill are not retried, as it is unknown whether they are stored. */
export class Uploading {
  readonly acked: Acked[] = []
  cutOff = 0
  /** Error responses, except 503, which a kernel without its stores may return. */
  readonly refused: string[] = []
  readonly #call: TestFetch
  readonly #dataset: string
  readonly #random: SeededRandom
  #begun = 0

  constructor(call: TestFetch, dataset: string, seededRandom: SeededRandom) {
    this.#call = call
    this.#dataset = dataset
    this.#random = seededRandom
  }

  async run(count: number): Promise<void> {
    const one = async (): Promise<void> => {
      while (this.acked.length < count) await this.#upload()
    }
    await Promise.all(Array.from({ length: maxConcurrent }, one))
  }

  async #upload(): Promise<void> {
    const bytes = randomBytes(this.#random.oneIn(10) ? this.#random.int(300_000) : this.#random.int(8000))
    this.#begun += 1
    const name = `faults ${this.#begun}.txt`
    try {
      const body = formWith(bytes, name)
      const answer = await this.#call(`/api/uploadToDataset/${this.#dataset}`, {
        method: 'POST',
        body,
        signal: AbortSignal.timeout(60_000),
      })
      const text = await answer.text()
      if (answer.status === 200) {
        const { id } = JSON.parse(text) as { id: string }
        this.acked.push({ id, name, sizeBytes: bytes.length, sha256: sha256(bytes) })
      } else this.refused.push(`${answer.status} ${text}`)
    } catch {
      // the kernel was killed, or none was up
      this.cutOff += 1
      await pause(restMs)
    }
  }
}
