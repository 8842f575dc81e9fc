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
    const verdict = this.#decision.verdict(permission, ref)
    if (!graph.exists(ref)) {
      return { verdict, because: [graph.of(ref) ? `all that ${name(ref)} belongs to is gone` : `there is no ${name(ref)}`] }
    }
    if (verdict === 'yes') return { verdict, because: this.#granted(permission, ref) }
    if (verdict === 'frozen') return { verdict, because: [...this.#granted(permission, ref), frozen(ref)] }
    return { verdict, because: [...this.#refused(permission, ref), this.#sight(verdict, ref)] }
  }

  #granted(permission: Permission, ref: Ref): readonly string[] {
    const found = this.#decision.grounds(permission, ref)
    if (found.length === 0) return []
    const reach = this.#decision.asker.caller.limits?.spaces === undefined ? [] : [`${name(ref)} is in a space that the key is limited to`]
    return [...reach, ...found.flatMap(({ ground, step }) => [...this.#wayTo(step), sentence(ground, permission, this.#named(step.ref))])]
  }

  #refused(permission: Permission, ref: Ref): readonly string[] {
    const { asker, graph } = this.#decision
    const bar = barred(asker.mode, asker.caller, permission)
    if (bar !== undefined) return [bar]
    if (!this.#decision.isWithin(ref)) return [this.#beyond(ref)]
    const steps = graph.above(ref).filter(step => graph.exists(step.ref))
    const isHeldInPart = (step: ParentStep): boolean =>
      undividedPermissions.has(permission) && this.#decision.grounds(permission, step.ref).length > 0
    const shown = steps.filter(step => !isHeldInPart(step) && (step.ref === ref || this.#isShown(step.ref)))
    return [
      ...(steps.some(isHeldInPart) ? [`${permission} is needed in everything that ${name(ref)} belongs to`] : []),
      ...shown.flatMap(step => [...this.#wayTo(step).slice(-1), ...this.#lacks(permission, step)]),
    ]
  }

  #beyond(ref: Ref): string {
    const isOfJob = this.#decision.asker.caller.limits?.job !== undefined
    return isOfJob
      ? `${name(ref)} is not what the job of the key is about`
      : `${name(ref)} is in none of the spaces that the key is limited to`
  }

  /** What each rule lacked on one resource. */
  #lacks(permission: Permission, { ref, rights }: ParentStep): readonly string[] {
    const { asker } = this.#decision
    const { mode, caller } = asker
    const isOnItsOwn = rights.parents === undefined || rights.parents.length === 0
    const made = caller.user && rights.author !== '' ? [`the caller did not create ${name(ref)}`] : []
    const life = rights.state === 'live' ? [] : [`${name(ref)} is ${rights.state}, where ${leftOf(rights.state)}`]
    const roles =
      caller.user && ref.kind !== 'user' && (rights.spaces.length > 0 || isOnItsOwn) ? this.#roles(permission, ref, rights.spaces) : []
    const isToRead = isReading(mode, permission) && isOnItsOwn && rights.state === 'live'
    const open = isToRead && mode.isPrivate && !rights.isPublic ? [`${name(ref)} is not public, and the server is private`] : []
    const limits =
      caller.limits && ref.kind === 'user' && !readingPermissions.has(permission) ? ['a limited key does not change accounts'] : []
    const nobody = caller.user ? [] : [`nobody is signed in, and ${permission} on ${name(ref)} is not for everybody`]
    return [...limits, ...made, ...life, ...roles, ...open, ...nobody]
  }

  #roles(permission: Permission, ref: Ref, spaces: readonly string[]): readonly string[] {
    if (spaces.length === 0) return [`${name(ref)} is in no space`]
    const held = this.#decision.asker.rolesIn(spaces)
    if (held.length === 0) return [`the caller has no role in ${ref.kind === 'space' ? name(ref) : `a space that ${name(ref)} is in`}`]
    return held.map(membership => {
      const holds = membership.permissions.has(permission) ? 'holds' : 'does not hold'
      return `${roleOf(membership)} ${holds} ${permission}`
    })
  }

  #sight(verdict: AccessDecision, ref: Ref): string {
    const view = this.#decision.graph.viewOf(ref.kind)
    return verdict === 'no' ? `${view} is held, so ${name(ref)} is seen` : `${view} is not held, so it is as if there were no ${name(ref)}`
  }

  #wayTo({ below, ref }: ParentStep): readonly string[] {
    return below === undefined ? [] : [...this.#wayTo(below), `${this.#named(below.ref)} belongs to ${this.#named(ref)}, which is asked`]
  }

  #named(ref: Ref): string {
    return this.#isShown(ref) ? name(ref) : `a ${ref.kind}`
  }
}

const frozen = (ref: Ref): string =>
  `${name(ref)} is in the trash, where nobody changes anything: restore ${isPurgeable(ref.kind) ? 'it' : 'what it belongs to'} first`

const leftOf = (state: LifeState): string =>
  state === 'trashed' ? 'roles give only the right to purge or restore it, and nothing on what belongs to it' : 'roles give nothing'

const name = (ref: Ref): string => `${ref.kind} ${ref.id}`

const roleOf = ({ roleName, role, space, group }: Membership): string =>
  `role ${roleName ?? role} in space ${space}${group === undefined ? '' : ` through group ${group}`}`

const sentence = (ground: Ground, permission: Permission, thing: string): string => {
  switch (ground.rule) {
    case 'superadmin':
      return 'superadmin mode is on'
    case 'author':
      return `the caller created ${thing}`
    case 'administrator':
      return 'the caller is a server admin'
    case 'service':
      return `the service key holds ${permission} on all that is live`
    case 'public':
      return `${thing} is public`
    case 'open':
      return `on a public server everybody holds ${permission}`
    case 'role':
      return `${roleOf(ground.membership)} holds ${permission}`
  }
}
