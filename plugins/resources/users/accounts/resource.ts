import { defineResource, type Rights, type UserRecord, Users, wire } from 'pounce/sdk'
import { fullNameOf, type RightsSource } from 'pounce/sdk/kit'
import { users } from '../collections.ts'

/** An account belongs to its user; members of the same spaces may view it. The policy grants server admins access. */
class UserRights implements RightsSource {
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

/** The personal data is in several collections: see `personal-data.ts`. */
export const userResource = defineResource<UserRecord>({
  kind: 'user',
  collection: users,
  view: 'ViewUser',
  rightsSource: UserRights,
  follow: fullNameOf,
  report: {},
  // Followed resources are not included: only `resources.following` removes deleted ones.
  references: ({ memberships }) => memberships.map(({ space: id }) => ({ kind: 'space', id })),
})
