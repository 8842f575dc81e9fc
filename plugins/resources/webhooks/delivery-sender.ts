import { Clock, Fetch, Installation, Problem, type PublicEvent, wire } from 'pounce/sdk'
import { Config, type Settings } from './config.ts'
import type { Attempt } from './records.ts'
import type { Signer } from './signer.ts'

/** How much of a response is read, and how much of it is stored. */
const [maxResponseBytes, maxKeptBytes] = [64 * 1024, 4096]
const maxRetryAfterSeconds = 3600

/** The outcome of an attempt. */
export interface Outcome {
  readonly attempt: Attempt
  readonly isDelivered: boolean
  /** The target reports that it is permanently gone (410). */
  readonly isGone: boolean
  /** The response was cut: too long, or too slow. */
  readonly isCut: boolean
  /** `Retry-After` of the target, in seconds. */
  readonly retryAfterSeconds?: number
}

/** Sends one message. */
export class DeliverySender {
  readonly #timeoutMs: number
  readonly #fetch: Fetch
  readonly #clock: Clock
  readonly #version: string

  constructor({ timeoutMs }: Settings, fetch: Fetch, clock: Clock, { version }: Installation) {
    this.#timeoutMs = timeoutMs
    this.#fetch = fetch
    this.#clock = clock
    this.#version = version
  }

  /** Never rejects because of the target. Any response but 2xx is a failure; redirects are not followed. */
  async send(url: string, id: string, { event }: Pick<PublicEvent, 'event'>, signer: Signer, signal: AbortSignal): Promise<Outcome> {
    const at = this.#clock.now()
    const body = JSON.stringify(event)
    const headers = {
      'content-type': 'application/json',
      'user-agent': `Pounce/${this.#version}`,
      ...signer.headers(messageId(id), at, body),
    }
    const began = performance.now()
    const attempt = () => ({ at: at.toISOString(), durationMs: Math.round(performance.now() - began) })
    try {
      const options = { headers, body: Buffer.from(body), maxBytes: maxResponseBytes, timeoutMs: this.#timeoutMs, signal }
      const answer = await this.#fetch.post(url, options)
      const response = answer.body.subarray(0, maxKeptBytes).toString()
      return {
        attempt: { ...attempt(), status: answer.status, response },
        isDelivered: answer.status >= 200 && answer.status <= 299,
        isGone: answer.status === 410,
        isCut: answer.isCut,
        ...retryAfter(answer.status, answer.headers['retry-after'], at),
      }
    } catch (error) {
      // Anything but a problem with the URL or its server is a bug.
      if (!(error instanceof Problem)) throw error
      return { attempt: { ...attempt(), error: error.message }, isDelivered: false, isGone: false, isCut: false }
    }
  }
}
wire(DeliverySender, Config, Fetch, Clock, Installation)

/** `webhook-id`: the same for every attempt. */
export const messageId = (delivery: string): string => `msg_${delivery}`

const retryAfter = (status: number, header: string | string[] | undefined, now: Date): { readonly retryAfterSeconds?: number } => {
  if ((status !== 429 && status !== 503) || typeof header !== 'string') return {}
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - now.getTime()) / 1000
  return Number.isFinite(seconds) && seconds > 0 ? { retryAfterSeconds: Math.min(seconds, maxRetryAfterSeconds) } : {}
}
