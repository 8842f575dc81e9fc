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
})
export type Settings = s.Static<typeof config>
