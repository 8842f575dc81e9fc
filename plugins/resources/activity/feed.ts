import type { AnyEvent, EventType, Ref, StoredEvent } from 'pounce/sdk'

/** How an event appears in the feed: v1's type, its object, and its location (reference, extraction §6.2). */
export interface FeedEntry {
  readonly type: string
  /** For an entry that grows: its id. A later event with this id changes the type of the existing entry. */
  readonly id?: string
  /** The user whose feed the entry belongs to, if not the actor. */
  readonly user?: string
  /** Null for events about the installation: only the actor sees the entry. */
  readonly object: Ref | null
  readonly source?: Ref
  /** The user affected, if other than the actor. */
  readonly target?: string
  /** The containers of a deleted object: callers who may view them may see the entry. */
  readonly within?: readonly Ref[]
}

type Entries = { readonly [T in EventType]?: (event: StoredEvent<T>) => FeedEntry | undefined }
type Attached = StoredEvent<'dataset.attached' | 'dataset.detached' | 'collection.attached' | 'collection.detached'>
type Removed = StoredEvent<'collection.removed' | 'dataset.removed'>
type Updated = StoredEvent<'space.updated' | 'collection.updated' | 'dataset.updated' | 'file.updated'>

const maxPlaces = 20

const set = (id: string): Ref => ({ kind: 'dataset', id })

const created = ({ subject }: StoredEvent): FeedEntry => ({ type: `create_${subject.kind}`, object: subject })
const removed = ({ subject, data }: Removed): FeedEntry => ({
  type: `delete_${subject.kind}`,
  object: subject,
  within: data.spaces.slice(0, maxPlaces).map(id => ({ kind: 'space', id })),
})
const trashed = ({ subject }: StoredEvent): FeedEntry => ({ type: `move_${subject.kind}_trash`, object: subject })
const restored = ({ subject }: StoredEvent): FeedEntry => ({ type: `restore_${subject.kind}_trash`, object: subject })

/** Fields set by the system, such as a thumbnail or a status, create no entry, nor do fields that have an entry of their own. */
const hiddenFields = new Set(['thumbnail', 'status', 'isPublic', 'modified', 'requests', 'spaces', 'rootSpaces', 'isTopLevel'])
const updated = ({ subject, data }: Updated): FeedEntry | undefined =>
  data.fields.every(field => hiddenFields.has(field)) ? undefined : { type: `update_${subject.kind}_information`, object: subject }

const joined =
  (isNew: boolean) =>
  ({ subject, data: { other } }: Attached): FeedEntry => {
    const entry = { object: subject, source: other }
    if (other.kind === 'space') return { type: `${isNew ? 'add' : 'remove'}_${subject.kind}_space`, ...entry }
    if (subject.kind === 'collection') return { type: isNew ? 'add_sub_collection' : 'remove_subcollection', ...entry }
    return { type: isNew ? 'attach_dataset_collection' : 'remove_dataset_collection', ...entry }
  }

/** Clowder 1.x records this for files and datasets only. */
const onData = (type: string, object: Ref): FeedEntry | undefined =>
  object.kind === 'file' || object.kind === 'dataset' ? { type: `${type}_${object.kind}`, object } : undefined

const definition =
  (done: string) =>
  ({ data: { space } }: StoredEvent<'definition.added' | 'definition.updated' | 'definition.removed'>): FeedEntry =>
    space === null
      ? { type: `${done}_metadata_instance`, object: null }
      : { type: `${done}_metadata_space`, object: { kind: 'space', id: space } }

/** The profile fields that users edit themselves. */
const profile = new Set(['firstName', 'lastName', 'profile', 'avatar', 'email'])

const memberChanges = { added: 'add_user_to_space', accepted: 'acceptrequest_space', removed: 'remove_user_from_space' } as const

