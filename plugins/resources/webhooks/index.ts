import { definePlugin, on, PersonalDataSources, PublicEventHandlers, provide } from 'pounce/sdk'
import { config } from './config.ts'
import { DeliveryRetention, EnqueueDeliveries, RemoveDeliveries } from './deliveries.ts'
import { deliveries, PersonalDeliveries, PersonalWebhooks, webhooks } from './records.ts'
import * as routes from './routes.ts'
import * as deliveryRoutes from './routes-deliveries.ts'
import { RemoveWebhooksOnSpaceRemoved } from './stored-webhooks.ts'

const minuteMs = 60_000

export const plugin = definePlugin({
  id: 'resources.webhooks',
  summary: 'Webhooks: signed deliveries of events to other servers, with retries and a log.',
  config,
  provides: [
    provide(PublicEventHandlers, EnqueueDeliveries),
    provide(PersonalDataSources, PersonalWebhooks),
    provide(PersonalDataSources, PersonalDeliveries),
  ],
  routes: { ...routes, ...deliveryRoutes },
  collections: [webhooks, deliveries],
  handlers: [
    on('webhook.removed', RemoveDeliveries, 'remove-deliveries'),
    on('space.removed', RemoveWebhooksOnSpaceRemoved, 'drop-with-space'),
  ],
  formerHandlers: ['enqueue-deliveries'],
  periodic: [{ name: 'retention', everyMs: 5 * minuteMs, task: DeliveryRetention }],
})
