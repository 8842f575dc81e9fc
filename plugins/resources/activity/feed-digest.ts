import { type After, configPort, type Feed, type Ref, type Stored, type UserRecord, Users, wire } from 'pounce/sdk'
import { type FeedLine, type FeedResource, fullNameOf } from 'pounce/sdk/kit'
import { config, type Settings } from './config.ts'
import type { ActivityRecord } from './feed-names.ts'
import { FeedVisibility } from './feed-pages.ts'
import { StoredActivity } from './stored-activity.ts'

type Line = ActivityRecord & Stored

const pageSize = 200
/** The number of pages read to skip entries that are hidden from the reader or are their own. The reads are bounded. */
const maxReads = 10
/** Sorts after every id. */
const afterAll = 'g'

const feedResource = (ref: Ref | null, name: string): FeedResource | null => ref && { ...ref, name }

/** The feed as sent in notifications, filtered by the same rule as the activity page. */
export class FeedDigest implements Feed {
  #isShown: boolean
  #activity: StoredActivity
  #rights: FeedVisibility
  #users: Users

  constructor({ disableEvents }: Settings, activity: StoredActivity, rights: FeedVisibility, users: Users) {
    this.#isShown = !disableEvents
    this.#activity = activity
    this.#rights = rights
    this.#users = users
  }

  async recentLines(
    user: UserRecord & Stored,
    { since, until, limit }: Parameters<Feed['recentLines']>[1],
  ): Promise<{ readonly lines: readonly FeedLine[]; readonly isCut: boolean }> {
    if (!this.#isShown) return { lines: [], isCut: false }
    const caller = await this.#users.callerOf(user)
    const spaces = (caller.user?.memberships ?? []).filter(({ permissions }) => permissions.has('ViewComments')).map(({ space }) => space)
    const { id, followed } = user
    const found: Line[] = []
    let next: After | undefined = [until, afterAll]
    for (let reads = 0; reads < maxReads && next && found.length <= limit; reads += 1) {
      const page = await this.#activity.feedOf({ id, followed, spaces }, { limit: pageSize, after: next })
      const fresh = page.items.filter(({ at }) => at > since)
      const unread = fresh.filter(line => line.user !== id && line.target !== id)
      found.push(...(await this.#rights.visible(caller, unread)))
      next = fresh.length < page.items.length ? undefined : page.next
    }
    const isCut = found.length > limit || next !== undefined
    return { lines: await this.#named(found.slice(0, limit)), isCut: isCut && found.length > 0 }
  }

  async #named(lines: readonly Line[]): Promise<readonly FeedLine[]> {
    const people = await this.#users.getMany([...new Set(lines.map(line => line.user))])
    return lines.map(({ id, at, type, user, object, objectName, source, sourceName }) => {
      const person = people.get(user)
      const who = person ? fullNameOf(person) : ''
      return { id, at, type, user, who, object: feedResource(object, objectName), source: feedResource(source, sourceName) }
    })
  }
}
wire(FeedDigest, configPort(config), StoredActivity, FeedVisibility, Users)
