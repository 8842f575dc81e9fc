import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { type AuditReceiver, Clock, Fetch, Invalid, Unavailable, wire } from 'pounce/sdk'
import type { AuditEntry } from 'pounce/sdk/kit'
import type { Webhook } from 'standardwebhooks'
import { Config, type WebhookConfig } from './config.ts'

const maxAnswerBytes = 64 * 1024

/** Rejects unusable settings, with a message that names the setting. */
const checkConfig = ({ url, secret }: WebhookConfig): void => {
  if (url === undefined || !/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new Invalid('audit.webhook.url is required, such as `https://siem.example.org/pounce`')
  const bytes = Buffer.from((secret ?? '').replace(/^whsec_/, ''), 'base64').length
  if (bytes < 24 || bytes > 64)
    throw new Invalid(
      'audit.webhook.secret is required: `whsec_` and 24 to 64 random bytes in base64, such as from `openssl rand -base64 32`',
    )
}

/** The same lines get the same ID when they are sent again. */
const messageId = (entries: readonly AuditEntry[]): string => {
  const hash = createHash('sha256')
  for (const { chain } of entries) hash.update(chain.hash)
  return `audit_${hash.digest('hex').slice(0, 32)}`
}

/** Posts lines as JSON, signed according to Standard Webhooks. */
export class WebhookReceiver implements AuditReceiver {
  readonly name = 'audit.webhook'
  readonly #config: WebhookConfig
  readonly #fetch: Fetch
  readonly #clock: Clock
  #webhook: Webhook | undefined

  constructor(config: WebhookConfig, fetch: Fetch, clock: Clock) {
    this.#config = config
    this.#fetch = fetch
    this.#clock = clock
  }

  async start(): Promise<void> {
    checkConfig(this.#config)
    const { Webhook } = await import('standardwebhooks')
    this.#webhook = new Webhook(this.#config.secret ?? '')
  }

  async deliver(entries: readonly AuditEntry[], signal: AbortSignal): Promise<void> {
    if (!this.#webhook) throw new Unavailable('The webhook is not ready')
    const [id, now] = [messageId(entries), this.#clock.now()]
    const text = JSON.stringify({ type: 'audit.lines', timestamp: now.toISOString(), data: { lines: entries } })
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': this.#webhook.sign(id, now, text),
    }
    const url = new URL(this.#config.url ?? '')
    const { search } = url
    url.search = ''
    const sizeBytes = Buffer.byteLength(text)
    const answer = await this.#fetch.below(
      url.href,
      { path: '', search },
      {
        ...{ method: 'POST', headers, maxBytes: maxAnswerBytes, timeoutMs: this.#config.timeoutMs, signal },
        body: { stream: Readable.from([Buffer.from(text)]), sizeBytes, maxBytes: sizeBytes },
      },
    )
    answer.body.on('error', () => undefined).destroy()
    if (answer.status < 200 || answer.status > 299) throw new Unavailable(`The webhook answered ${answer.status}`)
  }
}
wire(WebhookReceiver, Config, Fetch, Clock)
