import { s } from 'pounce/sdk'

export const config = s.Object({
  mostLines: s.Integer({ default: 50, minimum: 1, maximum: 500, description: 'Lines of news in one mail; of more it says that there are' }),
  settleSeconds: s.Integer({
    default: 60,
    minimum: 0,
    maximum: 3600,
    description: 'What happened so recently waits for the next mail, for the feed is written a moment after the deed',
  }),
})
export type Settings = s.Static<typeof config>
