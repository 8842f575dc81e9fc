import {
  type AccessDecision,
  type Caller,
  Forbidden,
  InTrash,
  isServerAdmin,
  NotFound,
  NotSignedIn,
  type Permission,
  type Policy,
  type Ref,
  SecondFactorEnrolmentRequired,
  StepUpRequired,
  TermsNotAccepted,
} from 'pounce/sdk'
import { lacking, readingPermissions, type ScopedRight, type TrashRule } from 'pounce/sdk/kit'
import type { Middleware, RequestContext, Values } from './request-context.ts'
import type { Declaration, RegisteredRoute } from './router.ts'

/** The right that a route asks for, if it is for those who hold one. */
export const rightOf = ({ permission }: Declaration): Permission | undefined =>
  typeof permission === 'object' ? permission.right : undefined

/** True of a route that checks rights on what its path and query name. */
export const namesResources = ({ permission, alsoRequires }: Declaration): boolean =>
  alsoRequires !== undefined || (typeof permission === 'object' && permission.on !== undefined)

/** The rights that a route checks on resources, in order. */
export const scopedRights = ({ permission, alsoRequires = [] }: Declaration): readonly ScopedRight<Values>[] =>
  typeof permission === 'object' && permission.on ? [permission, ...alsoRequires] : alsoRequires

/** The resources that a request names for the rights of its route. */
export const refsOf = (declaration: Declaration, input: Values): readonly Ref[] =>
  scopedRights(declaration).flatMap(({ on }): Ref | readonly Ref[] => on(input))

/** False of a request that only looks. */
export const changesSomething = ({ req, isHead }: RequestContext, { effects }: Declaration): boolean =>
  !isHead && (req.method !== 'GET' || effects !== undefined)

/** Decides whether a caller may use a route; throws the refusal. */
export class RouteAccess {
  readonly #policy: Policy | undefined
  readonly #isPrivate: boolean

  constructor(policy: Policy | undefined, isPrivate: boolean) {
    this.#policy = policy
    this.#isPrivate = isPrivate
  }

  /** Throws, or rejects with, 401 for an anonymous caller, 403 for one who may not, 404 for one who may not know. */
  require(declaration: Declaration, caller: Caller, input: Values): Promise<void> | undefined {
    const { permission } = declaration
    this.#requireStanding(declaration, caller)
    if (typeof permission === 'object' && !permission.on) this.#requireAnywhere(permission.right, caller)
    // Most routes that anyone may use end here, without a turn of the microtask queue.
    return namesResources(declaration) ? this.#requireOnThings(declaration, caller, input) : undefined
  }

