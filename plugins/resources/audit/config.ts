import { s } from 'pounce/sdk'

export const config = s.Object({
  keptDays: s.Integer({ default: 400, minimum: 1, maximum: 36_500, description: 'Retention of audit log entries, in days' }),
  addresses: s.Union([s.Literal('whole'), s.Literal('network'), s.Literal('none')], {
    default: 'network',
    description: 'Which part of client addresses is stored: `network` is the first 24 bits of IPv4 and the first 48 of IPv6',
  }),
  countedMinutes: s.Integer({
    default: 15,
    minimum: 1,
    maximum: 1440,
    description: 'Time for which failed sign-ins to one account from one network are combined into one entry with a count, in minutes',
  }),
  reads: s.Union([s.Literal('off'), s.Literal('downloads'), s.Literal('all')], {
    default: 'downloads',
    description:
      'Which reads of non-public data are recorded: `off`, `downloads` (file contents), or `all` (every response about a resource too)',
  }),
  maxPendingReads: s.Integer({
    default: 10_000,
    minimum: 1,
    maximum: 1_000_000,
    description: 'Maximum number of reads in progress or waiting to be recorded',
  }),
  whenReadsCannotBeRecorded: s.Union([s.Literal('refuse'), s.Literal('count')], {
    default: 'refuse',
    description: 'Beyond `maxPendingReads`: `refuse` answers 503; `count` answers, and records later how many reads were not recorded',
  }),
})
export type Settings = s.Static<typeof config>
