import type { AccountStatus } from './model/caller.ts'
import type { Kind, Ref } from './model/kind.ts'
import type { SecondFactorChange } from './model/people.ts'
import type { Place } from './model/records.ts'
import type { ScanEvents } from './ports/malware-scan.ts'

/**
 * All events and their members besides `subject`. An event states what happened to which resource, not what to write: handlers re-read the record. Names are
 * past-tense facts; third-party plugins add theirs by declaration merging.
 */
export interface EventMap extends ScanEvents {
  'space.created': None
  'space.updated': { readonly fields: readonly string[] }
  /** The trial period has ended; `space.updated` has the access. */
  'space.verified': None
  /** Its expired resources should be deleted; emitted periodically while expiry is enabled. */
  'space.expiry-due': None
  'space.removed': { readonly name: string }
  /** `accepted`: added after a request to join. `role`: the new role. `message`: an additional message to a new member. */
  'space.member-changed': {
    readonly user: string
    readonly change: 'added' | 'accepted' | 'removed' | 'role'
    readonly role?: string
    readonly message?: string
    /** Set when the space was deleted; `by` is the user who deleted it. */
    readonly withSpace?: { readonly name: string; readonly by?: string }
    /** The user accepted an invitation, so the change is their own although the actor is the inviter. */
    readonly isAnswer?: boolean
  }
  /** Someone requested to join; `to` is the creator of the space. */
  'space.join-requested': { readonly user: string; readonly to: string }
  'space.request-rejected': { readonly user: string }
  /** An invitation to someone who has no account or is not visible to the inviter. */
  'space.invited': { readonly invitation: string; readonly user?: string }
  'space.invitation-ended': {
    readonly invitation: string
    readonly how: 'accepted' | 'declined' | 'withdrawn' | 'expired'
    readonly user?: string
  }
  'space.group-changed': { readonly group: string; readonly change: 'added' | 'removed' | 'role'; readonly role?: string }
  /** Subject: the user who requested it. */
  'bulk.requested': { readonly job: string }
  /** One part of a bulk job is done and more remain. */
  'bulk.advanced': { readonly job: string }
  'collection.created': None
  'collection.updated': { readonly fields: readonly string[] }
  /** Attached to or detached from a parent, child, dataset or space; `other` is that resource: a `space`, `dataset` or `collection`. */
  /** `isNew`: it was created there, so nothing is in it. `withOthers`: descendants of other owners enter the space too. */
  'collection.attached': { readonly other: Ref; readonly isNew?: boolean; readonly withOthers?: boolean }
  /** `withDatasets`: its datasets leave the space too, except those in another collection of the space. */
  'collection.detached': { readonly other: Ref; readonly withDatasets?: boolean }
  'collection.trashed': None
  'collection.restored': None
  /**
   * Its former containers and author, which cannot be looked up after the removal. Optional members of `*.removed` are absent in events stored by earlier
   * versions.
   */
  'collection.removed': {
    readonly wasTrashed: boolean
    readonly name: string
    readonly spaces: readonly string[]
    readonly parents?: readonly string[]
    readonly author?: string
  }
  'dataset.created': None
  'dataset.updated': { readonly fields: readonly string[] }
  'dataset.attached': { readonly other: Ref }
  'dataset.detached': { readonly other: Ref }
  'dataset.trashed': None
  'dataset.restored': None
  /** `wasImporting`: it never became visible and had no `dataset.created`. */
  'dataset.removed': {
    readonly wasTrashed: boolean
    readonly name: string
    readonly spaces: readonly string[]
    readonly collections?: readonly string[]
    readonly author?: string
    readonly wasImporting?: boolean
  }
  /** A copy became visible. `from`: the dataset it was copied from. */
  'dataset.copied': { readonly from: string }
  /** An imported dataset became visible with all its content. */
  'dataset.imported': None
  /** `entries`: the number of files and folders. */
  'dataset.downloaded': { readonly sizeBytes: number; readonly entries: number }
  /** Archiving or unarchiving all of its files was requested; `request` says which. */
  'dataset.archival-asked': { readonly request: string }
  /** Archiving was queued for this number of files. */
  'dataset.archival-queued': { readonly operation: 'archive' | 'unarchive'; readonly files: number }
  /** It has too many entries to sort on each request, so they must be indexed. */
  'dataset.entries-due': None
  /** One of its entries moved in the index of entries; `from` is null for a new entry, `to` for a removed one. For maintaining totals. */
  'dataset.entry-indexed': {
    readonly kind: 'folder' | 'file'
    readonly from: { readonly places: readonly string[]; readonly sizeBytes: number } | null
    readonly to: { readonly places: readonly string[]; readonly sizeBytes: number } | null
  }
  /**
   * All files of an upload batch have arrived; emitted again with the new total when more arrive later. `batch`: for `Files.ofBatch`. `inFolders`: none is in
   * the root. `extract`: requested for some of them.
   */
  'dataset.files-added': { readonly batch: string; readonly files: number; readonly inFolders: boolean; readonly extract: boolean }
  /** `isToldApart`: created for a file whose batch has its own feed line. */
  'folder.created': { readonly dataset: string; readonly isToldApart?: boolean }
  'folder.updated': { readonly dataset: string }
  /**
   * Moved to another folder of its dataset or to another dataset. `leaving`: its former parent; absent for folders that moved along with a folder above them,
   * whose events have no actor either.
   */
  'folder.moved': { readonly dataset: string; readonly from: string; readonly leaving?: Ref }
  'folder.removed': { readonly dataset: string; readonly parent?: Ref; readonly author?: string }
  /** `extract: false`: the uploader requested no extraction. */
  'file.created': {
    readonly dataset: string | null
    readonly folder: string | null
    readonly sizeBytes: number
    readonly extract: boolean
    /** Id of the API key used for the upload, so that jobs can run on its behalf. */
    readonly key: string | null
    /** The file was imported or copied with its dataset: not an upload, and no feed line besides that of the dataset. */
    readonly isImported?: boolean
    /** One of several files for which the client adds its own feed line. */
    readonly isToldApart?: boolean
    /** `file.scanned` or `file.quarantined` follows. */ readonly awaitsScan?: boolean
  }
  /** Uploaded as part of a batch with a client-chosen id. */
  'file.batched': { readonly dataset: string; readonly folder: string | null; readonly batch: string; readonly extract: boolean }
  'file.updated': { readonly fields: readonly string[] }
  /** A copy, which may not be visible yet. `from`: the file it was copied from. */
  'file.copied': { readonly from: string }
  'file.attached': { readonly dataset: string }
  /** Moved between folders of a dataset, or to or from its root. `from`: the folder it left. */
  'file.moved': { readonly dataset: string; readonly folder: string | null; readonly from?: string | null }
  /** `folder`: its former folder in the dataset. */
  'file.detached': { readonly dataset: string; readonly folder?: string | null }
  /**
   * Its locations in these datasets have changed. Part of every commit that changes the locations of a file; the other events do not cover all such changes.
   */
  'file.placed': { readonly datasets: readonly string[] }
  'file.removed': {
    readonly datasets: readonly string[]
    readonly blob: string | null
    readonly sizeBytes: number
    readonly name: string
    readonly contentType: string
    readonly folders?: readonly string[]
    readonly author?: string
    /** It never became visible and had no `file.created`. */
    readonly wasImporting?: boolean
  }
  /** `isTracked`: counted in the file's statistics. `isWhole`: no range was requested. Untracked downloads are reported only while there is an `EventSink`. */
  'file.downloaded': { readonly sizeBytes: number; readonly isTracked: boolean; readonly isWhole: boolean }
  /** A link with which anyone can download the file. `link`: the id of its record. Subject: the file. */
  'file.link-created': { readonly link: string; readonly expires: string }
  /** `maker`: the user who created the link. */
  'file.link-revoked': { readonly link: string; readonly maker: string }
  /** Emitted at most once a minute per link and address. */
  'file.link-used': { readonly link: string; readonly maker: string; readonly address: string }
  /** Someone tried to download it while it is archived; emitted at most once a day. */
  'file.wanted-from-archive': None
  /** Its stored bytes do not match their checksums; emitted once until they match again. `found`: by a download or by the periodic check. */
  'file.damaged': { readonly found: 'read' | 'scrub' }
  /** The periodic check found that the bytes of a damaged file match again. */
  'file.repaired': None
  'file.archived': { readonly sizeBytes: number }
  'file.unarchived': { readonly sizeBytes: number }
  /** `job`: id of the job whose extractor added it. */
  'metadata.added': { readonly target: Ref; readonly job?: string }
  'metadata.removed': { readonly target: Ref }
  /** `space`: the space it belongs to; null for the whole installation. */
  'definition.added': { readonly space: string | null }
  'definition.updated': { readonly space: string | null }
  'definition.removed': { readonly space: string | null }
  /** Subject: the tagged resource. */
  'tags.added': { readonly tags: readonly string[] }
  'tags.removed': { readonly tags: readonly string[] }
  /** Subject: the comment. */
  'comment.added': { readonly target: Ref }
  'comment.updated': { readonly target: Ref }
  'comment.removed': { readonly target: Ref }
  /** Someone is mentioned in a comment on the target, or next to one. Subject: that person; the actor is the commenter. `notice`: the stored notification. */
  'comment.mentioned': { readonly target: Ref; readonly notice: string; readonly comment?: string }
  'preview.attached': { readonly target: Ref }
  /** A preview, thumbnail or tile. `target`: the resource it showed, if any. */
  'preview.removed': { readonly blob: string | null; readonly target?: Ref | null }
  'thumbnail.attached': { readonly target: Ref }
  'section.created': { readonly file: string }
  'section.updated': { readonly file: string }
  'section.removed': { readonly file: string }
  'user.created': None
  /** Someone requested a link by mail, to sign up or to reset a password. Subject: anonymous, since the requester is unknown. */
  'account-link.requested': { readonly link: string }
  /** `status`: the new status, if it was changed. */
  'user.updated': { readonly fields: readonly string[]; readonly status?: AccountStatus }
  /** Signed in with email and password, or through a provider such as OpenID Connect. */
  'user.signed-in': { readonly address?: string }
  /** From now on the account can be signed in to through this identity provider. */
  'user.linked': { readonly provider: string }
  /** The subject is the account. `recoveryCodesLeft` is present when a recovery code was used. */
  'user.second-factor-changed': { readonly change: SecondFactorChange; readonly recoveryCodesLeft?: number }
  /** Someone signed in at a provider with the account's email address; the owner must confirm by mail. `link`: the pending link. */
  'user.link-requested': { readonly provider: string; readonly link: string }
  'user.erasure-requested': { readonly heir: string | null }
  'user.erased': { readonly heir: string | null }
  'user.followed': { readonly target: Ref }
  'user.unfollowed': { readonly target: Ref }
  'role.created': None
  /** `given` and `taken`: permissions. */
  'role.updated': { readonly fields: readonly string[]; readonly given: readonly string[]; readonly taken: readonly string[] }
  /** Members who had the role get the successor, if one is named, otherwise none. */
  'role.removed': { readonly name: string; readonly successor: string | null }
  'group.created': None
  'group.updated': { readonly fields: readonly string[] }
  'group.removed': { readonly name: string }
  'group.member-changed': { readonly user: string; readonly change: 'added' | 'removed' }
  /** `scope`, `verbs`, `spaces`, `expires`: the limits of the key. */
  'key.created': {
    readonly user: string
    readonly name: string
    readonly scope: string
    readonly verbs?: readonly string[]
    readonly spaces?: readonly string[]
    readonly expires?: string
  }
  /** `isExpired`: deleted because it expired long ago. */
  'key.revoked': { readonly user: string; readonly name: string; readonly isExpired?: boolean }
  /** Signed out in this browser, also because another account signed in there. */
  'user.signed-out': None
  /** Revoked by the user or a server admin; not emitted for sign-out or expiry. Subject: the user. */
  'session.ended': { readonly session: string }
  /** `manual`: a person requested this run; otherwise it was triggered by an upload, another event or a request to archive. */
  'extraction.submitted': {
    readonly target: Ref
    readonly extractor: string
    readonly trigger: 'upload' | 'event' | 'manual' | 'archive'
  }
  /** The run has ended. `state`: the outcome; absent in events of earlier versions. */
  'extraction.status': { readonly target: Ref; readonly extractor: string; readonly state?: 'done' | 'failed' | 'cancelled' }
  /** Subject: the user who changed the site settings. */
  'site.updated': { readonly fields: readonly string[] }
  /** Subject: the user who wrote to the server admins. */
  'letter.written': { readonly letter: string }
  /** Subject: the recipient. `about`: the kind of notification. */
  'notification.created': { readonly notification: string; readonly about: string }
  /** A mail digest is due. */
  'digest.due': None
  /** Subject: the owner. `space`: the space, for webhooks of spaces. */
  'webhook.created': { readonly webhook: string; readonly scope: 'person' | 'space' | 'server'; readonly space: string | null }
  'webhook.updated': { readonly webhook: string; readonly fields: readonly string[] }
  'webhook.removed': { readonly webhook: string }
  /** Paused by the server. `host`: the host of the target URL. `days`: the number of days with failures after which webhooks are paused. */
  'webhook.paused': {
    readonly webhook: string
    readonly reason: string
    readonly host: string
    readonly description?: string
    readonly days?: number
  }
  'extractor.registered': { readonly name: string }
  'sensor.created': None
  'sensor.updated': { readonly fields: readonly string[] }
  'sensor.removed': { readonly name: string }
  'stream.created': { readonly sensor: string }
  'stream.updated': { readonly fields: readonly string[] }
  'stream.removed': { readonly name: string; readonly sensor: string }
  /** Datapoints arrived in one request; `fromMs` and `toMs`: their first and last start. */
  'stream.datapoints-added': { readonly count: number; readonly fromMs: number; readonly toMs: number }
  'stream.datapoints-removed': { readonly count: number }
  /** Datapoints that were rejected but may have been stored, because the store became unavailable during the request; at most 1,000. */
  'stream.datapoints-abandoned': { readonly ids: readonly number[] }
}

