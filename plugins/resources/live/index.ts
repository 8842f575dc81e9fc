import { definePlugin, onBatch, PersonalDataSources, ProgressListeners, PublicEvents, provide, SessionSources } from 'pounce/sdk'
import { publicEventTypes } from 'pounce/sdk/kit'
import { config, LiveCapability } from './config.ts'
import { LogEvents, LogRetention, liveLog, PersonalEvents } from './event-log.ts'
import { rightsEvents } from './event-types.ts'
import { LogProgress } from './log-progress.ts'
import * as routes from './routes.ts'
import { StoredPublicEvents } from './stored-public-events.ts'

const minuteMs = 60_000

export const plugin = definePlugin({
  id: 'resources.live',
  summary: 'Live events: a stream of server-sent events with replay, and the public events that webhooks deliver.',
  config,
  provides: [
    provide(PublicEvents, StoredPublicEvents),
    provide(ProgressListeners, LogProgress),
    provide(PersonalDataSources, PersonalEvents),
    provide(SessionSources, LiveCapability),
  ],
  routes,
  crossOriginHeaders: { request: ['Last-Event-ID'], response: [] },
  collections: [liveLog],
  migrations: new URL('./migrations/', import.meta.url),
  handlers: [
    onBatch([...new Set([...publicEventTypes, ...rightsEvents])], LogEvents, 'log-events', { withResources: true, maxDelayMs: 25 }),
  ],
  periodic: [{ name: 'trim-log', everyMs: 5 * minuteMs, task: LogRetention }],
})
