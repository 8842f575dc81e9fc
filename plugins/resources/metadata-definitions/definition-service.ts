import { type Caller, Forbidden, isServerAdmin, NotFound, NotSignedIn, Policy, wire } from 'pounce/sdk'
import { everywhere } from './collection.ts'
import { type Definition, StoredDefinitions } from './stored-definitions.ts'

/** Definitions as far as a caller may see and change them. */
export class DefinitionService {
  #policy: Policy
  #definitions: StoredDefinitions

  constructor(policy: Policy, definitions: StoredDefinitions) {
    this.#policy = policy
    this.#definitions = definitions
  }

  /** `NotFound` also for one of a space that the caller may not look at. */
  async visible(caller: Caller, id: string): Promise<Definition> {
    const definition = await this.#definitions.get(id)
    if (!definition) throw new NotFound('definition')
    const { scope } = definition
    if (scope !== everywhere && (await this.#policy.canOn(caller, 'ViewSpace', { kind: 'space', id: scope })) !== 'yes') {
      throw new NotFound('definition')
    }
    return definition
  }

  /** That of a space is for those who may edit the space, that of the installation for server admins. */
  async editable(caller: Caller, id: string): Promise<Definition> {
    const definition = await this.visible(caller, id)
    const { scope } = definition
    const may =
      scope === everywhere ? isServerAdmin(caller) : (await this.#policy.canOn(caller, 'EditSpace', { kind: 'space', id: scope })) === 'yes'
    if (may) return definition
    if (caller.via === 'nothing') throw new NotSignedIn()
    const who = scope === everywhere ? 'server admin required' : 'EditSpace on its space'
    throw new Forbidden(`Permission denied on this definition: ${who}`)
  }

  /** Of these spaces those that the caller may look at. */
  async visibleSpaces(caller: Caller, spaces: readonly string[]): Promise<readonly string[]> {
    return [...(await this.#policy.allowed(caller, 'ViewSpace', 'space', spaces))]
  }
}
wire(DefinitionService, Policy, StoredDefinitions)
