import type { Caller, Contributions, Kind, Membership, Permission, Ref, Resource, Rights } from 'pounce/sdk'
import { type Mode, roleHolds } from './rules.ts'

/** Maximum length of a chain from a resource up to the source of its rights: comment → metadata → section → file → dataset, plus a margin. */
const maxDepth = 8

const batchSize = 1000

const idForm = /^[0-9a-f-]{24,36}$/

/** An ancestor, and the child through which it was reached. */
export interface ParentStep {
  readonly ref: Ref
  readonly rights: Rights
  readonly below: ParentStep | undefined
}

/** A resource with its rights as read. */
interface Node {
  readonly rights: Rights
  above: readonly ParentStep[] | undefined
  exists: boolean | undefined
}

/** Resources of one kind, by ID. */
interface NodesOfKind {
  readonly view: Permission
  readonly nodes: Map<string, Node>
}

/** The rights of some resources and all their ancestors, as of the time they were read. */
export class RightsGraph {
  #kinds = new Map<Kind, NodesOfKind>()

  /** Rights of a resource that has a record, even when all its parents are deleted. */
  of(ref: Ref): Rights | undefined {
    return this.#nodeOf(ref)?.rights
  }

  add({ kind, id }: Ref, rights: Rights, view: Permission): void {
    const node: Node = { rights, above: undefined, exists: undefined }
    const known = this.#kinds.get(kind)
    if (known) known.nodes.set(id, node)
    else this.#kinds.set(kind, { view, nodes: new Map([[id, node]]) })
  }

  /** The permission to view resources of a kind in the graph. */
  viewOf(kind: Kind): Permission {
    const known = this.#kinds.get(kind)
    if (known === undefined) throw new Error(`The rights of a ${kind} have not been read`)
    return known.view
  }

  /** The resource and all its existing ancestors, nearest first, each once; cycles are tolerated. */
  above(ref: Ref): readonly ParentStep[] {
    const node = this.#nodeOf(ref)
    if (!node) return []
    node.above ??= this.#stepsFrom(ref, node)
    return node.above
  }

  /** The existing ancestors without parents, or the resource itself if it has none. */
  tops(ref: Ref): readonly ParentStep[] {
    return this.above(ref).filter(step => isTop(step.rights))
  }

  /** True when a resource is in the trash itself, or all its parents are. */
  isInTrash(ref: Ref): boolean {
    if (!this.exists(ref)) return false
    const open: Ref[] = [ref]
    const seen = new Set<Node>()
    for (const each of open) {
      const node = this.#nodeOf(each)
      if (!node || node.rights.state === 'trashed' || seen.has(node)) continue
      if (isTop(node.rights)) return false
      seen.add(node)
      open.push(...(node.rights.parents ?? []))
    }
    return true
  }

  /** False for a resource without a record, and for one whose parents are all deleted: the cascade has not reached it yet. */
  exists(ref: Ref): boolean {
    const node = this.#nodeOf(ref)
    if (!node) return false
    node.exists ??= this.above(ref).some(step => isTop(step.rights))
    return node.exists
  }

  #nodeOf({ kind, id }: Ref): Node | undefined {
    return this.#kinds.get(kind)?.nodes.get(id)
  }

  #stepsFrom(ref: Ref, node: Node): readonly ParentStep[] {
    const steps: ParentStep[] = [{ ref, rights: node.rights, below: undefined }]
    if (isTop(node.rights)) return steps
    const seen = new Set([node])
    for (const step of steps) {
      for (const parent of step.rights.parents ?? []) {
        const parentNode = this.#nodeOf(parent)
        if (!parentNode || seen.has(parentNode)) continue
        seen.add(parentNode)
        steps.push({ ref: parent, rights: parentNode.rights, below: step })
      }
    }
    return steps
  }
}

const isTop = (rights: Rights): boolean => rights.parents === undefined || rights.parents.length === 0