type None = Readonly<Record<never, never>>
/** The name of an event: a key of `EventMap`. */
export type EventType = keyof EventMap

/** An event as created by a plugin with `event`; the kernel adds id and time. */
export interface NewEvent<T extends EventType = EventType> {
  readonly type: T
  readonly subject: Ref
  /** User id; absent for the system. */
  readonly actor?: string
  readonly data: EventMap[T]
}

/** An event as stored. */
export interface StoredEvent<T extends EventType = EventType> extends NewEvent<T> {
  /** Unique and in commit order within one kernel. */
  readonly id: string
  /** ISO 8601, UTC, milliseconds. */
  readonly at: string
}

/** Any event; switch on `type` to narrow its data. */
export type AnyEvent = { [T in EventType]: StoredEvent<T> }[EventType]

/** The event for a file whose locations change; must be part of each commit that changes them. */
export const filePlaced = (id: string, before: readonly Place[], after: readonly Place[]): NewEvent =>
  event('file.placed', { kind: 'file', id }, { datasets: [...new Set([...before, ...after].map(({ dataset }) => dataset))] })

/** Creates an event: `event('file.updated', { kind: 'file', id }, { fields: ['name'] }, caller.user?.id)`. */
export const event = <T extends EventType>(
  type: T,
  subject: { kind: Kind; id: string },
  data: EventMap[T],
  actor?: string,
): NewEvent<T> => ({
  type,
  subject: { kind: subject.kind, id: subject.id },
  data,
  ...(actor === undefined ? {} : { actor }),
})
