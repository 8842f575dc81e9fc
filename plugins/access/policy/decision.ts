import { anonymous, type Caller, type Permission, type Ref, type Verdict } from 'pounce/sdk'
import { Asker } from './asker.ts'
import type { Mode } from './mode.ts'
import { viewPermission } from './permission-sets.ts'
import type { RightsGraph, Step } from './rights-graph.ts'
import { type Ground, groundOn, isShutOut } from './rules.ts'

/** One caller's rights on what a graph holds. */
export class Decision {
  readonly graph: RightsGraph
  readonly asker: Asker

  constructor(mode: Mode, graph: RightsGraph, caller: Caller) {
    this.graph = graph
    this.asker = new Asker(mode, caller)
  }

  verdict(permission: Permission, ref: Ref): Verdict {
    if (!this.graph.exists(ref) || !this.isWithin(ref)) return 'unseen'
    if (this.ground(permission, ref)) return 'yes'
    return this.sees(permission, ref) ? 'no' : 'unseen'
  }

  /** The nearest rule that gives the right, among the thing and what it hangs on. */
  ground(permission: Permission, ref: Ref, asker = this.asker): { readonly ground: Ground; readonly step: Step } | undefined {
    for (const step of this.graph.above(ref)) {
      if (!this.graph.exists(step.ref)) continue
      const ground = groundOn(asker, permission, step.ref.kind, step.rights)
      if (ground) return { ground, step }
    }
    return undefined
  }

  /** False only of what a key that is limited to spaces does not reach: neither in one of them, nor hanging on something that is. */
  isWithin(ref: Ref): boolean {
    if (this.asker.caller.limits?.spaces === undefined) return true
    return this.graph.above(ref).some(step => this.graph.exists(step.ref) && this.asker.reaches(step.rights.spaces))
  }

  /** Whether somebody who was refused the permission may know that the thing is there. */
  sees(permission: Permission, ref: Ref): boolean {
    const view = viewPermission[ref.kind]
    if (isShutOut(this.asker.caller)) return this.ground(view, ref, new Asker(this.asker.mode, anonymous)) !== undefined
    return view !== permission && this.ground(view, ref) !== undefined
  }
}
