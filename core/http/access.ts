import {
  type Caller,
  Forbidden,
  isServerAdmin,
  lacking,
  NotFound,
  NotSignedIn,
  type Permission,
  type Policy,
  type Ref,
  readingPermissions,
  TermsNotAccepted,
  type Verdict,
} from 'pounce/sdk'
import type { Declaration } from './mount.ts'

type Input = Readonly<Record<string, unknown>>

/** Decides whether a caller may use a route; throws the refusal. */
export class Access {
  readonly #policy: Policy | undefined
  readonly #isPrivate: boolean

  constructor(policy: Policy | undefined, isPrivate: boolean) {
    this.#policy = policy
    this.#isPrivate = isPrivate
  }

  /** Throws, or rejects with, 401 for an anonymous caller, 403 for one who may not, 404 for one who may not know. */
  require(declaration: Declaration, caller: Caller, input: Input): Promise<void> | undefined {
    const { permission, of, also } = declaration
    this.#requireStanding(declaration, caller)
    const isOnThing = isRight(permission) && of !== undefined
    if (isRight(permission) && !isOnThing) this.#requireAnywhere(permission, caller)
    // Most routes that anybody may use end here, without a turn of the microtask queue.
    return isOnThing || also ? this.#requireOnThings(declaration, caller, input) : undefined
  }

  async #requireOnThings(declaration: Declaration, caller: Caller, input: Input): Promise<void> {
    const { permission, of, also } = declaration
    if (isRight(permission) && of) await this.#requireOn(permission, caller, of(input), declaration)
    for (const check of also ?? []) await this.#requireOn(check.permission, caller, check.of(input), declaration)
  }

  /**
   * For a request whose things cannot be named because its input is wrong: an anonymous caller who could not do this
   * to anything gets 401, as for any thing; everybody else learns what was wrong. A wrong id is answered like one that nobody has.
   */
  requireForWrongInput(declaration: Declaration, caller: Caller, isWrongId = false): void {
    const { permission } = declaration
    this.#requireStanding(declaration, caller)
    if (!isRight(permission) || !isAnonymous(caller) || this.#policy?.can(caller, permission) === 'yes') return
    if (!(isWrongId && this.#tellsOfAbsence(permission, declaration))) throw new NotSignedIn()
  }

  #requireStanding(declaration: Declaration, caller: Caller): void {
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
        throw new Forbidden('Only a server admin may do this')
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
    for (const ref of 'kind' in refs ? [refs] : refs) {
      const verdict = (await this.#policy?.canOn(caller, permission, ref)) ?? 'no'
      if (verdict !== 'yes') throw this.#refusal(verdict, permission, caller, ref, declaration)
    }
  }

  #refusal(verdict: Exclude<Verdict, 'yes'>, permission: Permission, caller: Caller, ref: Ref, declaration: Declaration): Error {
    if (isAnonymous(caller) && !(verdict === 'unseen' && this.#tellsOfAbsence(permission, declaration))) return new NotSignedIn()
    if (verdict === 'unseen') return new NotFound(ref.kind)
    return lacking(caller, permission, ref.kind)
  }

  /** True where nobody in particular learns that a thing is not there: by looking, on a server that hides nothing. */
  #tellsOfAbsence(permission: Permission, { method, effects }: Declaration): boolean {
    return !this.#isPrivate && (readingPermissions.has(permission) || (method === 'GET' && effects === undefined))
  }
}

/** Who has not accepted the terms gets nowhere, whatever their rank or key, but to what leads there. */
export const requireTerms = ({ beforeTerms }: Declaration, { user }: Caller): void => {
  if (user?.termsPending && !beforeTerms) throw new TermsNotAccepted()
}

const isAnonymous = (caller: Caller): boolean => caller.via === 'nothing'

const requireAccount = (caller: Caller): void => {
  if (isAnonymous(caller)) throw new NotSignedIn()
  if (caller.user?.status === 'Inactive') throw new Forbidden('The account is not active')
}

/** Where no permission on a thing is asked for, the policy cannot hold a key to what it was made for. */
const requireReach = ({ limitedKeys, method, effects }: Declaration, { scope, limits }: Caller): void => {
  if (limitedKeys === 'refused' && (limits !== undefined || scope === 'extraction'))
    throw new Forbidden('A key that reaches less far than its owner cannot deal with keys, sessions and the account')
  if (limits === undefined || limitedKeys === 'allowed') return
  if (limits.spaces !== undefined) throw new Forbidden('The key is held to spaces, and this is in none')
  const verb = method === 'GET' && effects === undefined ? 'read' : 'write'
  if (limits.verbs !== undefined && !limits.verbs.has(verb)) throw new Forbidden(`The key was made without the verb ${verb}`)
}

const isRight = (permission: Declaration['permission']): permission is Permission =>
  permission !== 'anyone' && permission !== 'reader' && permission !== 'signedIn' && permission !== 'serverAdmin'