/** Reads rights as declared by the plugins that own the kinds, one batch per kind and level. */
export class RightsReader {
  #resources: Contributions<Resource>
  #byKind = new Map<Kind, Resource>()

  constructor(resources: Contributions<Resource>) {
    this.#resources = resources
  }

  async read(kind: Kind, ids: readonly string[]): Promise<RightsGraph> {
    const graph = new RightsGraph()
    let level = new Map<Kind, Set<string>>([[kind, new Set(ids)]])
    for (let depth = 0; depth < maxDepth && level.size > 0; depth += 1) {
      const next = new Map<Kind, Set<string>>()
      const kinds = [...level].map(([of, ids]) => this.#readKind(graph, of, [...ids], next))
      // With a single kind, the usual case, no extra promise is needed.
      await (kinds.length === 1 ? kinds[0] : Promise.all(kinds))
      level = next
    }
    return graph
  }

  async #readKind(graph: RightsGraph, kind: Kind, ids: readonly string[], next: Map<Kind, Set<string>>): Promise<void> {
    const source = this.resourceOf(kind)
    if (!source) return
    const readable = ids.filter(id => idForm.test(id))
    for (let from = 0; from < readable.length; from += batchSize) {
      const found = await source.rightsOf(readable.slice(from, from + batchSize))
      for (const [id, rights] of found) {
        graph.add({ kind, id }, rights, source.view)
        for (const parent of rights.parents ?? []) if (!graph.of(parent)) wanted(next, parent.kind).add(parent.id)
      }
    }
  }

  /** The declaration of a kind; undefined when no plugin declares it. */
  resourceOf(kind: Kind): Resource | undefined {
    const known = this.#byKind.get(kind)
    if (known) return known
    const resource = this.#resources.all().find(candidate => candidate.kind === kind)
    if (resource) this.#byKind.set(kind, resource)
    return resource
  }

  /** The searchable kinds. */
  searched(): readonly Resource[] {
    return this.#resources.all().filter(({ isSearched }) => isSearched)
  }
}

const wanted = (level: Map<Kind, Set<string>>, kind: Kind): Set<string> => {
  const ids = level.get(kind) ?? new Set<string>()
  level.set(kind, ids)
  return ids
}

/** A linear search of the memberships is cheaper than a map, unless it is repeated often. */
const maxScans = 4

/** A caller with their roles, for the duration of one decision. */
export class CallerRoles {
  readonly mode: Mode
  readonly caller: Caller
  #scans = 0
  #bySpace: ReadonlyMap<string, readonly Membership[]> | undefined

  constructor(mode: Mode, caller: Caller) {
    this.mode = mode
    this.caller = caller
  }

  /** A membership in one of the spaces whose role has the permission. */
  roleIn(spaces: readonly string[], permission: Permission): Membership | undefined {
    const memberships = this.caller.user?.memberships ?? []
    if (spaces.length === 0 || memberships.length === 0) return undefined
    const isHeld = (held: Membership): boolean => roleHolds(this.mode, held, permission)
    if (this.#bySpace === undefined && this.#scans < maxScans) {
      this.#scans += 1
      return memberships.find(held => spaces.includes(held.space) && isHeld(held))
    }
    this.#bySpace ??= Map.groupBy(memberships, ({ space }) => space)
    for (const space of spaces) {
      const found = this.#bySpace.get(space)?.find(isHeld)
      if (found) return found
    }
    return undefined
  }

  /** All memberships in these spaces. */
  rolesIn(spaces: readonly string[]): readonly Membership[] {
    const wanted = new Set(spaces)
    return (this.caller.user?.memberships ?? []).filter(({ space }) => wanted.has(space))
  }

  /** True unless the key is limited to spaces and the resource is in none of them. */
  reaches(spaces: readonly string[]): boolean {
    const limit = this.caller.limits?.spaces
    return limit === undefined || spaces.some(space => limit.has(space))
  }
}
