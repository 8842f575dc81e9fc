import { type AuditTrail, AuditTrails, type Contributions, Log, noteIn, Users, wire } from 'pounce/sdk'

/** Notes for the audit log who was turned away at a door. Counted there, so that masses of tries are few lines. */
export class SignInFailureAudit {
  #users: Users
  #trails: Contributions<AuditTrail>
  #log: Log

  constructor(users: Users, trails: Contributions<AuditTrail>, log: Log) {
    this.#users = users
    this.#trails = trails
    this.#log = log
  }

  /** Of a name that is nobody's only the door is noted: people type passwords where names belong. */
  async password(name: string, address: string, door: 'password' | 'second-factor'): Promise<void> {
    await this.#note(async () => (await this.#users.byEmail(name))?.id, door, address)
  }

  /** A wrong key, token or link, which is nobody's. */
  async key(address: string): Promise<void> {
    await this.#note(async () => undefined, 'key', address)
  }

  /** A refusal stays one when it cannot be noted. */
  async #note(whose: () => Promise<string | undefined>, door: string, address: string): Promise<void> {
    try {
      const user = await whose()
      await noteIn(this.#trails, { type: 'sign-in.refused', ...(user ? { user } : {}), about: { door }, address, isCounted: true })
    } catch (error) {
      this.#log.warn('failed to record a refused sign-in', { door, error })
    }
  }
}
wire(SignInFailureAudit, Users, AuditTrails, Log)
