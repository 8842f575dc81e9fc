import { type CallerUser, type Contributions, type Site, Sites, type Stored, type UserRecord, wire } from 'pounce/sdk'
import { acceptsTerms, fullNameOf } from 'pounce/sdk/kit'
import { EffectiveRoles } from '../roles/effective-roles.ts'

type User = UserRecord & Stored

/** The status and restrictions of an account, for requests and for background work. */
export class CallerUsers {
  #roles: EffectiveRoles
  #sites: Contributions<Site>

  constructor(held: EffectiveRoles, sites: Contributions<Site>) {
    this.#roles = held
    this.#sites = sites
  }

  async of(user: User): Promise<CallerUser> {
    const { id, email, status } = user
    const known = { id, email, fullName: fullNameOf(user), status, memberships: await this.#roles.of(user) }
    return (await this.#acceptsTerms(user)) ? known : { ...known, termsPending: true }
  }

  async #acceptsTerms(user: User): Promise<boolean> {
    const [site] = this.#sites.all()
    return site === undefined || acceptsTerms(user, await site.settings())
  }
}
wire(CallerUsers, EffectiveRoles, Sites)
