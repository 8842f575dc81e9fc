import type { AnyEvent, EventType, Ref, Resource, StoredEvent } from 'pounce/sdk'
import { geoNumberOf } from 'pounce/sdk/geo'
import type { publicEventTypes } from 'pounce/sdk/kit'

/** Every type of public event, with its description. */
export const publicTypes: Readonly<Record<string, string>> = {
  'space.created': 'A space was created',
  'space.updated': 'Settings of a space were changed; `fields` names them',
  'space.verified': 'A trial space was verified',
  'space.member-changed': 'A user was added to a space, removed from it, or given another role',
  'space.deleted': 'A space was deleted',
  'collection.created': 'A collection was created',
  'collection.updated': 'A collection was changed; `fields` names the changed fields',
  'collection.attached': 'A collection was added to a space or a collection, or received a dataset',
  'collection.detached': 'A collection was removed from a space or a collection, or lost a dataset',
  'collection.trashed': 'A collection was moved to the trash',
  'collection.restored': 'A collection was restored from the trash',
  'collection.deleted': 'A collection was deleted',
  'dataset.created': 'A dataset was created or imported, or copied',
  'dataset.updated': 'A dataset was changed; `fields` names the changed fields',
  'dataset.attached': 'A dataset was added to a space or a collection',
  'dataset.detached': 'A dataset was removed from a space or a collection',
  'dataset.trashed': 'A dataset was moved to the trash',
  'dataset.restored': 'A dataset was restored from the trash',
  'dataset.deleted': 'A dataset was deleted',
  'folder.created': 'A folder was created',
  'folder.updated': 'A folder was renamed',
  'folder.moved': 'A folder was moved',
  'folder.deleted': 'A folder was deleted',
  'file.created': 'A file was uploaded',
  'file.updated': 'A file was changed; `fields` names the changed fields, and `status` is PROCESSED once its extractions were submitted',
  'file.attached': 'A file was added to a dataset',
  'file.moved': 'A file was moved to another folder',
  'file.detached': 'A file was removed from a dataset',
  'file.archived': 'A file was archived',
  'file.unarchived': 'A file was restored from the archive',
  'file.deleted': 'A file was deleted',
  'metadata.added': 'Metadata was added to a resource',
  'metadata.deleted': 'Metadata was deleted from a resource',
  'tags.added': 'Tags were added to a resource',
  'tags.deleted': 'Tags were deleted from a resource',
  'comment.added': 'A comment was posted',
  'comment.updated': 'A comment was edited',
  'comment.deleted': 'A comment was deleted',
  'preview.attached': 'A preview was added to a resource',
  'preview.deleted': 'A preview was deleted',
  'thumbnail.attached': 'A resource received a thumbnail',
  'section.created': 'A section of a file was created',
  'section.updated': 'A section of a file was changed',
  'section.deleted': 'A section of a file was deleted',
  'extraction.submitted': 'A file or dataset was submitted to an extractor, or a failed extraction is rerun',
  'extraction.progressed': 'An extractor reported its status',
  'extraction.finished': 'An extraction ended successfully, or was cancelled; `state` says which',
  'extraction.failed': 'An extraction failed',
  'sensor.created': 'A sensor was created',
  'sensor.updated': 'A sensor was changed',
  'sensor.deleted': 'A sensor was deleted',
  'stream.created': 'A stream was created',
  'stream.updated': 'A stream was changed',
  'stream.deleted': 'A stream was deleted',
  'stream.datapoints-added': 'Datapoints were added to a stream; `from` and `to` are the first and last start times',
  'stream.datapoints-deleted': 'Datapoints were deleted from a stream',
  'user.updated': 'Your own account was changed',
  'notification.created': 'You were notified of something; `about` says of what kind',
  'upload.progressed': 'A resumable upload of yours received bytes',
  'upload.finished': 'A resumable upload of yours is complete',
  'upload.failed': 'A resumable upload of yours was cancelled, has expired or had a wrong checksum',
  'archive.progressed': 'Files of a dataset are being submitted for archiving or restoring',
  'archive.finished': 'All files of a dataset were submitted for archiving or restoring',
  'archive.failed': 'Archiving or restoring a dataset failed',
  'import.progressed': 'A dataset of yours is being imported',
  'import.finished': 'A dataset of yours was imported',
  'import.failed': 'An import of yours failed',
  'bulk.progressed': 'A bulk job of yours is running',
  'bulk.finished': 'A bulk job of yours is complete; some resources may have been refused',
  'bulk.failed': 'A bulk job of yours failed as a whole',
  'reindex.progressed': 'The search index is being rebuilt',
  'reindex.finished': 'The search index was rebuilt',
  'reindex.failed': 'Rebuilding the search index failed',
}

/** A public event before the records that it refers to are read. */
export interface EventDraft {
  readonly type: string
  readonly subject: Ref
  /**
   * Resources that the event relates the subject to: its recipients must be able to view these too. For a deletion: the containers of the
   * subject; the right on one of them is enough.
   */
  readonly within?: readonly Ref[]
  /** Further direct containers of the subject. */
  readonly places?: readonly Ref[]
  /** For a deletion: the author of the subject. */
  readonly author?: string
  readonly data?: Readonly<Record<string, unknown>>
  readonly recipient?: string
}

