import type { Ref } from '../model/kind.ts'
import type { UserRecord } from '../model/people.ts'
import type { Time } from '../model/records.ts'
import { port } from '../port.ts'
import type { Stored } from './document-store.ts'

/** A resource named in a line of the feed. */
export interface FeedResource extends Ref {
  readonly name: string
}

/** A line of the activity feed. */
export interface FeedLine {
  readonly id: string
  readonly at: Time
  /** The type in v1, such as `create_dataset`. */
  readonly type: string
  /** The acting user, and their name; the name is empty if the account was deleted. */
  readonly user: string
  readonly who: string
  readonly object: FeedResource | null
  readonly source: FeedResource | null
}

/** The activity feed, for delivery to people. */
export interface Feed {
  /**
   * Actions of others on resources that the person follows and may view now, after `since` and up to `until`, newest first; except those directed at this
   * person, which are mailed separately. `isCut`: there are more. Empty if the feed is disabled.
   */
  recentLines(
    user: UserRecord & Stored,
    span: { readonly since: Time; readonly until: Time; readonly limit: number },
  ): Promise<{ readonly lines: readonly FeedLine[]; readonly isCut: boolean }>
}
export const Feed = port<Feed>('feed')
