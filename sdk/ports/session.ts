import type { Caller } from '../model/caller.ts'
import type { UserRecord } from '../model/people.ts'
import { contributions, type Port } from '../port.ts'
import { wire } from '../wire.ts'
import type { Stored } from './document-store.ts'

/** How long the trash keeps deleted resources. */
export interface TrashCapability {
  /** Days until permanent deletion; 0: never. */
  readonly clearAfterDays: number
}

/** Features of an installation, so that clients can hide disabled ones. The same for everyone, so that they reveal nothing about accounts. */
export interface Capabilities {
  /** Whether people can create accounts themselves; `approval`: a server admin activates them. */
  readonly signUp: 'open' | 'approval' | 'off'
  /** Whether the server sends mail. */
  readonly mail: boolean
  /** Whether anonymous users may download public resources. */
  readonly anonymousDownload: boolean
  readonly uploads: {
    /** For resumable uploads (tus); null if unsupported. */
    readonly resumable: { readonly path: string; readonly maxBytes: number; readonly maxOpen: number; readonly expireHours: number } | null
    /** For a file from a URL, in bytes. */
    readonly maxUrlBytes: number | null
  }
  /** Per kind; null if deletion is final. */
  readonly trash: { readonly datasets: TrashCapability | null; readonly collections: TrashCapability | null }
  /** Path of the live event stream; null if there is none. */
  readonly live: string | null
  readonly geostreams: boolean
  readonly search: { readonly maxQueryLength: number; readonly maxPageSize: number; readonly maxOffset: number } | null
}

type Part<T> = { readonly [K in keyof T]?: T[K] extends object ? Partial<T[K]> : T[K] }

/** A plugin's part of the capabilities. Several plugins contribute members of `uploads` and `trash`. */
export type CapabilityPart = Part<Capabilities>

/** What a client initially needs to know about the caller's account. */
export interface AccountSummary {
  /** Storage usage; a limit of 0 means unlimited. Absent if usage is not tracked. */
  readonly storage?: { readonly usedBytes: number; readonly maxBytes: number; readonly usedFiles: number; readonly maxFiles: number }
  readonly counts?: {
    /** Invitations to spaces, counted up to 100. */
    readonly invitations?: number
    /** Requests to join spaces that the account administers, counted up to 100. */
    readonly requests?: number
    /** Unread, counted up to 100. */
    readonly notifications?: number
  }
}

/** A plugin's part of the response of `GET /api/session`, which clients request before anything else: use one or two reads at most. */
export interface SessionSource {
  readonly capabilities?: CapabilityPart
  /** Only called for callers with full access to their account: never for limited keys or before the terms of service are accepted. */
  summaryOf?(user: UserRecord & Stored, caller: Caller): Promise<AccountSummary>
}
/** Plugins that report features to clients. */
export const SessionSources = contributions<SessionSource>('sessionSources')

/** Creates the `SessionSource` of a plugin whose features depend only on its settings. */
export const capabilitiesBy = <T>(config: Port<T>, of: (settings: T) => CapabilityPart): (new (settings: T) => SessionSource) => {
  class OfSettings implements SessionSource {
    readonly capabilities: CapabilityPart

    constructor(settings: T) {
      this.capabilities = of(settings)
    }
  }
  wire(OfSettings, config)
  return OfSettings
}
