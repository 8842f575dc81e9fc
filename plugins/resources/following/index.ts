import { definePlugin, onBatch, provide, Recommenders } from 'pounce/sdk'
import { DeleteFollowsOnTargetRemoved, FollowRecommendations } from './follow-recommendations.ts'

export const plugin = definePlugin({
  id: 'resources.following',
  summary: 'Following: recommends what other followers of a resource follow.',
  isSwitchable: true,
  provides: [provide(Recommenders, FollowRecommendations)],
  handlers: [
    onBatch(['file.removed', 'dataset.removed', 'collection.removed', 'space.removed'], DeleteFollowsOnTargetRemoved, 'forget-gone'),
  ],
})
