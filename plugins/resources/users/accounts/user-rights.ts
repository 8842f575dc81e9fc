import { type Rights, type RightsOf, Users, wire } from 'pounce/sdk'

/** An account is its owner's; people of the same spaces may look at it. The policy lets server admins in. */
export class UserRights implements RightsOf {
  readonly kind = 'user'
  #users: Users

  constructor(users: Users) {
    this.#users = users
  }

  async rightsOf(ids: readonly string[]): Promise<ReadonlyMap<string, Rights>> {
    const found = await this.#users.getMany(ids)
    const rights = new Map<string, Rights>()
    for (const [id, user] of found) {
      const spaces = (await this.#users.membershipsOf(user)).map(({ space }) => space)
      rights.set(id, { author: id, spaces, isPublic: false, state: 'live' })
    }
    return rights
  }
}
wire(UserRights, Users)
