import { type Caller, Policy, Spaces, Users, wire } from 'pounce/sdk'
import type { Webhook } from './records.ts'

/** The owners of webhooks and their rights. */
export class WebhookOwners {
  readonly #users: Users
  readonly #policy: Policy
  readonly #spaces: Spaces

  constructor(users: Users, policy: Policy, spaces: Spaces) {
    this.#users = users
    this.#policy = policy
    this.#spaces = spaces
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

  /** Whether the space of a webhook was deleted: the webhook is about to be deleted too. */
  async hasLostSpace({ scope, space }: Webhook): Promise<boolean> {
    return scope === 'space' && (await this.#spaces.get(space ?? '')) === undefined
  }
}
wire(WebhookOwners, Users, Policy, Spaces)
