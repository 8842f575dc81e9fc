import type { Caller, Contributions, Kind, Membership, Permission, Ref, Resource, Rights } from 'pounce/sdk'
import { type Mode, roleHolds } from './rules.ts'

/** Longest chain from a resource up to what gives it rights: comment → metadata → section → file → dataset, and some to spare. */
const maxDepth = 8

const batchSize = 1000

const idForm = /^[0-9a-f-]{24,36}$/

/** A resource on the way up, and the one below it through which it was reached. */
export interface ParentStep {
  readonly ref: Ref
  readonly rights: Rights
  readonly below: ParentStep | undefined
}

/** A resource with what was found out about it. */
interface Node {
  readonly rights: Rights
  above: readonly ParentStep[] | undefined
  exists: boolean | undefined
}

/** Resources of one kind, by id. */
interface NodesOfKind {
  readonly view: Permission
  readonly nodes: Map<string, Node>
}

/** The rights of some resources and of everything above them, as they were when read. */
export class RightsGraph {
  #kinds = new Map<Kind, NodesOfKind>()

  /** Rights of a resource that has a record, also of one whose parents are all gone. */
  of(ref: Ref): Rights | undefined {
    return this.#nodeOf(ref)?.rights
  }

  add({ kind, id }: Ref, rights: Rights, view: Permission): void {
    const node: Node = { rights, above: undefined, exists: undefined }
    const known = this.#kinds.get(kind)
    if (known) known.nodes.set(id, node)
    else this.#kinds.set(kind, { view, nodes: new Map([[id, node]]) })
  }

  /** The permission that shows resources of a kind that the graph holds any of. */
  viewOf(kind: Kind): Permission {
    const known = this.#kinds.get(kind)
    if (known === undefined) throw new Error(`No rights of a ${kind} were read`)
    return known.view
  }

  /** The resource and all that have a record above it, nearest first, each once: circles do no harm. */
  above(ref: Ref): readonly ParentStep[] {
    const node = this.#nodeOf(ref)
    if (!node) return []
    node.above ??= this.#stepsFrom(ref, node)
    return node.above
  }

  /** True of a resource that is trashed itself, or hangs on what is in the trash and on nothing else. */
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

  /** False for a resource without a record, and for one that hangs only on resources that do not exist: the cascade has not come there yet. */
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

/** Reads rights as the plugins that own the kinds declare them, one batch per kind and level. */
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
      // One kind, as nearly always, needs no promise around its own.
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

  /** The declaration of a kind; undefined when no plugin has it. */
  resourceOf(kind: Kind): Resource | undefined {
    const known = this.#byKind.get(kind)
    if (known) return known
    const resource = this.#resources.all().find(candidate => candidate.kind === kind)
    if (resource) this.#byKind.set(kind, resource)
    return resource
  }

  /** What searches find. */
  searched(): readonly Resource[] {
    return this.#resources.all().filter(({ isSearched }) => isSearched)
  }
}

const wanted = (level: Map<Kind, Set<string>>, kind: Kind): Set<string> => {
  const ids = level.get(kind) ?? new Set<string>()
  level.set(kind, ids)
  return ids
}

/** Looking through the memberships costs less than a map of them, unless it is done again and again. */
const scansAtMost = 4

/** A caller with the roles that they hold, for the time of one question. */
export class CallerRoles {
  readonly mode: Mode
  readonly caller: Caller
  #scans = 0
  #bySpace: ReadonlyMap<string, readonly Membership[]> | undefined

  constructor(mode: Mode, caller: Caller) {
    this.mode = mode
    this.caller = caller
  }

  /** A membership in one of the spaces whose role holds the permission. */
  roleIn(spaces: readonly string[], permission: Permission): Membership | undefined {
    const memberships = this.caller.user?.memberships ?? []
    if (spaces.length === 0 || memberships.length === 0) return undefined
    const isHeld = (held: Membership): boolean => roleHolds(this.mode, held, permission)
    if (this.#bySpace === undefined && this.#scans < scansAtMost) {
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

  /** Every membership in one of the spaces. */
  rolesIn(spaces: readonly string[]): readonly Membership[] {
    const wanted = new Set(spaces)
    return (this.caller.user?.memberships ?? []).filter(({ space }) => wanted.has(space))
  }

  /** True unless the key is limited to spaces that a resource in these spaces is in none of. */
  reaches(spaces: readonly string[]): boolean {
    const limit = this.caller.limits?.spaces
    return limit === undefined || spaces.some(space => limit.has(space))
  }
}
