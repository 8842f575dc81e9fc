import { configPort, port, type Stored, type UserRecord, wire } from 'pounce/sdk'
import { config, type Settings } from './config.ts'
import { toUserJson, type UserJson } from './user-json.ts'

/** Shows accounts in the way this installation is set. */
export class Portraits {
  #drawing: string

  constructor({ defaultGravatar }: Settings) {
    this.#drawing = defaultGravatar
  }

  of(user: UserRecord & Stored): UserJson {
    return toUserJson(user, this.#drawing)
  }
}
wire(Portraits, configPort(config))

/** Inside this plugin: how accounts are shown. */
export const People = port<Portraits>('users.people')