const entries: Entries = {
  'space.created': created,
  'space.updated': updated,
  'space.removed': ({ subject }) => ({ type: 'delete_space', object: subject }),
  'space.member-changed': ({ subject, data }) =>
    data.change === 'role' ? undefined : { type: memberChanges[data.change], object: subject, target: data.user },
  'space.join-requested': ({ subject, data }) => ({ type: 'postrequest_space', object: subject, target: data.to }),
  'space.group-changed': ({ subject, data }) =>
    data.change === 'role'
      ? undefined
      : { type: data.change === 'added' ? 'add_group_to_space' : 'remove_group_from_space', object: subject },
  'space.request-rejected': ({ subject, data }) => ({ type: 'rejectrequest_space', object: subject, target: data.user }),
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
  'dataset.files-added': ({ subject, data: { batch, files, inFolders } }) => ({
    type: `${inFolders ? 'add_file_folder' : 'add_file'}_${files}`,
    id: batch,
    object: subject,
  }),
  'folder.created': ({ data }) => (data.isToldApart ? undefined : { type: 'added_folder', object: set(data.dataset) }),
  'folder.updated': ({ data }) => ({ type: 'updated_folder', object: set(data.dataset) }),
  'folder.moved': ({ data }) => ({ type: 'updated_folder', object: set(data.dataset) }),
  'folder.removed': ({ data }) => ({ type: 'deleted_folder', object: set(data.dataset) }),
  'file.created': ({ data }) =>
    data.dataset === null || data.isImported || data.isToldApart
      ? undefined
      : { type: data.folder === null ? 'add_file' : 'add_file_folder', object: set(data.dataset) },
  'file.updated': updated,
  'file.attached': ({ subject, data }) => ({ type: 'attach_file_dataset', object: subject, source: set(data.dataset) }),
  'file.detached': ({ subject, data }) => ({ type: 'detach_file_dataset', object: subject, source: set(data.dataset) }),
  'file.removed': ({ subject, data }) => ({ type: 'delete_file', object: subject, within: data.datasets.slice(0, maxPlaces).map(set) }),
  'metadata.added': ({ data }) => onData('addMetadata', data.target),
  'definition.added': definition('added'),
  'definition.updated': definition('edit'),
  'definition.removed': definition('delete'),
  'tags.added': ({ subject }) => onData('add_tags', subject),
  'tags.removed': ({ subject }) => onData('remove_tags', subject),
  // Clowder 1.x records no comments on sections.
  'comment.added': ({ subject, data: { target } }) =>
    target.kind === 'section'
      ? undefined
      : { type: target.kind === 'file' ? 'comment_file' : 'add_comment_dataset', object: subject, source: target },
  'comment.updated': ({ subject }) => ({ type: 'edit_comment', object: subject }),
  'comment.mentioned': ({ subject, actor, data: { target } }) => ({
    type: `mention_${target.kind}_comment`,
    object: target,
    user: subject.id,
    ...(actor === undefined ? {} : { target: actor }),
  }),
  'user.updated': ({ subject, data }) =>
    data.fields.some(field => profile.has(field)) ? { type: 'edit_profile', object: subject } : undefined,
  'site.updated': ({ subject, data }) => (data.fields.includes('tosText') ? { type: 'tos_update', object: subject } : undefined),
  'user.followed': ({ data: { target } }) => ({ type: `follow_${target.kind}`, object: target }),
  'user.unfollowed': ({ data: { target } }) => ({ type: `unfollow_${target.kind}`, object: target }),
}

/** The entry of an event that a plugin declares with its resource kind. */
const ofKind = ({ type, subject, data }: AnyEvent): FeedEntry | undefined => {
  const { fields = [], within = [] } = data as { readonly fields?: readonly string[]; readonly within?: readonly Ref[] }
  if (type === `${subject.kind}.created`) return { type: `create_${subject.kind}`, object: subject }
  if (type === `${subject.kind}.removed`) return { type: `delete_${subject.kind}`, object: subject, within: within.slice(0, maxPlaces) }
  const isShown = type === `${subject.kind}.updated` && !fields.every(field => hiddenFields.has(field))
  return isShown ? { type: `update_${subject.kind}_information`, object: subject } : undefined
}

/** The event types that the feed handles, besides those of the kinds that plugins declare. */
export const feedEvents = Object.keys(entries) as readonly EventType[]

/** The feed entry of an event; undefined for what the feed leaves out. */
export const feedEntryOf = (event: AnyEvent): FeedEntry | undefined =>
  (((entries as Readonly<Record<string, unknown>>)[event.type] as typeof ofKind | undefined) ?? ofKind)(event)

const nameFields = new Set(['name', 'firstName', 'lastName'])

/** True if the event may change the name of its subject. */
export const renames = ({ type, data }: AnyEvent): boolean =>
  type === 'comment.updated' || ('fields' in data && data.fields.some(field => nameFields.has(field)))

/** The last name of the resource that the event reports as deleted. */
export const lastNameOf = ({ data }: AnyEvent): string | undefined => ('name' in data ? data.name : undefined)
