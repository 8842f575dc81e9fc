import type { Caller } from '../model/caller.ts'
import type { UserRecord } from '../model/people.ts'
import { contributions, type Port } from '../port.ts'
import { wire } from '../wire.ts'
import type { Stored } from './document-store.ts'

/** For how long a trash keeps what is deleted. */
export interface TrashCapability {
  /** Days after which it is deleted for good; 0: never. */
  readonly clearAfterDays: number
}

/** Features of an installation, for clients that hide disabled ones. The same for everyone, so it reveals nothing about accounts. */
export interface Capabilities {
  /** Whether people make accounts themselves; `approval`: a server admin activates them. */
  readonly signUp: 'open' | 'approval' | 'off'
  /** Whether emails leave the server. */
  readonly mail: boolean
  /** Whether everyone may download what is public. */
  readonly anonymousDownload: boolean
  readonly uploads: {
    /** Of resumable uploads (tus); null where there are none. */
    readonly resumable: { readonly path: string; readonly maxBytes: number; readonly maxOpen: number; readonly expireHours: number } | null
    /** Of a file from a URL, in bytes. */
    readonly maxUrlBytes: number | null
  }
  /** By kind; null where deleting is final. */
  readonly trash: { readonly datasets: TrashCapability | null; readonly collections: TrashCapability | null }
  /** Path of the stream of live events; null where there is none. */
  readonly live: string | null
  readonly geostreams: boolean
  readonly search: { readonly maxQueryLength: number; readonly maxPageSize: number; readonly maxOffset: number } | null
}

type Part<T> = { readonly [K in keyof T]?: T[K] extends object ? Partial<T[K]> : T[K] }

/** What one plugin adds to the capabilities. Members of `uploads` and `trash` come from several. */
export type CapabilityPart = Part<Capabilities>

/** What a client first needs of the caller's account. */
export interface AccountFacts {
  /** What it stores; a limit of 0 is none. Absent where nothing is counted. */
  readonly storage?: { readonly usedBytes: number; readonly maxBytes: number; readonly usedFiles: number; readonly maxFiles: number }
  readonly counts?: {
    /** To spaces, counted up to 100. */
    readonly invitations?: number
    /** Of others to join spaces that the account administers, counted up to 100. */
    readonly requests?: number
    /** Unread, counted up to 100. */
    readonly notifications?: number
  }
}

/** What a plugin adds to the answer of `GET /api/session`, which clients request before anything else: no more than a read or two. */
export interface SessionSource {
  readonly capabilities?: CapabilityPart
  /** Only for callers with the whole of their account: never for limited keys, nor while the terms of service are not accepted. */
  factsOf?(user: UserRecord & Stored, caller: Caller): Promise<AccountFacts>
}
/** Plugins that report their features to clients. */
export const SessionSources = contributions<SessionSource>('sessionSources')

/** The `SessionSource` of a plugin whose settings say what it offers. */
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
