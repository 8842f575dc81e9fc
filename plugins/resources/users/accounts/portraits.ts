import { configPort, port, type Stored, type UserRecord, wire } from 'pounce/sdk'
import { config, type Settings } from '../config.ts'
import { type AccountStanding, Standing } from './standing.ts'
import { type OwnJson, toUserJson, type UserJson } from './user-json.ts'

/** Shows accounts in the way this installation is set. */
export class Portraits {
  #drawing: string
  #standing: AccountStanding

  constructor({ defaultGravatar }: Settings, standing: AccountStanding) {
    this.#standing = standing
    this.#drawing = defaultGravatar
  }

  of(user: UserRecord & Stored): UserJson {
    return toUserJson(user, this.#drawing)
  }

  /** For the owner of the account. */
  async ownOf(user: UserRecord & Stored): Promise<OwnJson> {
    const { termsPending } = await this.#standing.of(user)
    const { notifications = 'direct' } = user
    return { ...this.of(user), notifications, ...(termsPending ? { termsPending } : {}) }
  }
}
wire(Portraits, configPort(config), Standing)

/** Inside this plugin: how accounts are shown. */
export const People = port<Portraits>('users.people')
