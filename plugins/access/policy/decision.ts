import { type AccessDecision, anonymous, type Caller, type Kind, type Permission, type Ref } from 'pounce/sdk'
import type { PermissionCatalog, TrashRule } from 'pounce/sdk/kit'
import { undividedPermissions } from './permission-sets.ts'
import { CallerRoles, type ParentStep, type RightsGraph } from './rights-graph.ts'
import { barred, type Ground, groundOn, isPurging, isShutOut, type JobKeyScope, type Mode } from './rules.ts'

const trashRule = (permissions: PermissionCatalog, permission: Permission, kind: Kind): TrashRule =>
  permissions.verbOf(permission) === 'read' || isPurging(permission, kind) ? 'readable' : 'frozen'

/** A rule that grants a right, and the resource on which it does. */
interface Granted {
  readonly ground: Ground
  readonly step: ParentStep
}

/** One caller's rights on the resources of a graph. */
export class Decision {
  readonly graph: RightsGraph
  readonly callerRoles: CallerRoles
  readonly #job: JobKeyScope | undefined

  /** `job` specifies the scope of a job key; undefined for other callers. */
  constructor(mode: Mode, graph: RightsGraph, caller: Caller, job?: JobKeyScope) {
    this.graph = graph
    this.callerRoles = new CallerRoles(mode, caller)
    this.#job = job
  }

  decide(permission: Permission, ref: Ref, trash = trashRule(this.callerRoles.mode.permissions, permission, ref.kind)): AccessDecision {
    if (!this.graph.exists(ref) || !this.isWithin(ref)) return 'unseen'
    const isHeld = this.#isIncluded(permission, ref) && this.#holds(permission, ref, this.callerRoles, trash === 'ignored')
    if (trash === 'frozen' && this.graph.isInTrash(ref)) return this.#inTrash(permission, ref, isHeld)
    if (isHeld) return 'yes'
    return this.sees(permission, ref) ? 'no' : 'unseen'
  }

  /** Whether the caller may view a resource. */
  shows(ref: Ref): boolean {
    return this.graph.exists(ref) && this.decide(this.graph.viewOf(ref.kind), ref) === 'yes'
  }

  #inTrash(permission: Permission, ref: Ref, isHeld: boolean): AccessDecision {
    const isSeen = this.#holds(this.graph.viewOf(ref.kind), ref)
    if (isHeld && isSeen) return 'frozen'
    // The holder of a job key may learn about its target: a late extractor gets the reason.
    const isLate =
      this.#job !== undefined &&
      this.#isIncluded(permission, ref) &&
      barred(this.callerRoles.mode, this.callerRoles.caller, permission) === undefined
    if (isLate) return 'frozen'
    return this.sees(permission, ref) ? 'no' : 'unseen'
  }

  #holds(permission: Permission, ref: Ref, callerRoles = this.callerRoles, isAsLive = false): boolean {
    if (undividedPermissions.has(permission)) return this.grounds(permission, ref, callerRoles, isAsLive).length > 0
    const above = this.graph.above(ref)
    return this.#nearest(permission, isAsLive ? above.map(asLive) : above, callerRoles) !== undefined
  }

  /**
   * The nearest rule that grants the right, on the resource or one of its ancestors; for a permission that parents grant only together, the nearest one
   * towards each of them. None without the right.
   */
  grounds(permission: Permission, ref: Ref, callerRoles = this.callerRoles, isAsLive = false): readonly Granted[] {
    if (!undividedPermissions.has(permission)) {
      const found = this.#nearest(permission, this.graph.above(ref), callerRoles)
      return found ? [found] : []
    }
    // Besides a live parent, one in the trash counts as before, so that a restore returns what was deleted.
    const isInTrash = !isAsLive && this.graph.isInTrash(ref)
    const towards = this.graph.tops(ref).map(top => {
      const path = pathTo(top)
      return this.#nearest(permission, isInTrash ? path : path.map(asLive), callerRoles)
    })
    return towards.every(found => found !== undefined) ? [...new Map(towards.map(found => [found.step.ref.id, found])).values()] : []
  }

  #nearest(permission: Permission, steps: readonly ParentStep[], callerRoles: CallerRoles): Granted | undefined {
    for (const step of steps) {
      if (!this.graph.exists(step.ref)) continue
      const ground = groundOn(callerRoles, permission, step)
      if (ground) return { ground, step }
    }
    return undefined
  }

  /** False only for what is entirely outside the scope of a limited key: outside its spaces, including all ancestors, and outside the key's job. */
  isWithin(ref: Ref): boolean {
    if (!this.#isIncluded(this.graph.viewOf(ref.kind), ref)) return false
    if (this.callerRoles.caller.limits?.spaces === undefined) return true
    return this.graph.above(ref).some(step => this.graph.exists(step.ref) && this.callerRoles.reaches(step.rights.spaces))
  }

  #isIncluded(permission: Permission, ref: Ref): boolean {
    return this.callerRoles.caller.limits?.job === undefined || this.#job?.includes(permission, ref, this.graph) === true
  }

  /** Whether a caller without the permission may learn that the resource exists. */
  sees(permission: Permission, ref: Ref): boolean {
    const view = this.graph.viewOf(ref.kind)
    if (isShutOut(this.callerRoles.caller)) return this.#holds(view, ref, new CallerRoles(this.callerRoles.mode, anonymous))
    return view !== permission && this.#holds(view, ref)
  }
}

const pathTo = (step: ParentStep): readonly ParentStep[] => (step.below === undefined ? [step] : [...pathTo(step.below), step])

const asLive = (step: ParentStep): ParentStep =>
  step.rights.state === 'trashed' ? { ...step, rights: { ...step.rights, state: 'live' } } : step
