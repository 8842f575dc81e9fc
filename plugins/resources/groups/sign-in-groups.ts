import { Groups, type SignInStep, type Stored, type UserRecord, type VerifiedIdentity, wire } from 'pounce/sdk'

/** At each sign-in a person is put into the groups that the provider names, and out of those that it names no longer. */
export class SignInGroups implements SignInStep {
  #groups: Groups

  constructor(groups: Groups) {
    this.#groups = groups
  }

  async signedIn({ id }: UserRecord & Stored, { provider, groups }: VerifiedIdentity): Promise<void> {
    if (groups) await this.#groups.assignExternal(id, provider, groups)
  }
}
wire(SignInGroups, Groups)
