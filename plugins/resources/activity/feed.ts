import type { AnyEvent, EventType, Ref, StoredEvent } from 'pounce/sdk'

/** What an event is in the feed: v1's type, what it is about, and where (reference, extraction §6.2). */
export interface FeedEntry {
  readonly type: string
  readonly object: Ref
  /** Set when the object is gone and can no longer be asked for its name. */
  readonly objectName?: string
  readonly source?: Ref
  /** The person it concerns besides the one who acted. */
  readonly target?: string
}

type Entries = { readonly [T in EventType]?: (event: StoredEvent<T>) => FeedEntry | undefined }
type Attached = StoredEvent<'dataset.attached' | 'dataset.detached' | 'collection.attached' | 'collection.detached'>
type Removed = StoredEvent<'space.removed' | 'collection.removed' | 'dataset.removed' | 'file.removed'>
type Updated = StoredEvent<'space.updated' | 'collection.updated' | 'dataset.updated' | 'file.updated'>

const set = (id: string): Ref => ({ kind: 'dataset', id })

const created = ({ subject }: StoredEvent): FeedEntry => ({ type: `create_${subject.kind}`, object: subject })
const removed = ({ subject, data }: Removed): FeedEntry => ({ type: `delete_${subject.kind}`, object: subject, objectName: data.name })
const trashed = ({ subject }: StoredEvent): FeedEntry => ({ type: `move_${subject.kind}_trash`, object: subject })
const restored = ({ subject }: StoredEvent): FeedEntry => ({ type: `restore_${subject.kind}_trash`, object: subject })

/** What a machine sets, such as a thumbnail or a status, is no news. */
const byMachines = new Set(['thumbnail', 'status', 'isPublic', 'modified'])
const updated = ({ subject, data }: Updated): FeedEntry | undefined =>
  data.fields.every(field => byMachines.has(field)) ? undefined : { type: `update_${subject.kind}_information`, object: subject }

const joined =
  (isNew: boolean) =>
  ({ subject, data: { other } }: Attached): FeedEntry => {
    const entry = { object: subject, source: other }
    if (other.kind === 'space') return { type: `${isNew ? 'add' : 'remove'}_${subject.kind}_space`, ...entry }
    if (subject.kind === 'collection') return { type: isNew ? 'add_sub_collection' : 'remove_subcollection', ...entry }
    return { type: isNew ? 'attach_dataset_collection' : 'remove_dataset_collection', ...entry }
  }

const memberChanges = { added: 'add_user_to_space', removed: 'remove_user_from_space', role: 'add_user_to_space' } as const

const entries: Entries = {
  'space.created': created,
  'space.updated': updated,
  'space.removed': removed,
  'space.member-changed': ({ subject, data }) => ({ type: memberChanges[data.change], object: subject, target: data.user }),
  'collection.created': created,
  'collection.updated': updated,
  'collection.attached': joined(true),
  'collection.detached': joined(false),
  'collection.trashed': trashed,
  'collection.restored': restored,
  'collection.removed': removed,
  'dataset.created': created,
  'dataset.updated': updated,
  'dataset.attached': joined(true),
  'dataset.detached': joined(false),
  'dataset.trashed': trashed,
  'dataset.restored': restored,
  'dataset.removed': removed,
  'folder.created': ({ data }) => ({ type: 'added_folder', object: set(data.dataset) }),
  'folder.updated': ({ data }) => ({ type: 'updated_folder', object: set(data.dataset) }),
  'folder.removed': ({ data }) => ({ type: 'deleted_folder', object: set(data.dataset) }),
  'file.created': ({ data }) => (data.dataset === null ? undefined : { type: 'add_file', object: set(data.dataset) }),
  'file.updated': updated,
  'file.attached': ({ subject, data }) => ({ type: 'attach_file_dataset', object: subject, source: set(data.dataset) }),
  'file.detached': ({ subject, data }) => ({ type: 'detach_file_dataset', object: subject, source: set(data.dataset) }),
  'file.removed': removed,
  'metadata.added': ({ data: { target } }) => ({ type: `addMetadata_${target.kind}`, object: target }),
  'tags.added': ({ subject }) => ({ type: `add_tags_${subject.kind}`, object: subject }),
  'tags.removed': ({ subject }) => ({ type: `remove_tags_${subject.kind}`, object: subject }),
  'comment.added': ({ subject, data: { target } }) => ({
    type: target.kind === 'file' ? 'comment_file' : 'add_comment_dataset',
    object: subject,
    source: target,
  }),
  'user.followed': ({ data: { target } }) => ({ type: `follow_${target.kind}`, object: target }),
  'user.unfollowed': ({ data: { target } }) => ({ type: `unfollow_${target.kind}`, object: target }),
}

/** The types that can give an entry. */
export const feedEvents = Object.keys(entries) as readonly EventType[]

/** The feed entry of an event; undefined for what the feed leaves out. */
export const feedEntryOf = (event: AnyEvent): FeedEntry | undefined =>
  (entries[event.type] as ((event: AnyEvent) => FeedEntry | undefined) | undefined)?.(event)
