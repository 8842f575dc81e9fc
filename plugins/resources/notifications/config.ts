import { s } from 'pounce/sdk'

export const config = s.Object({
  maxLines: s.Integer({
    formerName: 'mostLines',
    default: 50,
    minimum: 1,
    maximum: 500,
    description: 'Maximum number of lines in one email; a note says if there are more',
  }),
  settleSeconds: s.Integer({
    default: 60,
    minimum: 0,
    maximum: 3600,
    description: 'Delay before an event is included in a digest, in seconds, because the feed is written shortly after the action',
  }),
  keptDays: s.Number({ default: 90, minimum: 1, maximum: 3650, description: 'Time for which notifications are kept, in days' }),
  maxPerPerson: s.Integer({
    default: 1000,
    minimum: 10,
    maximum: 100_000,
    description: 'Maximum number of notifications kept per user',
  }),
})
export type Settings = s.Static<typeof config>
