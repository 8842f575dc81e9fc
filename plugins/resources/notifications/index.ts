import { definePlugin, on, PersonalDataSources, provide } from 'pounce/sdk'
import { config } from './config.ts'
import { digests, PersonalDigests } from './digest-record.ts'
import { EnqueueDigests } from './enqueue-digests.ts'
import { SendDigest } from './send-digest.ts'
import { UpdateDigestOnUserUpdated } from './update-digest-on-user-updated.ts'

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
