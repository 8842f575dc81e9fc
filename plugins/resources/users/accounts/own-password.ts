import {
  CommitConflict,
  Conflict,
  eq,
  event,
  Forbidden,
  Passwords,
  StepUpRequired,
  type Stored,
  type UserRecord,
  Users,
  wire,
} from 'pounce/sdk'
import { AccountSignIn } from '../sign-in/sign-in.ts'

type User = UserRecord & Stored

/** Lets people change their own password, when they know the present one. */
export class PasswordChange {
  #users: Users
  #signIn: AccountSignIn
  #passwords = new Passwords()

  constructor(users: Users, signIn: AccountSignIn) {
    this.#users = users
    this.#signIn = signIn
  }

  /**
   * The account as it is then; all its sessions have ended. The present password is tried at the same door as when signing in: `NotSignedIn` for a
   * wrong one, `TooMany` after too many.
   */
  async change(
    id: string,
    present: string,
    next: string,
    { revokesKeys, address, isBySession }: { readonly revokesKeys: boolean; readonly address: string; readonly isBySession: boolean },
  ): Promise<User> {
    const user = await this.#users.get(id)
    if (user?.provider !== 'userpass') throw new Forbidden('This account signs in with a provider and has no password here')
    if (user.secondFactor && !isBySession)
      throw new StepUpRequired('Changing the password of an account with a second factor requires a session that has used it')
    const { passwordHash } = await this.#signIn.withBasic(user.email, present, address)
    const changed = event('user.updated', { kind: 'user', id }, { fields: revokesKeys ? ['password', 'keys'] : ['password'] }, id)
    const set = { passwordHash: await this.#passwords.hash(next) }
    try {
      return await this.#users.change(id, { set, where: eq('passwordHash', passwordHash) }, [changed])
    } catch (error) {
      throw error instanceof CommitConflict ? new Conflict('The password was changed concurrently', { cause: error }) : error
    }
  }
}
wire(PasswordChange, Users, AccountSignIn)
