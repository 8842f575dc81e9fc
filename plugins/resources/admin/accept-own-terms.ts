import { type StoredEvent, Users, wire } from 'pounce/sdk'

/** Who writes new terms has accepted them; everybody else has to do so again. */
export class AcceptOwnTerms {
  #users: Users

  constructor(users: Users) {
    this.#users = users
  }

  async handle({ subject, data, at }: StoredEvent<'site.updated'>): Promise<void> {
    const user = data.fields.includes('tosText') ? await this.#users.get(subject.id) : undefined
    if (user && (user.termsAccepted ?? '') < at) await this.#users.change(user.id, { set: { termsAccepted: at } }, [])
  }
}
wire(AcceptOwnTerms, Users)