  async #requireOnThings(declaration: Declaration, caller: Caller, input: Values): Promise<void> {
    for (const { right, on } of scopedRights(declaration)) await this.#requireOn(right, caller, on(input), declaration)
  }

  /**
   * For a request whose resources cannot be named because its input is wrong: an anonymous caller who could not do this
   * to anything gets 401, as for any thing; everyone else learns what was wrong. A wrong id is answered like one that no one has.
   */
  requireForWrongInput(declaration: Declaration, caller: Caller, isWrongId = false): void {
    const right = rightOf(declaration)
    this.#requireStanding(declaration, caller)
    if (right === undefined || !isAnonymous(caller) || this.#policy?.can(caller, right) === 'yes') return
    if (!(isWrongId && this.#tellsOfAbsence(right, declaration))) throw new NotSignedIn()
  }

  #requireStanding(declaration: Declaration, caller: Caller): void {
    if (caller.limits?.job && declaration.jobKeys !== 'allowed')
      throw new Forbidden('The key of a job allows only extractor requests: use your own API key')
    switch (declaration.permission) {
      case 'reader':
        if (this.#isPrivate) requireAccount(caller)
        return
      case 'signedIn':
        requireAccount(caller)
        requireReach(declaration, caller)
        return
      case 'serverAdmin':
        if (isServerAdmin(caller)) return
        if (isAnonymous(caller)) throw new NotSignedIn()
        throw new Forbidden('Server admin required')
      default:
        return
    }
  }

  #requireAnywhere(permission: Permission, caller: Caller): void {
    if (this.#policy?.can(caller, permission) === 'yes') return
    if (isAnonymous(caller)) throw new NotSignedIn()
    throw lacking(caller, permission)
  }

  async #requireOn(permission: Permission, caller: Caller, refs: Ref | readonly Ref[], declaration: Declaration): Promise<void> {
    const trash = trashRuleOf(declaration)
    for (const ref of 'kind' in refs ? [refs] : refs) {
      const verdict = (await this.#policy?.canOn(caller, permission, ref, trash)) ?? 'no'
      if (verdict !== 'yes') throw this.#refusal(verdict, permission, caller, ref, declaration)
    }
  }

  #refusal(verdict: Exclude<AccessDecision, 'yes'>, permission: Permission, caller: Caller, ref: Ref, declaration: Declaration): Error {
    if (isAnonymous(caller) && !(verdict === 'unseen' && this.#tellsOfAbsence(permission, declaration))) return new NotSignedIn()
    if (verdict === 'unseen') return new NotFound(ref.kind)
    if (verdict === 'frozen') return new InTrash(ref.kind)
    return lacking(caller, permission, ref.kind)
  }

  /** True where no one in particular learns that a resource does not exist: by looking, on a server that hides nothing. */
  #tellsOfAbsence(permission: Permission, { method, effects }: Declaration): boolean {
    return !this.#isPrivate && (readingPermissions.has(permission) || (method === 'GET' && effects === undefined))
  }
}

/** The route, not the permission, knows what it does: some read by a right to write, others change a resource by the right to look at it. */
const trashRuleOf = ({ method, effects, inTrash }: Declaration): TrashRule | undefined => {
  if (method === 'GET' && effects === undefined) return 'readable'
  return inTrash === undefined ? 'frozen' : undefined
}

/** Who has not accepted the terms gets nowhere, whatever their rank or key, but to what leads there. */
export const requireTerms = ({ beforeTerms }: Declaration, { user }: Caller): void => {
  if (user?.termsPending && !beforeTerms) throw new TermsNotAccepted()
}

/**
 * Of whom a second factor is required gets nowhere without one, but to what leads there. API keys continue for everything but administration:
 * they were made by someone who was let in then, and programs cannot enrol.
 */
export const requireEnrolment = (
  { beforeTerms, beforeEnrolment, permission, stepUp }: Declaration,
  { user, via, superAdmin }: Caller,
): void => {
  if (!user?.secondFactorPending || beforeTerms || beforeEnrolment) return
  const isProgram = via === 'key' || via === 'bearer'
  if (isProgram && permission !== 'serverAdmin' && !superAdmin && !stepUp) return
  throw new SecondFactorEnrolmentRequired()
}

/** Refuses what takes a recent authentication to a caller whose authentication is none. */
const requireStepUp = ({ stepUp, permission }: Declaration, caller: Caller, isChange: boolean): void => {
  if (caller.stepUp === undefined) return
  if (!(stepUp ?? (caller.superAdmin || (permission === 'serverAdmin' && isChange)))) return
  const { message, methods } = caller.stepUp
  throw new StepUpRequired(message, { details: { methods } })
}

const isAnonymous = (caller: Caller): boolean => caller.via === 'nothing'

const requireAccount = (caller: Caller): void => {
  if (isAnonymous(caller)) throw new NotSignedIn()
  if (caller.user?.status === 'Inactive') throw new Forbidden('The account is inactive')
}

/** Where no permission on a resource is requested, the policy cannot hold a key to what it was made for. */
const requireReach = ({ limitedKeys, method, effects }: Declaration, { scope, limits }: Caller): void => {
  if (limitedKeys === 'refused' && (limits !== undefined || scope === 'extraction'))
    throw new Forbidden('A limited API key cannot manage keys, sessions and the account')
  // A route that takes the keys of jobs was looked at for that.
  if (limits === undefined || limits.job !== undefined || limitedKeys === 'allowed') return
  if (limits.spaces !== undefined) throw new Forbidden('The API key is limited to spaces, and this request is not in one of them')
  const verb = method === 'GET' && effects === undefined ? 'read' : 'write'
  if (limits.verbs !== undefined && !limits.verbs.has(verb)) throw new Forbidden(`The API key does not include the verb ${verb}`)
}

/** Refuses a caller who may not use the route on what its parameters name. */
export const authorize =
  (access: RouteAccess): Middleware =>
  (context, next) => {
    const { request } = context.state
    const { declaration } = request.route as RegisteredRoute
    const allow = (): Promise<unknown> => {
      requireStepUp(declaration, request.caller, changesSomething(request, declaration))
      return next()
    }
    const pending = access.require(declaration, request.caller, request.input)
    return pending ? pending.then(allow) : allow()
  }
