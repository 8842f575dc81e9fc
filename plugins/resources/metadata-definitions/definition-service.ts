import {
  type Caller,
  type Contributions,
  Forbidden,
  NotFound,
  NotSignedIn,
  Policy,
  type Ref,
  type Resource,
  Resources,
  wire,
} from 'pounce/sdk'
import { requireServerAdmin } from 'pounce/sdk/kit'
import { everywhere } from './collection.ts'
import { type Definition, StoredDefinitions } from './stored-definitions.ts'

/** Definitions that a caller may view or edit. */
export class DefinitionService {
  #policy: Policy
  #definitions: StoredDefinitions

  constructor(policy: Policy, definitions: StoredDefinitions) {
    this.#policy = policy
    this.#definitions = definitions
  }

  /** Throws `NotFound` also for a definition of a space that the caller may not view. */
  async visible(caller: Caller, id: string): Promise<Definition> {
    const definition = await this.#definitions.get(id)
    if (!definition) throw new NotFound('definition')
    const { scope } = definition
    if (scope !== everywhere && (await this.#policy.canOn(caller, 'ViewSpace', { kind: 'space', id: scope })) !== 'yes') {
      throw new NotFound('definition')
    }
    return definition
  }

  /** Definitions of a space require EditSpace on it, those of the installation a server admin. */
  async editable(caller: Caller, id: string): Promise<Definition> {
    const definition = await this.visible(caller, id)
    const { scope } = definition
    if (caller.via === 'nothing') throw new NotSignedIn()
    const denied = 'Permission denied on this definition'
    if (scope === everywhere) requireServerAdmin(caller, `${denied}: server admin required`)
    else if ((await this.#policy.canOn(caller, 'EditSpace', { kind: 'space', id: scope })) !== 'yes')
      throw new Forbidden(`${denied}: EditSpace on its space`)
    return definition
  }

  /** The given spaces that the caller may view. */
  async visibleSpaces(caller: Caller, spaces: readonly string[]): Promise<readonly string[]> {
    return [...(await this.#policy.allowed(caller, 'ViewSpace', 'space', spaces))]
  }
}
wire(DefinitionService, Policy, StoredDefinitions)

const maxLevels = 4

const maxSpaces = 1000

/** The spaces of a resource: those of a file through its datasets, of a section through its file. */
export class SpacesOf {
  #resources: Contributions<Resource>

  constructor(resources: Contributions<Resource>) {
    this.#resources = resources
  }

  /** Ids, at most 1,000. Empty for a missing resource. */
  async of(target: Ref): Promise<readonly string[]> {
    const spaces = new Set<string>()
    let level: readonly Ref[] = [target]
    for (let depth = 0; depth < maxLevels && level.length > 0; depth += 1) {
      const next: Ref[] = []
      for (const [kind, some] of Map.groupBy(level, ref => ref.kind)) {
        const source = this.#resources.all().find(each => each.kind === kind)
        const found = await source?.rightsOf(some.slice(0, 1000).map(({ id }) => id))
        for (const rights of found?.values() ?? []) {
          for (const space of rights.spaces) spaces.add(space)
          next.push(...(rights.parents ?? []))
        }
      }
      level = next
    }
    return [...spaces].slice(0, maxSpaces)
  }
}
wire(SpacesOf, Resources)
