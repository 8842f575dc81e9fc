import { definePlugin, provide, Recommenders } from 'pounce/sdk'
import { CoFollowed } from './co-followed.ts'

export const plugin = definePlugin({
  id: 'resources.following',
  summary: 'Following: what those who follow a thing follow besides is recommended.',
  provides: [provide(Recommenders, CoFollowed)],
})
