import { definePlugin, on, PersonalDataSources, provide } from 'pounce/sdk'
import { config } from './config.ts'
import { digests, EnqueueDigests, PersonalDigests, UpdateDigestOnUserUpdated } from './enqueue-digests.ts'
import { SendDigest } from './send-digest.ts'

const minuteMs = 60_000

export const plugin = definePlugin({
  id: 'resources.notifications',
  summary: 'Notifications: hourly or daily email digests of activity.',
  provides: [provide(PersonalDataSources, PersonalDigests)],
  config,
  collections: [digests],
  handlers: [on('user.updated', UpdateDigestOnUserUpdated, 'keep-digest'), on('digest.due', SendDigest, 'send-digest')],
  periodic: [{ name: 'ask-digests', everyMs: 5 * minuteMs, task: EnqueueDigests }],
})
