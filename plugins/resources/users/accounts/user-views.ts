import { Installation, type Stored, type UserRecord, wire } from 'pounce/sdk'
import { AccountStatus } from './standing.ts'
import { type OwnJson, toUserJson, type UserJson } from './user-json.ts'

/** Shows accounts in the way this installation is set. */
export class UserViews {
  #installation: Installation
  #standing: AccountStatus

  constructor(installation: Installation, standing: AccountStatus) {
    this.#standing = standing
    this.#installation = installation
  }

  of(user: UserRecord & Stored): UserJson {
    return toUserJson(user, this.#installation.baseUrl)
  }

  /** For the owner of the account. */
  async ownOf(user: UserRecord & Stored): Promise<OwnJson> {
    const { termsPending } = await this.#standing.of(user)
    const { notifications = 'direct' } = user
    return { ...this.of(user), notifications, ...(termsPending ? { termsPending } : {}) }
  }
}
wire(UserViews, Installation, AccountStatus)
