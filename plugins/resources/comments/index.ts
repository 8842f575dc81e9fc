import { Comments, definePlugin, on, provide, RightsOf } from 'pounce/sdk'
import { comments } from './collection.ts'
import * as routes from './routes.ts'
import { CommentRights, FollowTarget, StoredComments } from './stored-comments.ts'

export const plugin = definePlugin({
  id: 'resources.comments',
  summary: 'Comments: what people say about files and datasets.',
  provides: [provide(Comments, StoredComments), provide(RightsOf, CommentRights)],
  routes,
  collections: [comments],
  handlers: [on(['file.removed', 'dataset.removed'], FollowTarget)],
})
