import { type StoredEvent, type Time, Users, wire } from 'pounce/sdk'

/** Marks the terms as accepted at a time by who wrote them. Twice is no error, nor is an account that is gone. */
export const acceptOwnTerms = async (users: Users, id: string, at: Time | null): Promise<void> => {
  const user = at === null ? undefined : await users.get(id)
  if (user && at !== null && (user.termsAccepted ?? '') < at) await users.change(id, { set: { termsAccepted: at } }, [])
}

/**
 * Who writes new terms has accepted them; everybody else has to do so again. The request that writes them says so at once, so that its sender is not
 * shut out meanwhile; this makes sure when it was cut short.
 */
export class AcceptTermsForAuthor {
  #users: Users

  constructor(users: Users) {
    this.#users = users
  }

  async handle({ subject, data, at }: StoredEvent<'site.updated'>): Promise<void> {
    if (data.fields.includes('tosText')) await acceptOwnTerms(this.#users, subject.id, at)
  }
}
wire(AcceptTermsForAuthor, Users)
