import { anonymous, type Caller, type Permission, type Ref, type Verdict } from 'pounce/sdk'
import { viewPermission } from './permission-sets.ts'
import type { RightsGraph, Step } from './rights-graph.ts'
import { barred, type Ground, groundOn, type Mode } from './rules.ts'

/** One caller's rights on what a graph holds. */
export class Decision {
  #mode: Mode
  #graph: RightsGraph
  #caller: Caller

  constructor(mode: Mode, graph: RightsGraph, caller: Caller) {
    this.#mode = mode
    this.#graph = graph
    this.#caller = caller
  }

  verdict(permission: Permission, ref: Ref): Verdict {
    if (!this.#graph.exists(ref)) return 'unseen'
    if (this.#ground(this.#caller, permission, ref)) return 'yes'
    return this.#sees(permission, ref) ? 'no' : 'unseen'
  }

  explain(permission: Permission, ref: Ref): { verdict: Verdict; because: readonly string[] } {
    const verdict = this.verdict(permission, ref)
    if (!this.#graph.exists(ref)) {
      const gone = this.#graph.of(ref) ? `all that ${name(ref)} belongs to is gone` : `there is no ${name(ref)}`
      return { verdict, because: [gone] }
    }
    const found = this.#ground(this.#caller, permission, ref)
    if (found) return { verdict, because: [...wayTo(found.step), sentence(found.ground, permission, found.step.ref)] }
    const bar = barred(this.#caller, permission)
    const state = this.#graph.of(ref)?.state
    return {
      verdict,
      because: [
        bar ?? `no rule gives ${permission} on ${name(ref)}`,
        ...(state === 'live' ? [] : [`${name(ref)} is ${state}`]),
        verdict === 'no' ? `${viewPermission[ref.kind]} is held` : `${viewPermission[ref.kind]} is not held either`,
      ],
    }
  }

  #sees(permission: Permission, ref: Ref): boolean {
    const view = viewPermission[ref.kind]
    if (this.#caller.user?.status === 'Inactive') return this.#ground(anonymous, view, ref) !== undefined
    return view !== permission && this.#ground(this.#caller, view, ref) !== undefined
  }

  /** The nearest rule that gives the right, among the thing and what it hangs on. */
  #ground(caller: Caller, permission: Permission, ref: Ref): { ground: Ground; step: Step } | undefined {
    for (const step of this.#graph.above(ref)) {
      if (!this.#graph.exists(step.ref)) continue
      const ground = groundOn(this.#mode, caller, permission, step.ref.kind, step.rights)
      if (ground) return { ground, step }
    }
    return undefined
  }
}

const name = (ref: Ref): string => `${ref.kind} ${ref.id}`

const wayTo = (step: Step): string[] =>
  step.below === undefined ? [] : [...wayTo(step.below), `${name(step.below.ref)} asks ${name(step.ref)}`]

const sentence = (ground: Ground, permission: Permission, ref: Ref): string => {
  switch (ground.rule) {
    case 'superadmin':
      return 'superadmin mode is on'
    case 'author':
      return `the caller made ${name(ref)}`
    case 'administrator':
      return 'the caller is a server admin'
    case 'service':
      return `the service key holds ${permission} on all that is live`
    case 'public':
      return `${name(ref)} is public`
    case 'open':
      return `on a public server everybody holds ${permission}`
    case 'role':
      return `role ${ground.membership.roleName ?? ground.membership.role} in space ${ground.membership.space} holds ${permission}`
  }
}
