import { Comments, definePlugin, on, onBatch, provide, RightsOf } from 'pounce/sdk'
import { comments, mentions } from './collection.ts'
import { CommentRights } from './comment-rights.ts'
import { DropOrphan, FollowParent, FollowTarget, TellMentioned } from './handlers.ts'
import { MailMentioned } from './mail-mentioned.ts'
import { MentionDesk, Mentions } from './mentions.ts'
import * as routes from './routes.ts'
import { CommentDesk, StoredComments } from './stored-comments.ts'
import { Thread, Threads } from './thread.ts'

export const plugin = definePlugin({
  id: 'resources.comments',
  summary: 'Comments: what people say about files, datasets and sections.',
  provides: [
    provide(Comments, StoredComments),
    provide(CommentDesk, StoredComments),
    provide(MentionDesk, Mentions),
    provide(Threads, Thread),
    provide(RightsOf, CommentRights),
  ],
  routes,
  collections: [comments, mentions],
  handlers: [
    onBatch(['file.removed', 'dataset.removed', 'section.removed'], FollowTarget),
    on('comment.removed', FollowParent),
    on('comment.added', DropOrphan),
    on(['comment.added', 'comment.updated'], TellMentioned),
    on('comment.mentioned', MailMentioned),
  ],
})
