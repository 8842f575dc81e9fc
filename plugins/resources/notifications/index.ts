import { definePlugin, on } from 'pounce/sdk'
import { AskDigests } from './ask-digests.ts'
import { config } from './config.ts'
import { digests } from './digest-record.ts'
import { KeepDigest } from './keep-digest.ts'
import { SendDigest } from './send-digest.ts'

const minuteMs = 60_000

export const plugin = definePlugin({
  id: 'resources.notifications',
  summary: 'Notifications: mails with what happened, once an hour or a day, for those who want them.',
  config,
  collections: [digests],
  handlers: [on('user.updated', KeepDigest), on('digest.due', SendDigest)],
  periodic: [{ name: 'ask-digests', everyMs: 5 * minuteMs, task: AskDigests }],
})
