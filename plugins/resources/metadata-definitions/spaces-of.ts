import { type Contributions, type Ref, type Resource, Resources, wire } from 'pounce/sdk'

const mostLevels = 4
const mostSpaces = 1000

/** The spaces that a thing is in: a file through its datasets, a section through its file. */
export class SpacesOf {
  #resources: Contributions<Resource>

  constructor(resources: Contributions<Resource>) {
    this.#resources = resources
  }

  /** Ids, at most 1,000. None for what does not exist. */
  async of(target: Ref): Promise<readonly string[]> {
    const spaces = new Set<string>()
    let level: readonly Ref[] = [target]
    for (let depth = 0; depth < mostLevels && level.length > 0; depth += 1) {
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
    return [...spaces].slice(0, mostSpaces)
  }
}
wire(SpacesOf, Resources)
