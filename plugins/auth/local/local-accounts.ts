import { type AuthProvider, Passwords, Users, type VerifiedIdentity, wire } from 'pounce/sdk'

/** Local accounts: e-mail and password. The e-mail is not verified by anybody, so it links to no other account. */
export class LocalAccounts implements AuthProvider {
  readonly id = 'userpass'
  readonly label = 'E-mail and password'
  #users: Users
  #passwords = new Passwords()

  constructor(users: Users) {
    this.#users = users
  }

  async password(email: string, password: string): Promise<VerifiedIdentity | undefined> {
    const account = await this.#users.byEmail(email)
    const user = account?.provider === this.id ? account : undefined
    const isRight = await this.#passwords.verify(password, user?.passwordHash)
    if (!user || !isRight) return undefined
    const { email: subject, firstName, lastName } = user
    return { provider: this.id, subject, email: subject, isEmailVerified: false, firstName, lastName, groups: [] }
  }
}
wire(LocalAccounts, Users)
