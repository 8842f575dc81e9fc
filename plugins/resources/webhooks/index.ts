import { definePlugin, on, onBatch, PersonalDataSources, provide } from 'pounce/sdk'
import { publicEventTypes } from 'pounce/sdk/kit'
import { config } from './config.ts'
import { DeliveryRetention, EnqueueDeliveries, RemoveDeliveries } from './deliveries.ts'
import { deliveries, PersonalDeliveries, PersonalWebhooks, webhooks } from './records.ts'
import * as routes from './routes.ts'

const minuteMs = 60_000

export const plugin = definePlugin({
  id: 'resources.webhooks',
  summary: 'Webhooks: signed deliveries of events to other servers, with retries and a log.',
  config,
  provides: [provide(PersonalDataSources, PersonalWebhooks), provide(PersonalDataSources, PersonalDeliveries)],
  routes,
  collections: [webhooks, deliveries],
  handlers: [
    onBatch(publicEventTypes, EnqueueDeliveries, 'enqueue-deliveries'),
    on('webhook.removed', RemoveDeliveries, 'remove-deliveries'),
  ],
  periodic: [{ name: 'retention', everyMs: 5 * minuteMs, task: DeliveryRetention }],
})