type Drafts = { readonly [T in (typeof publicEventTypes)[number]]: (event: StoredEvent<T>) => EventDraft | undefined }
type Joined = StoredEvent<'dataset.attached' | 'dataset.detached' | 'collection.attached' | 'collection.detached'>

const maxNames = 20

const dataset = (id: string): Ref => ({ kind: 'dataset', id })
const refs = (kind: Ref['kind'], ids: readonly string[] = []): readonly Ref[] => ids.slice(0, maxNames).map(id => ({ kind, id }))
const folder = (id: string | null = null): readonly Ref[] => (id === null ? [] : [{ kind: 'folder', id }])

const deletion = (type: string, subject: Ref, author: string | undefined): EventDraft => ({
  type,
  subject,
  ...(author !== undefined && { author }),
})
/** With the type of the stored event. */
const same = ({ type, subject }: StoredEvent): EventDraft => ({ type, subject })
const updated = ({
  type,
  subject,
  data,
}: StoredEvent<'space.updated' | 'collection.updated' | 'dataset.updated' | 'file.updated'>): EventDraft => ({
  type,
  subject,
  data: { fields: data.fields.slice(0, maxNames) },
})
const joined = ({ type, subject, data: { other } }: Joined): EventDraft => ({ type, subject, within: [other], data: { other } })
const inDataset = ({
  type,
  subject,
  data,
}: StoredEvent<'folder.created' | 'folder.updated' | 'folder.moved' | 'file.attached'>): EventDraft => ({
  type,
  subject,
  within: [dataset(data.dataset)],
  data: { dataset: data.dataset },
})
const onTarget =
  (type: string) =>
  ({
    subject,
    data: { target },
  }: StoredEvent<'metadata.added' | 'metadata.removed' | 'comment.added' | 'comment.updated' | 'comment.removed'>): EventDraft => ({
    type,
    subject,
    within: [target],
    data: { target },
  })
const ofFile =
  (type: string) =>
  ({ subject, data: { file } }: StoredEvent<'section.created' | 'section.updated' | 'section.removed'>): EventDraft => ({
    type,
    subject,
    within: [{ kind: 'file', id: file }],
    data: { file },
  })

