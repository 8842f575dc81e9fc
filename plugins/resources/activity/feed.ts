import type { AnyEvent, EventType, Ref } from 'pounce/sdk'

/** What an event is in the feed: v1's type, what it is about, and where (reference, extraction §6.2). */
export interface FeedEntry {
  readonly type: string
  readonly object: Ref | null
  /** Set when the object is gone and can no longer be asked for its name. */
  readonly objectName?: string
  readonly source?: Ref
  readonly target?: string
}

const about = (type: string, object: Ref): FeedEntry => ({ type, object })
const from = (type: string, object: Ref, source: Ref): FeedEntry => ({ type, object, source })

/** `update_dataset_information` only for what people change; a thumbnail or status that a machine sets is no news. */
const isPersonal = (fields: readonly string[]): boolean =>
  fields.some(field => !['thumbnail', 'status', 'isPublic', 'modified'].includes(field))

const attached = (
  event: Extract<AnyEvent, { type: 'dataset.attached' | 'dataset.detached' | 'collection.attached' | 'collection.detached' }>,
): FeedEntry => {
  const isNew = event.type.endsWith('.attached')
  const { subject, data } = event
  const kind = data.other.kind
  if (kind === 'space') return from(`${isNew ? 'add' : 'remove'}_${subject.kind}_space`, subject, data.other)
  if (subject.kind === 'collection') return from(isNew ? 'add_sub_collection' : 'remove_subcollection', subject, data.other)
  return from(isNew ? 'attach_dataset_collection' : 'remove_dataset_collection', subject, data.other)
}

const memberChanges = { added: 'add_user_to_space', removed: 'remove_user_from_space', role: 'add_user_to_space' } as const

/** The feed entry of an event; undefined for what the feed leaves out. */
export const feedEntryOf = (event: AnyEvent): FeedEntry | undefined => {
  const { subject } = event
  switch (event.type) {
    case 'space.created':
    case 'collection.created':
    case 'dataset.created':
      return about(`create_${subject.kind}`, subject)
    case 'space.removed':
    case 'collection.removed':
    case 'dataset.removed':
    case 'file.removed':
      return { type: `delete_${subject.kind}`, object: subject, objectName: event.data.name }
    case 'space.updated':
    case 'collection.updated':
    case 'dataset.updated':
    case 'file.updated':
      return isPersonal(event.data.fields) ? about(`update_${subject.kind}_information`, subject) : undefined
    case 'collection.trashed':
    case 'dataset.trashed':
      return about(`move_${subject.kind}_trash`, subject)
    case 'collection.restored':
    case 'dataset.restored':
      return about(`restore_${subject.kind}_trash`, subject)
    case 'dataset.attached':
    case 'dataset.detached':
    case 'collection.attached':
    case 'collection.detached':
      return attached(event)
    case 'space.member-changed':
      return { type: memberChanges[event.data.change], object: subject, target: event.data.user }
    case 'folder.created':
      return about('added_folder', { kind: 'dataset', id: event.data.dataset })
    case 'folder.updated':
      return about('updated_folder', { kind: 'dataset', id: event.data.dataset })
    case 'folder.removed':
      return about('deleted_folder', { kind: 'dataset', id: event.data.dataset })
    case 'file.created':
      return event.data.dataset === null ? undefined : about('add_file', { kind: 'dataset', id: event.data.dataset })
    case 'file.attached':
      return from('attach_file_dataset', subject, { kind: 'dataset', id: event.data.dataset })
    case 'file.detached':
      return from('detach_file_dataset', subject, { kind: 'dataset', id: event.data.dataset })
    case 'metadata.added':
      return about(`addMetadata_${event.data.target.kind}`, event.data.target)
    case 'tags.added':
      return about(`add_tags_${subject.kind}`, subject)
    case 'tags.removed':
      return about(`remove_tags_${subject.kind}`, subject)
    case 'comment.added':
      return from(event.data.target.kind === 'file' ? 'comment_file' : 'add_comment_dataset', subject, event.data.target)
    case 'user.followed':
      return about(`follow_${event.data.target.kind}`, event.data.target)
    case 'user.unfollowed':
      return about(`unfollow_${event.data.target.kind}`, event.data.target)
    default:
      return undefined
  }
}

/** The types that can give an entry. */
export const feedEvents: readonly EventType[] = [
  'space.created',
  'space.updated',
  'space.removed',
  'space.member-changed',
  'collection.created',
  'collection.updated',
  'collection.attached',
  'collection.detached',
  'collection.trashed',
  'collection.restored',
  'collection.removed',
  'dataset.created',
  'dataset.updated',
  'dataset.attached',
  'dataset.detached',
  'dataset.trashed',
  'dataset.restored',
  'dataset.removed',
  'folder.created',
  'folder.updated',
  'folder.removed',
  'file.created',
  'file.updated',
  'file.attached',
  'file.detached',
  'file.removed',
  'metadata.added',
  'tags.added',
  'tags.removed',
  'comment.added',
  'user.followed',
  'user.unfollowed',
]
