import type { FeedLine, FeedResource } from 'pounce/sdk/kit'

type Deed = (object: string, source: string) => string

const named = (thing: FeedResource | null): string => (thing ? `the ${thing.kind} ${thing.name}` : '')
const on =
  (verb: string): Deed =>
  object =>
    `${verb} ${object}`
const both =
  (verb: string, between: string): Deed =>
  (object, source) =>
    `${verb} ${object} ${between} ${source}`

const records = ['space', 'collection', 'dataset', 'file', 'user']
const perKind = (make: (kind: string) => readonly (readonly [string, Deed])[]): Record<string, Deed> =>
  Object.fromEntries(records.flatMap(make))

/** What the words of the feed mean, in a sentence that begins with who did it. */
const deeds: Readonly<Record<string, Deed>> = {
  ...perKind(kind => [
    [`create_${kind}`, on('made')],
    [`delete_${kind}`, on('deleted')],
    [`update_${kind}_information`, on('changed')],
    [`move_${kind}_trash`, on('put into the trash')],
    [`restore_${kind}_trash`, on('brought back from the trash')],
    [`add_${kind}_space`, both('added', 'to')],
    [`remove_${kind}_space`, both('took', 'out of')],
    [`add_tags_${kind}`, on('added tags to')],
    [`remove_tags_${kind}`, on('removed tags from')],
    [`addMetadata_${kind}`, on('added metadata to')],
    [`follow_${kind}`, on('follows')],
    [`unfollow_${kind}`, on('follows no longer')],
  ]),
  attach_dataset_collection: both('added', 'to'),
  remove_dataset_collection: both('took', 'out of'),
  add_sub_collection: both('added', 'to'),
  remove_subcollection: both('took', 'out of'),
  attach_file_dataset: both('added', 'to'),
  detach_file_dataset: both('took', 'out of'),
  add_file: on('added a file to'),
  add_file_folder: on('added a file to a folder of'),
  added_folder: on('added a folder to'),
  updated_folder: on('changed a folder of'),
  deleted_folder: on('deleted a folder of'),
  comment_file: (_comment, source) => `commented on ${source}`,
  add_comment_dataset: (_comment, source) => `commented on ${source}`,
  edit_comment: () => 'changed a comment',
  edit_profile: () => 'changed their profile',
  tos_update: () => 'changed the terms of service',
  add_user_to_space: on('added somebody to'),
  acceptrequest_space: on('let somebody into'),
  remove_user_from_space: on('removed somebody from'),
  rejectrequest_space: on('turned somebody down who wanted to join'),
}

/** What was done, such as `added a file to the dataset Leaves`; of words that are new here the words themselves. */
export const deedOf = ({ type, object, source }: FeedLine): string => {
  const [said, where] = [named(object), named(source)]
  const several = /^add_file_(folder_)?(\d+)$/.exec(type)
  if (several) return `added ${several[2]} files to ${said}`
  const deed = deeds[type]
  return deed ? deed(said, where).trim() : `${type.replaceAll('_', ' ')} ${said}`.trim()
}
