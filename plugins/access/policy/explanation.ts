import type { AccessDecision, LifeState, Membership, Permission, Ref } from 'pounce/sdk'
import { readingPermissions } from 'pounce/sdk/kit'
import type { Decision } from './decision.ts'
import { undividedPermissions } from './permission-sets.ts'
import type { ParentStep } from './rights-graph.ts'
import { barred, type Ground, isPurgeable, isReading } from './rules.ts'

/** Explains a decision in sentences, in the order in which the rules were evaluated. */
export class Explanation {
  #decision: Decision
  #isShown: (ref: Ref) => boolean

  /** `isShown`: what may be named besides the resource itself; the reader may have fewer rights than the caller being explained. */
  constructor(decision: Decision, isShown: (ref: Ref) => boolean) {
    this.#decision = decision
    this.#isShown = isShown
  }

  of(permission: Permission, ref: Ref): { readonly verdict: AccessDecision; readonly because: readonly string[] } {
    const { graph } = this.#decision
    const verdict = this.#decision.decide(permission, ref)
    if (!graph.exists(ref)) {
      return { verdict, because: [graph.of(ref) ? `the parents of ${name(ref)} no longer exist` : `${name(ref)} does not exist`] }
    }
    if (verdict === 'yes') return { verdict, because: this.#granted(permission, ref) }
    if (verdict === 'frozen') return { verdict, because: [...this.#granted(permission, ref), frozen(ref)] }
    return { verdict, because: [...this.#refused(permission, ref), this.#sight(verdict, ref)] }
  }

  #granted(permission: Permission, ref: Ref): readonly string[] {
    const found = this.#decision.grounds(permission, ref)
    if (found.length === 0) return []
    const reach =
      this.#decision.callerRoles.caller.limits?.spaces === undefined ? [] : [`${name(ref)} is in a space that the key is limited to`]
    return [...reach, ...found.flatMap(({ ground, step }) => [...this.#wayTo(step), sentence(ground, permission, this.#named(step.ref))])]
  }

  #refused(permission: Permission, ref: Ref): readonly string[] {
    const { callerRoles, graph } = this.#decision
    const bar = barred(callerRoles.mode, callerRoles.caller, permission)
    if (bar !== undefined) return [bar]
    if (!this.#decision.isWithin(ref)) return [this.#beyond(ref)]
    const steps = graph.above(ref).filter(step => graph.exists(step.ref))
    const isHeldInPart = (step: ParentStep): boolean =>
      undividedPermissions.has(permission) && this.#decision.grounds(permission, step.ref).length > 0
    const shown = steps.filter(step => !isHeldInPart(step) && (step.ref === ref || this.#isShown(step.ref)))
    return [
      ...(steps.some(isHeldInPart) ? [`${permission} is required on all parents of ${name(ref)}`] : []),
      ...shown.flatMap(step => [...this.#wayTo(step).slice(-1), ...this.#lacks(permission, step)]),
    ]
  }

  #beyond(ref: Ref): string {
    const isOfJob = this.#decision.callerRoles.caller.limits?.job !== undefined
    return isOfJob
      ? `${name(ref)} is not in the scope of the job of the key`
      : `${name(ref)} is in none of the spaces that the key is limited to`
  }

  /** What each rule lacked on one resource. */
  #lacks(permission: Permission, { ref, rights }: ParentStep): readonly string[] {
    const { callerRoles } = this.#decision
    const { mode, caller } = callerRoles
    const isOnItsOwn = rights.parents === undefined || rights.parents.length === 0
    const authorship = caller.user && rights.author !== '' ? [`the caller did not create ${name(ref)}`] : []
    const states = rights.state === 'live' ? [] : [`${name(ref)} ${restriction(rights.state)}`]
    const roles =
      caller.user && ref.kind !== 'user' && (rights.spaces.length > 0 || isOnItsOwn) ? this.#roles(permission, ref, rights.spaces) : []
    const isToRead = isReading(mode, permission) && isOnItsOwn && rights.state === 'live'
    const open = isToRead && mode.isPrivate && !rights.isPublic ? [`${name(ref)} is not public, and the server is private`] : []
    const limits =
      caller.limits && ref.kind === 'user' && !readingPermissions.has(permission) ? ['limited keys cannot change accounts'] : []
    const anonymous = caller.user ? [] : [`anonymous callers do not hold ${permission} on ${name(ref)}`]
    return [...limits, ...authorship, ...states, ...roles, ...open, ...anonymous]
  }

  #roles(permission: Permission, ref: Ref, spaces: readonly string[]): readonly string[] {
    if (spaces.length === 0) return [`${name(ref)} is not in a space`]
    const roles = this.#decision.callerRoles.rolesIn(spaces)
    if (roles.length === 0) return [`the caller has no role in ${ref.kind === 'space' ? name(ref) : `a space that ${name(ref)} is in`}`]
    return roles.map(membership => {
      const grants = membership.permissions.has(permission) ? 'grants' : 'does not grant'
      return `${roleOf(membership)} ${grants} ${permission}`
    })
  }

  #sight(verdict: AccessDecision, ref: Ref): string {
    const view = this.#decision.graph.viewOf(ref.kind)
    return verdict === 'no'
      ? `the caller holds ${view}, so ${name(ref)} is visible`
      : `the caller does not hold ${view}, so ${name(ref)} appears not to exist`
  }

  #wayTo({ below, ref }: ParentStep): readonly string[] {
    return below === undefined ? [] : [...this.#wayTo(below), `${this.#named(below.ref)} inherits rights from ${this.#named(ref)}`]
  }

  #named(ref: Ref): string {
    return this.#isShown(ref) ? name(ref) : `a ${ref.kind}`
  }
}

const frozen = (ref: Ref): string =>
  `${name(ref)} is in the trash and cannot be changed: restore ${isPurgeable(ref.kind) ? 'it' : 'its parent'} first`

const restriction = (state: LifeState): string =>
  state === 'trashed'
    ? 'is in the trash, where roles only grant restoring it and deleting it permanently'
    : 'is being imported; roles grant nothing until the import is complete'

const name = (ref: Ref): string => `${ref.kind} ${ref.id}`

const roleOf = ({ roleName, role, space, group }: Membership): string =>
  `role ${roleName ?? role} in space ${space}${group === undefined ? '' : ` through group ${group}`}`

const sentence = (ground: Ground, permission: Permission, resource: string): string => {
  switch (ground.rule) {
    case 'superadmin':
      return 'superadmin mode is on'
    case 'author':
      return `the caller created ${resource}`
    case 'administrator':
      return 'the caller is a server admin'
    case 'service':
      return `the communication key holds ${permission} on everything outside the trash`
    case 'public':
      return `${resource} is public`
    case 'open':
      return `on a public server everyone holds ${permission}`
    case 'role':
      return `${roleOf(ground.membership)} grants ${permission}`
  }
}