/** The public event for each stored event. */
const drafts: Drafts = {
  'space.created': same,
  'space.updated': updated,
  'space.verified': same,
  'space.member-changed': ({ type, subject, data: { user, change, role } }) => ({
    type,
    subject,
    data: { user, change, ...(role !== undefined && { role }) },
  }),
  'space.removed': ({ subject }) => ({ type: 'space.deleted', subject }),
  'collection.created': same,
  'collection.updated': updated,
  'collection.attached': joined,
  'collection.detached': joined,
  'collection.trashed': same,
  'collection.restored': same,
  'collection.removed': ({ subject, data }) => ({
    ...deletion('collection.deleted', subject, data.author),
    within: refs('space', data.spaces),
    places: refs('collection', data.parents),
  }),
  'dataset.created': same,
  'dataset.updated': updated,
  'dataset.attached': joined,
  'dataset.detached': joined,
  'dataset.trashed': same,
  'dataset.restored': same,
  'dataset.removed': ({ subject, data }) =>
    data.wasImporting
      ? undefined
      : {
          ...deletion('dataset.deleted', subject, data.author),
          within: refs('space', data.spaces),
          places: refs('collection', data.collections),
        },
  'folder.created': inDataset,
  'folder.updated': inDataset,
  'folder.moved': event => ({
    ...inDataset(event),
    places: [dataset(event.data.from), ...(event.data.leaving ? [event.data.leaving] : [])],
  }),
  'folder.removed': ({ subject, data }) => ({
    ...deletion('folder.deleted', subject, data.author),
    within: [dataset(data.dataset)],
    places: data.parent ? [data.parent] : [],
  }),
  // Files created together with their dataset are covered by `dataset.created`.
  'file.created': ({ type, subject, data }) =>
    data.isImported
      ? undefined
      : {
          type,
          subject,
          ...(data.dataset !== null && { within: [dataset(data.dataset)], data: { dataset: data.dataset, folder: data.folder } }),
        },
  'file.updated': updated,
  'file.attached': inDataset,
  'file.moved': ({ type, subject, data }) => ({
    type,
    subject,
    within: [dataset(data.dataset)],
    places: folder(data.from),
    data: { dataset: data.dataset, folder: data.folder },
  }),
  'file.detached': ({ type, subject, data }) => ({
    type,
    subject,
    within: [dataset(data.dataset)],
    places: folder(data.folder),
    data: { dataset: data.dataset },
  }),
  'file.archived': same,
  'file.unarchived': same,
  'file.removed': ({ subject, data }) =>
    data.wasImporting
      ? undefined
      : {
          ...deletion('file.deleted', subject, data.author),
          within: refs('dataset', data.datasets),
          places: refs('folder', data.folders),
        },
  'metadata.added': onTarget('metadata.added'),
  'metadata.removed': onTarget('metadata.deleted'),
  'tags.added': ({ type, subject, data }) => ({ type, subject, data: { tags: data.tags.slice(0, maxNames) } }),
  'tags.removed': ({ subject, data }) => ({ type: 'tags.deleted', subject, data: { tags: data.tags.slice(0, maxNames) } }),
  'comment.added': onTarget('comment.added'),
  'comment.updated': onTarget('comment.updated'),
  'comment.removed': onTarget('comment.deleted'),
  'preview.attached': ({ type, subject, data: { target } }) => ({ type, subject, within: [target], data: { target } }),
  'preview.removed': ({ subject, data }) =>
    data.target ? { type: 'preview.deleted', subject, within: [data.target], data: { target: data.target } } : undefined,
  'thumbnail.attached': ({ type, subject, data: { target } }) => ({ type, subject, within: [target], data: { target } }),
  'section.created': ofFile('section.created'),
  'section.updated': ofFile('section.updated'),
  'section.removed': ofFile('section.deleted'),
  'extraction.submitted': ({ type, subject, data: { target, extractor, trigger } }) => ({
    type,
    subject,
    within: [target],
    data: { target, extractor, trigger },
  }),
  'extraction.status': ({ subject, data: { target, extractor, state } }) => ({
    type: state === 'failed' ? 'extraction.failed' : 'extraction.finished',
    subject,
    within: [target],
    data: { target, extractor, ...(state !== undefined && { state }) },
  }),
  'sensor.created': same,
  'sensor.updated': same,
  'sensor.removed': ({ subject }) => ({ type: 'sensor.deleted', subject }),
  'stream.created': ({ type, subject, data }) => ({
    type,
    subject,
    within: [{ kind: 'sensor', id: data.sensor }],
    data: { sensor: String(geoNumberOf(data.sensor)) },
  }),
  'stream.updated': same,
  'stream.removed': ({ subject, data }) => ({ type: 'stream.deleted', subject, within: [{ kind: 'sensor', id: data.sensor }] }),
  'stream.datapoints-added': ({ type, subject, data: { count, fromMs, toMs } }) => ({
    type,
    subject,
    data: { count, from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() },
  }),
  'stream.datapoints-removed': ({ subject, data }) => ({ type: 'stream.datapoints-deleted', subject, data: { count: data.count } }),
  'notification.created': ({ type, subject, data: { notification, about } }) => ({
    type,
    subject,
    data: { notification, about },
    recipient: subject.id,
  }),
  'user.updated': ({ type, subject, data }) => ({ type, subject, data: { fields: data.fields.slice(0, maxNames) }, recipient: subject.id }),
}

/** The public event for an event of a kind that a plugin declares. */
export const draftOfKind = ({ type, subject, data }: AnyEvent): EventDraft => {
  const { fields, within } = data as { readonly fields?: readonly string[]; readonly within?: readonly Ref[] }
  return {
    type: type.replace(/\.removed$/, '.deleted'),
    subject,
    ...(within && { within: within.slice(0, maxNames) }),
    ...(fields && { data: { fields: fields.slice(0, maxNames) } }),
  }
}

const changeWords: Readonly<Record<string, string>> = {
  created: 'was created',
  updated: 'was changed; `fields` names the changed fields',
  removed: 'was deleted',
}

/** The types of public events of plugin-declared kinds, with their descriptions. */
export const typesOfKinds = (kinds: readonly Pick<Resource, 'kind' | 'events'>[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    kinds.flatMap(({ kind, events }) =>
      events.map(type => [
        type.replace(/\.removed$/, '.deleted'),
        `A resource of the kind ${kind} ${changeWords[type.slice(kind.length + 1)] ?? 'has changed'}`,
      ]),
    ),
  )

/** Stored events that can change the rights of callers or end credentials. */
export const rightsEvents: readonly EventType[] = [
  'space.member-changed',
  'space.group-changed',
  'space.removed',
  'group.member-changed',
  'group.removed',
  'role.updated',
  'role.removed',
  'user.updated',
  'user.erased',
  'user.signed-out',
  'user.second-factor-changed',
  'session.ended',
  'key.revoked',
]

/** Undefined for an event that is not public. */
export const draftOf = (event: AnyEvent): EventDraft | undefined =>
  ((drafts as Readonly<Record<string, unknown>>)[event.type] as ((event: AnyEvent) => EventDraft | undefined) | undefined)?.(event)

/** True for an event after which its subject has no record, so that no right on it can be read. */
export const isDeletion = (type: string): boolean => type.endsWith('.deleted')

/** True for an event after which only its creator can view its subject. */
export const isTrashing = (type: string): boolean => type.endsWith('.trashed')

/** True for an event after which its subject is no longer in a container, so that fewer callers may view it. */
export const isDetachment = (type: string): boolean => type.endsWith('.detached')
