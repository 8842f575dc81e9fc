import type { FeedLine, FeedResource } from 'pounce/sdk/kit'

type Sentence = (object: string, source: string) => string

const named = (thing: FeedResource | null): string => (thing ? `the ${thing.kind} ${thing.name}` : '')
const on =
  (verb: string): Sentence =>
  object =>
    `${verb} ${object}`
const both =
  (verb: string, between: string): Sentence =>
  (object, source) =>
    `${verb} ${object} ${between} ${source}`

const records = ['space', 'collection', 'dataset', 'file', 'user']
const perKind = (make: (kind: string) => readonly (readonly [string, Sentence])[]): Record<string, Sentence> =>
  Object.fromEntries(records.flatMap(make))

/** The event types of the feed as sentences that begin with the actor. */
const sentences: Readonly<Record<string, Sentence>> = {
  ...perKind(kind => [
    [`create_${kind}`, on('created')],
    [`delete_${kind}`, on('deleted')],
    [`update_${kind}_information`, on('updated')],
    [`move_${kind}_trash`, object => `moved ${object} to the trash`],
    [`restore_${kind}_trash`, object => `restored ${object} from the trash`],
    [`add_${kind}_space`, both('added', 'to')],
    [`remove_${kind}_space`, both('removed', 'from')],
    [`add_tags_${kind}`, on('added tags to')],
    [`remove_tags_${kind}`, on('removed tags from')],
    [`addMetadata_${kind}`, on('added metadata to')],
    [`follow_${kind}`, on('followed')],
    [`unfollow_${kind}`, on('unfollowed')],
  ]),
  attach_dataset_collection: both('added', 'to'),
  remove_dataset_collection: both('removed', 'from'),
  add_sub_collection: both('added', 'to'),
  remove_subcollection: both('removed', 'from'),
  attach_file_dataset: both('added', 'to'),
  detach_file_dataset: both('removed', 'from'),
  add_file: on('added a file to'),
  add_file_folder: on('added a file to a folder in'),
  added_folder: on('added a folder to'),
  updated_folder: on('updated a folder in'),
  deleted_folder: on('deleted a folder in'),
  comment_file: (_comment, source) => `commented on ${source}`,
  add_comment_dataset: (_comment, source) => `commented on ${source}`,
  edit_comment: () => 'edited a comment',
  edit_profile: () => 'updated their profile',
  tos_update: () => 'updated the terms of service',
  add_user_to_space: on('added a user to'),
  acceptrequest_space: on('accepted a request to join'),
  remove_user_from_space: on('removed a user from'),
  rejectrequest_space: on('rejected a request to join'),
}

/** A description such as `added a file to the dataset Leaves`; unknown types are printed unchanged. */
export const activitySentence = ({ type, object, source }: FeedLine): string => {
  const [objectText, where] = [named(object), named(source)]
  const several = /^add_file_(folder_)?(\d+)$/.exec(type)
  if (several) return `added ${several[2]} files to ${objectText}`
  const sentence = sentences[type]
  return sentence ? sentence(objectText, where).trim() : `${type.replaceAll('_', ' ')} ${objectText}`.trim()
}
