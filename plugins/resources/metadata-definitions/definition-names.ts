import { type Caller, type MetadataNaming, wire } from 'pounce/sdk'
import { everywhere } from './collection.ts'
import { StoredDefinitions } from './stored-definitions.ts'

const mostRead = 5000

/** The spaces whose definitions a caller goes by: those they are a member of and may look at. */
export const spacesOfCaller = (caller: Caller): readonly string[] =>
  caller.user?.memberships
    .filter(({ space, permissions }) => permissions.has('ViewSpace') && (caller.limits?.spaces?.has(space) ?? true))
    .map(({ space }) => space) ?? []

/** The labels of definitions are names of fields. */
export class DefinitionNames implements MetadataNaming {
  #definitions: StoredDefinitions

  constructor(definitions: StoredDefinitions) {
    this.#definitions = definitions
  }

  async names(prefix: string, caller: Caller, limit: number): Promise<readonly string[]> {
    const wanted = prefix.toLowerCase()
    const names = new Set<string>()
    let read = 0
    for await (const { label } of this.#definitions.in(everywhere, ...spacesOfCaller(caller))) {
      if (label.toLowerCase().startsWith(wanted)) names.add(label)
      read += 1
      if (names.size >= limit || read >= mostRead) break
    }
    return [...names]
  }
}
wire(DefinitionNames, StoredDefinitions)
