import { Comments, definePlugin, on, onBatch, PersonalDataSources, provide } from 'pounce/sdk'
import { DeleteCommentsOnTargetRemoved, DeleteOrphanedComment, DeleteRepliesOnParentRemoved, NotifyMentionedUsers } from './handlers.ts'
import { commentResource } from './resource.ts'
import * as routes from './routes.ts'
import { SendMentionMail } from './send-mention-mail.ts'
import { mentions, PersonalMentions, StoredComments } from './stored-comments.ts'

export const plugin = definePlugin({
  id: 'resources.comments',
  summary: 'Comments on files, datasets and sections.',
  resources: [commentResource],
  provides: [provide(Comments, StoredComments), provide(PersonalDataSources, PersonalMentions)],
  routes,
  collections: [mentions],
  handlers: [
    onBatch(['file.removed', 'dataset.removed', 'section.removed'], DeleteCommentsOnTargetRemoved, 'follow-target'),
    on('comment.removed', DeleteRepliesOnParentRemoved, 'follow-parent'),
    on('comment.added', DeleteOrphanedComment, 'drop-orphan'),
    on(['comment.added', 'comment.updated'], NotifyMentionedUsers, 'tell-mentioned'),
    on('comment.mentioned', SendMentionMail, 'mail-mentioned'),
  ],
})
