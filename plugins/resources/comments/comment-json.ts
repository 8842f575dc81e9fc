import { type Caller, type Policy, peopleFor, ShownPerson, s, type Users } from 'pounce/sdk'
import type { Comment } from './stored-comments.ts'

/** A comment as Clowder 1.x keeps it; replies name the comment above them. */
export const CommentJson = s.model(
  'Comment',
  s.Object({
    id: s.String(),
    text: s.String(),
    author: ShownPerson,
    comment_id: s.Union([s.String({ description: 'The comment that this one replies to' }), s.Null()]),
    file_id: s.Optional(s.String()),
    dataset_id: s.Optional(s.String()),
    section_id: s.Optional(s.String()),
    posted: s.v1Date(),
  }),
)
export type CommentJson = s.Static<typeof CommentJson>

/** Shows comments to a caller. */
export const showComments = async (users: Users, policy: Policy, caller: Caller, some: readonly Comment[]): Promise<CommentJson[]> => {
  const person = await peopleFor(
    users,
    policy,
    caller,
    some.map(({ author }) => author),
  )
  return some.map(({ id, text, author, parent, target, posted }) => ({
    id,
    text,
    author: person(author),
    comment_id: parent,
    [`${target.kind}_id`]: target.id,
    posted: s.toV1Date(posted),
  }))
}
