import { type Caller, Policy, Users, wire } from 'pounce/sdk'
import type { Webhook } from './records.ts'

/** The owners of webhooks and their rights. */
export class WebhookOwners {
  readonly #users: Users
  readonly #policy: Policy

  constructor(users: Users, policy: Policy) {
    this.#users = users
    this.#policy = policy
  }

  /** The owner with their current rights; undefined for one who may no longer have such a webhook. */
  async callerOf({ owner, scope, space }: Webhook): Promise<Caller | undefined> {
    const user = await this.#users.get(owner)
    if (!user || user.status === 'Inactive') return undefined
    const caller = await this.#users.callerOf(user)
    if (scope === 'person') return caller
    if (scope === 'server') return user.status === 'Admin' ? { ...caller, superAdmin: true } : undefined
    return (await this.#policy.canOn(caller, 'EditSpace', { kind: 'space', id: space ?? '' })) === 'yes' ? caller : undefined
  }
}
wire(WebhookOwners, Users, Policy)
