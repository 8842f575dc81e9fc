import { type CommentRecord, DocumentStore, defineResource, type Rights, wire } from 'pounce/sdk'
import { createdBy, type RightsSource } from 'pounce/sdk/kit'
import { comments, StoredComments } from './stored-comments.ts'

/** A comment has the rights of its target and belongs to its author. A reply to a deleted comment is treated as deleted. */
class CommentRights implements RightsSource {
  #documents: DocumentStore
  #comments: StoredComments

  constructor(documents: DocumentStore, stored: StoredComments) {
    this.#documents = documents
    this.#comments = stored
  }

  async rightsOf(ids: readonly string[]): Promise<ReadonlyMap<string, Rights>> {
    const found = await this.#documents.getMany(comments, ids)
    const standing = await this.#comments.standing([...found.values()])
    return new Map(
      standing.map(({ id, author, target }) => [id, { author, spaces: [], isPublic: false, state: 'live', parents: [target] }]),
    )
  }
}
wire(CommentRights, DocumentStore, StoredComments)

export const commentResource = defineResource<CommentRecord>({
  kind: 'comment',
  collection: comments,
  view: 'ViewComments',
  rightsSource: CommentRights,
  references: ({ target }) => [target],
  personalData: {
    name: 'comments',
    summary: 'Comments that you wrote.',
    ...createdBy<CommentRecord>('target', 'parent', 'text', 'posted'),
  },
})
