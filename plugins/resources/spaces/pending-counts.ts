import { type Caller, Spaces, type Stored, type UserRecord, wire } from 'pounce/sdk'
import type { AccountSummary, SessionSource } from 'pounce/sdk/kit'
import { Invitations } from './invitations.ts'

const maxCounted = 100

/** Maximum number of spaces of one account that are read. */
const maxSpaces = 200

/** Open invitations of a user, and join requests for the spaces that they manage. */
export class PendingCounts implements SessionSource {
  readonly #invitations: Invitations
  readonly #spaces: Spaces

  constructor(invitations: Invitations, spaces: Spaces) {
    this.#invitations = invitations
    this.#spaces = spaces
  }

  async summaryOf(user: UserRecord & Stored, { user: standing }: Caller): Promise<AccountSummary> {
    const administered = (standing?.memberships ?? []).filter(({ permissions }) => permissions.has('EditSpace')).map(({ space }) => space)
    const [invitations, spaces] = await Promise.all([
      this.#invitations.of(user, { limit: maxCounted }),
      this.#spaces.getMany([...new Set(administered)].slice(0, maxSpaces)),
    ])
    const requests = [...spaces.values()].reduce((sum, space) => sum + (space.state === 'live' ? space.requests.length : 0), 0)
    return { counts: { invitations: invitations.items.length, requests: Math.min(requests, maxCounted) } }
  }
}
wire(PendingCounts, Invitations, Spaces)
