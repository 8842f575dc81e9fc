import type { AccountStatus } from './model/caller.ts'
import type { Kind, Ref } from './model/kind.ts'
import type { SecondFactorChange } from './model/people.ts'
import type { Place } from './model/records.ts'
import type { ScanEvents } from './ports/malware-scan.ts'

/**
 * Every event and its members besides `subject`. An event states what happened and to what, never what to write:
 * handlers re-read the record. Names are past facts; plugins outside this tree add theirs by declaration merging.
 */
export interface EventMap extends ScanEvents {
  'space.created': None
  'space.updated': { readonly fields: readonly string[] }
  /** The trial is over; `space.updated` has the access. */
  'space.verified': None
  /** What is in it and older than its time to live should go: said now and then while that is on. */
  'space.expiry-due': None
  'space.removed': { readonly name: string }
  /** `accepted`: added because they had requested to join. `role`: the one held from now on. `message`: what is written to a new member besides. */
  'space.member-changed': {
    readonly user: string
    readonly change: 'added' | 'accepted' | 'removed' | 'role'
    readonly role?: string
    readonly message?: string
    /** The space was deleted; `by` whom. */
    readonly withSpace?: { readonly name: string; readonly by?: string }
    /** They accepted an invitation: their own doing, though the actor is who invited. */
    readonly isAnswer?: boolean
  }
  /** Someone requested to join; `to` created the space. */
  'space.join-requested': { readonly user: string; readonly to: string }
  'space.request-rejected': { readonly user: string }
  /** To someone who has no account yet, or whom the inviter may not see. */
  'space.invited': { readonly invitation: string; readonly user?: string }
  'space.invitation-ended': {
    readonly invitation: string
    readonly how: 'accepted' | 'declined' | 'withdrawn' | 'expired'
    readonly user?: string
  }
  'space.group-changed': { readonly group: string; readonly change: 'added' | 'removed' | 'role'; readonly role?: string }
  /** Subject: who requested it. */
  'bulk.requested': { readonly job: string }
  /** A part of a bulk job is done, and more is to do. */
  'bulk.advanced': { readonly job: string }
  'collection.created': None
  'collection.updated': { readonly fields: readonly string[] }
  /** A parent, child, dataset or space was attached or detached: `other` is what, `space`, `dataset` or `collection`. */
  'collection.attached': { readonly other: Ref }
  /** `withDatasets`: its datasets leave the space as well, but for those that another collection of the space holds. */
  'collection.detached': { readonly other: Ref; readonly withDatasets?: boolean }
  'collection.trashed': None
  'collection.restored': None
  /** Where it was, and whose it was: nothing else has that once it is gone. Members of `*.removed` that are optional are absent in what earlier versions stored. */
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
  /** `wasImporting`: it was never visible, and had no `dataset.created`. */
  'dataset.removed': {
    readonly wasTrashed: boolean
    readonly name: string
    readonly spaces: readonly string[]
    readonly collections?: readonly string[]
    readonly author?: string
    readonly wasImporting?: boolean
  }
  /** Of a copy, when it can be seen. `from`: what it was copied from. */
  'dataset.copied': { readonly from: string }
  /** It was built out of sight and is seen now, with all that is in it. */
  'dataset.imported': None
  /** `entries`: how many files and folders. */
  'dataset.downloaded': { readonly sizeBytes: number; readonly entries: number }
  /** Archiving all files of it, or bringing them back, was requested; `request` names which. */
  'dataset.archival-asked': { readonly request: string }
  /** Archiving was submitted for this number of files. */
  'dataset.archival-queued': { readonly operation: 'archive' | 'unarchive'; readonly files: number }
  /** It has more entries than are sorted on each request: they have to be indexed. */
  'dataset.entries-due': None
  /** One of its entries moved in its index of entries; `from` is null for a new one, `to` for a removed one. For maintaining totals. */
  'dataset.entry-indexed': {
    readonly kind: 'folder' | 'file'
    readonly from: { readonly places: readonly string[]; readonly sizeBytes: number } | null
    readonly to: { readonly places: readonly string[]; readonly sizeBytes: number } | null
  }
  /** All files of a batch of uploads are there; emitted again with the whole number when more arrive later. `batch`: for `Files.ofBatch`. `inFolders`: none is in the root. `extract`: requested with some. */
  'dataset.files-added': { readonly batch: string; readonly files: number; readonly inFolders: boolean; readonly extract: boolean }
  /** `isToldApart`: created for a file whose batch has its own feed line. */
  'folder.created': { readonly dataset: string; readonly isToldApart?: boolean }
  'folder.updated': { readonly dataset: string }
  /**
   * Into another folder of its dataset, or into another dataset. `leaving`: what it was right in; absent for those that follow a folder above
   * them, whose events have no actor either.
   */
  'folder.moved': { readonly dataset: string; readonly from: string; readonly leaving?: Ref }
  'folder.removed': { readonly dataset: string; readonly parent?: Ref; readonly author?: string }
  /** `extract: false` when the uploader requested no extraction. */
  'file.created': {
    readonly dataset: string | null
    readonly folder: string | null
    readonly sizeBytes: number
    readonly extract: boolean
    /** Id of the key the upload was made with, so that jobs can run in its name. */
    readonly key: string | null
    /** It came with its dataset, which was imported or copied: no upload, and no feed line besides the dataset's. */
    readonly isImported?: boolean
    /** One of several for which the client adds a feed line by itself. */
    readonly isToldApart?: boolean
    /** `file.scanned` or `file.quarantined` follows. */ readonly awaitsScan?: boolean
  }
  /** Uploaded as one of a batch, a word of the client's. */
  'file.batched': { readonly dataset: string; readonly folder: string | null; readonly batch: string; readonly extract: boolean }
  'file.updated': { readonly fields: readonly string[] }
  /** Of a copy, that may not be seen yet. `from`: what it was copied from. */
  'file.copied': { readonly from: string }
  'file.attached': { readonly dataset: string }
  /** From one folder of a dataset to another one, or to or from its root. `from`: the folder it left. */
  'file.moved': { readonly dataset: string; readonly folder: string | null; readonly from?: string | null }
  /** `folder`: of the dataset, where it was. */
  'file.detached': { readonly dataset: string; readonly folder?: string | null }
  /** Its places in these datasets have changed. A part of each commit that changes the places of a file: other events do not cover all changes. */
  'file.placed': { readonly datasets: readonly string[] }
  'file.removed': {
    readonly datasets: readonly string[]
    readonly blob: string | null
    readonly sizeBytes: number
    readonly name: string
    readonly contentType: string
    readonly folders?: readonly string[]
    readonly author?: string
    /** It was never visible, and had no `file.created`. */
    readonly wasImporting?: boolean
  }
  /** `isTracked`: counted in the file's statistics. `isWhole`: no range was requested; said of untracked downloads only while an `EventSink` is there. */
  'file.downloaded': { readonly sizeBytes: number; readonly isTracked: boolean; readonly isWhole: boolean }
  /** A link by which anyone can download the file. `link`: id of its record. Subject: the file. */
  'file.link-created': { readonly link: string; readonly expires: string }
  /** `maker`: whose link it was. */
  'file.link-revoked': { readonly link: string; readonly maker: string }
  /** Said at most once a minute for each link and address. */
  'file.link-used': { readonly link: string; readonly maker: string; readonly address: string }
  /** Someone tried to download it while it is archived; said once a day. */
  'file.wanted-from-archive': None
  /** Its stored bytes do not match their checksums; said once until they do again. `found`: by a download, or by the regular check. */
  'file.damaged': { readonly found: 'read' | 'scrub' }
  /** The regular check found the bytes of a damaged file to be right again. */
  'file.repaired': None
  'file.archived': { readonly sizeBytes: number }
  'file.unarchived': { readonly sizeBytes: number }
  'metadata.added': { readonly target: Ref }
  'metadata.removed': { readonly target: Ref }
  /** `space`: whose it is; null for one of the whole installation. */
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
  /** Someone is mentioned in a comment on the target, or beside one. Subject: that person; the actor is who commented. `notice`: what is kept of it. */
  'comment.mentioned': { readonly target: Ref; readonly notice: string; readonly comment?: string }
  'preview.attached': { readonly target: Ref }
  /** Of previews, thumbnails and tiles. `target`: what it showed, if anything. */
  'preview.removed': { readonly blob: string | null; readonly target?: Ref | null }
  'thumbnail.attached': { readonly target: Ref }
  'section.created': { readonly file: string }
  'section.updated': { readonly file: string }
  'section.removed': { readonly file: string }
  'user.created': None
  /** Someone wants a link by mail, to sign up or to set another password. Subject: no one in particular, for who it was is not known. */
  'account-link.requested': { readonly link: string }
  /** `status`: the new standing, where that was changed. */
  'user.updated': { readonly fields: readonly string[]; readonly status?: AccountStatus }
  /** By e-mail and password, or at a site such as an OpenID provider. */
  'user.signed-in': { readonly address?: string }
  /** Anyone who the provider says this is opens the account from now on. */
  'user.linked': { readonly provider: string }
  /** The subject is the account. `recoveryCodesLeft` is said when one was used. */
  'user.second-factor-changed': { readonly change: SecondFactorChange; readonly recoveryCodesLeft?: number }
  /** Someone signed in elsewhere with the address of the account, whose owner must confirm by mail. `link`: the pending link. */
  'user.link-requested': { readonly provider: string; readonly link: string }
  'user.erasure-requested': { readonly heir: string | null }
  'user.erased': { readonly heir: string | null }
  'user.followed': { readonly target: Ref }
  'user.unfollowed': { readonly target: Ref }
  'role.created': None
  /** `given` and `taken`: permissions. */
  'role.updated': { readonly fields: readonly string[]; readonly given: readonly string[]; readonly taken: readonly string[] }
  /** Who held it holds the successor, which it names, or nothing. */
  'role.removed': { readonly name: string; readonly successor: string | null }
  'group.created': None
  'group.updated': { readonly fields: readonly string[] }
  'group.removed': { readonly name: string }
  'group.member-changed': { readonly user: string; readonly change: 'added' | 'removed' }
  /** `scope`, `verbs`, `spaces`, `expires`: how far it reaches. */
  'key.created': {
    readonly user: string
    readonly name: string
    readonly scope: string
    readonly verbs?: readonly string[]
    readonly spaces?: readonly string[]
    readonly expires?: string
  }
  /** `isExpired`: by its age, long after it was of use. */
  'key.revoked': { readonly user: string; readonly name: string; readonly isExpired?: boolean }
  /** In this browser; also when another account signs in there. */
  'user.signed-out': None
  /** Revoked by the person or by a server admin; not: signed out, or over. Subject: whose it was. */
  'session.ended': { readonly session: string }
  /** `manual`: a person requested this very run; otherwise it follows from an upload, another event, or a request to archive. */
  'extraction.submitted': {
    readonly target: Ref
    readonly extractor: string
    readonly trigger: 'upload' | 'event' | 'manual' | 'archive'
  }
  /** The run ended. `state`: how; absent of events of versions before it. */
  'extraction.status': { readonly target: Ref; readonly extractor: string; readonly state?: 'done' | 'failed' | 'cancelled' }
  /** Subject: who changed the settings of the site. */
  'site.updated': { readonly fields: readonly string[] }
  /** Subject: who wrote to the server admins. */
  'letter.written': { readonly letter: string }
  /** Subject: who is notified. `about`: the kind of notification. */
  'notification.created': { readonly notification: string; readonly about: string }
  /** A digest is to be sent by mail. */
  'digest.due': None
  /** Subject: the owner. `space`: of a webhook of a space. */
  'webhook.created': { readonly webhook: string; readonly scope: 'person' | 'space' | 'server'; readonly space: string | null }
  'webhook.updated': { readonly webhook: string; readonly fields: readonly string[] }
  'webhook.removed': { readonly webhook: string }
  /** By the server. `host`: of its target. `days`: of failures after which webhooks are paused. */
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
  /** Readings came in one request; `fromMs` and `toMs`: the first and the last of their starts. */
  'stream.datapoints-added': { readonly count: number; readonly fromMs: number; readonly toMs: number }
  'stream.datapoints-removed': { readonly count: number }
  /** Readings that were refused, but may have been stored because their store became unavailable meanwhile; at most 1,000. */
  'stream.datapoints-abandoned': { readonly ids: readonly number[] }
}

type None = Readonly<Record<never, never>>
/** The name of an event: a key of `EventMap`. */
export type EventType = keyof EventMap

/** An event as a plugin states it; the kernel's ids and clock complete it. Made by `event`. */
export interface NewEvent<T extends EventType = EventType> {
  readonly type: T
  readonly subject: Ref
  /** User id; absent for the system itself. */
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

/** Any event: switch on `type` to know its data. */
export type AnyEvent = { [T in EventType]: StoredEvent<T> }[EventType]

/** States that a file lies elsewhere: a part of each commit that changes its places. */
export const placed = (id: string, before: readonly Place[], after: readonly Place[]): NewEvent =>
  event('file.placed', { kind: 'file', id }, { datasets: [...new Set([...before, ...after].map(({ dataset }) => dataset))] })

/** States an event: `event('file.updated', { kind: 'file', id }, { fields: ['name'] }, caller.user?.id)`. */
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
