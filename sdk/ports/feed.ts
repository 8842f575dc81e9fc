import type { Ref } from '../model/kind.ts'
import type { UserRecord } from '../model/people.ts'
import type { Time } from '../model/records.ts'
import { port } from '../port.ts'
import type { Stored } from './document-store.ts'

/** A resource that a line of the feed names. */
export interface FeedResource extends Ref {
  readonly name: string
}

/** A line of the activity feed. */
export interface FeedLine {
  readonly id: string
  readonly at: Time
  /** v1's word, such as `create_dataset`. */
  readonly type: string
  /** Name of who did it; empty when the account is gone. */
  readonly who: string
  readonly object: FeedResource | null
  readonly source: FeedResource | null
}

/** The activity feed, for those who bring it to people. */
export interface Feed {
  /**
   * What others did, of what the person follows and may see now, after `since` and up to `until`, newest first; without what was aimed at this very person,
   * who gets a mail of it. `isCut`: there was more. None where the feed is switched off.
   */
  newsFor(
    user: UserRecord & Stored,
    span: { readonly since: Time; readonly until: Time; readonly limit: number },
  ): Promise<{ readonly lines: readonly FeedLine[]; readonly isCut: boolean }>
}
export const Feed = port<Feed>('feed')
