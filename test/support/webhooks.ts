import { Webhook } from 'standardwebhooks'
import { ok } from './scene.ts'
import type { Somebody } from './spaces-and-people.ts'
import type { Received, Target } from './webhook-target.ts'

/** A webhook as the API returns it. */
export interface WebhookJson {
  readonly id: string
  readonly secret: string
  readonly active: boolean
  readonly owner: string
  readonly pauseReason?: string
  readonly failingSince?: string
}
/** A delivery as the API returns it. */
export interface DeliveryJson {
  readonly id: string
  readonly messageId: string
  readonly type: string
  readonly state: string
  readonly tries: number
  readonly event?: unknown
  readonly attempts: readonly {
    readonly status?: number
    readonly response?: string
    readonly error?: string
    readonly durationMs: number
  }[]
}

/** Creates a webhook of a user, or at the path of a space or of the server. */
export const newWebhook = (who: Somebody, url: string, more: Record<string, unknown> = {}, path = '/api/webhooks'): Promise<WebhookJson> =>
  ok<WebhookJson>(who.call(path, { method: 'POST', json: { url, ...more } }))
export const deliveriesOf = (who: Somebody, { id }: WebhookJson, query = ''): Promise<DeliveryJson[]> =>
  ok(who.call(`/api/webhooks/${id}/deliveries${query}`))
/** The message about the resource with a name. */
export const receivedNamed = (target: Target, name: string): Received | undefined =>
  target.received.find(({ event }) => event.data['name'] === name)
/** The content of a message; throws if the published verifier rejects it. */
export const verified = (secret: string, { headers, body }: Received): unknown =>
  new Webhook(secret).verify(body, headers as Record<string, string>)
