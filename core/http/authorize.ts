import {
  type AccessDecision,
  type AccessTrail,
  type AuditTrail,
  anonymous,
  type Bytes,
  type Caller,
  type Contributions,
  Forbidden,
  InTrash,
  isServerAdmin,
  isSuperAdmin,
  NotFound,
  NotSignedIn,
  type Permission,
  type Policy,
  type Ref,
  SecondFactorEnrolmentRequired,
  s,
  TermsNotAccepted,
} from 'pounce/sdk'
import {
  type AccessOutcome,
  type PermissionCatalog,
  permissionDenied,
  recordAuditNote,
  requireRecentAuthentication,
  type ScopedRight,
  type TrashRule,
} from 'pounce/sdk/kit'
import type { SchemaShape } from '../json-schema.ts'
import { type Middleware, type RequestContext, sentStatus, type Values } from './request-context.ts'
import type { AnyReply } from './respond.ts'
import type { Declaration, RegisteredRoute } from './router.ts'

/** The right that a route requires, if any. */
export const rightOf = ({ permission }: Declaration): Permission | undefined =>
  typeof permission === 'object' ? permission.right : undefined

/** Whether a route checks rights on resources in its path or query. */
export const namesResources = ({ permission, alsoRequires }: Declaration): boolean =>
  alsoRequires !== undefined || (typeof permission === 'object' && permission.on !== undefined)

/** The rights that a route checks on resources, in order. */
const scopedRights = ({ permission, alsoRequires = [] }: Declaration): readonly ScopedRight<Values>[] =>
  typeof permission === 'object' && permission.on ? [permission, ...alsoRequires] : alsoRequires

/** The resources of a request that the rights of its route are checked on. */
export const refsOf = (declaration: Declaration, input: Values): readonly Ref[] =>
  scopedRights(declaration).flatMap(({ on }): Ref | readonly Ref[] => on(input))

/** False for requests that only read. */
const changesSomething = ({ req, isHead }: RequestContext, { effects }: Declaration): boolean =>
  !isHead && (req.method !== 'GET' || effects !== undefined)

/** Decides whether a caller may use a route; throws the refusal. */
export class RouteAccess {
  readonly #policy: Policy | undefined
  readonly #isPrivate: () => boolean
  readonly #permissions: PermissionCatalog

  constructor(policy: Policy | undefined, isPrivate: () => boolean, permissions: PermissionCatalog) {
    this.#policy = policy
    this.#isPrivate = isPrivate
    this.#permissions = permissions
  }

  /** Throws or rejects with 401 for an anonymous caller, 403 without the right, 404 for an invisible resource. */
  require(declaration: Declaration, caller: Caller, input: Values): Promise<void> | undefined {
    const { permission } = declaration
    this.#requireStanding(declaration, caller)
    if (typeof permission === 'object' && !permission.on) this.#requireAnywhere(permission.right, caller)
    // Most public routes end here, without a microtask.
    return namesResources(declaration) ? this.#requireOnResources(declaration, caller, input) : undefined
  }

  async #requireOnResources(declaration: Declaration, caller: Caller, input: Values): Promise<void> {
    for (const required of scopedRights(declaration)) {
      const refs = required.on(input)
      const isOnNothing = Array.isArray(refs) && refs.length === 0
      if (isOnNothing && required === declaration.permission) this.#requireAnywhere(required.right, caller)
      else await this.#requireOn(required.right, caller, refs, declaration)
    }
  }

  /**
   * For a request whose resources are unknown because its input is invalid: an anonymous caller who has this right on no resource
   * gets 401, as with valid input; all others get the input error. A malformed id gets the same response as an unknown one.
   */
  requireForWrongInput(declaration: Declaration, caller: Caller, isWrongId = false): void {
    const right = rightOf(declaration)
    this.#requireStanding(declaration, caller)
    if (right === undefined || !isAnonymous(caller) || this.#policy?.can(caller, right) === 'yes') return
    if (!(isWrongId && this.#revealsAbsence(right, declaration))) throw new NotSignedIn()
  }

  #requireStanding(declaration: Declaration, caller: Caller): void {
    if (caller.limits?.job && declaration.jobKeys !== 'allowed')
      throw new Forbidden('The key of a job allows only extractor requests: use your own API key')
    switch (declaration.permission) {
      case 'reader':
        if (this.#isPrivate()) requireAccount(caller)
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
    throw permissionDenied(caller, permission)
  }

  async #requireOn(permission: Permission, caller: Caller, refs: Ref | readonly Ref[], declaration: Declaration): Promise<void> {
    const trash = trashRuleOf(declaration)
    for (const ref of 'kind' in refs ? [refs] : refs) {
      const decision = (await this.#policy?.canOn(caller, permission, ref, trash)) ?? 'no'
      if (decision !== 'yes') throw this.#refusal(decision, permission, caller, ref, declaration)
    }
  }

  #refusal(decision: Exclude<AccessDecision, 'yes'>, permission: Permission, caller: Caller, ref: Ref, declaration: Declaration): Error {
    if (isAnonymous(caller) && !(decision === 'unseen' && this.#revealsAbsence(permission, declaration))) return new NotSignedIn()
    if (decision === 'unseen') return new NotFound(ref.kind)
    if (decision === 'frozen') return new InTrash(ref.kind)
    return permissionDenied(caller, permission, ref.kind)
  }

  /** Whether anonymous callers get 404 for an absent resource: for reads on a public server. */
  #revealsAbsence(permission: Permission, { method, effects }: Declaration): boolean {
    return !this.#isPrivate() && (this.#permissions.isReading(permission) || (method === 'GET' && effects === undefined))
  }
}

/** Depends on the route, not the permission: some routes read with a write permission, others change a resource with its view permission. */
const trashRuleOf = ({ method, effects, inTrash }: Declaration): TrashRule | undefined => {
  if (method === 'GET' && effects === undefined) return 'readable'
  return inTrash === undefined ? 'frozen' : undefined
}

/** Refuses all callers who have not accepted the terms, including admins and keys, except on routes needed to accept them. */
export const requireTerms = ({ beforeTerms }: Declaration, { user }: Caller): void => {
  if (user?.termsPending && !beforeTerms) throw new TermsNotAccepted()
}

/**
 * Refuses callers who need a second factor and have none, except on routes needed to enrol one. API keys remain valid except for administration:
 * they were created before the requirement applied, and programs cannot enrol.
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

/** Refuses requests that require a recent authentication if the caller's is not recent. */
const requireStepUp = ({ stepUp, permission }: Declaration, caller: Caller, isChange: boolean): void => {
  if (stepUp ?? (caller.superAdmin || (permission === 'serverAdmin' && isChange))) requireRecentAuthentication(caller)
}

const isAnonymous = (caller: Caller): boolean => caller.via === 'nothing'

const requireAccount = (caller: Caller): void => {
  if (isAnonymous(caller)) throw new NotSignedIn()
  if (caller.user?.status === 'Inactive') throw new Forbidden('The account is inactive')
}

/** Enforces the limits of keys on routes without a resource permission, which the policy does not check. */
const requireReach = ({ limitedKeys, method, effects }: Declaration, { scope, limits }: Caller): void => {
  if (limitedKeys === 'refused' && (limits !== undefined || scope === 'extraction'))
    throw new Forbidden('A limited API key cannot manage keys, sessions and the account')
  // Routes that accept job keys check them themselves.
  if (limits === undefined || limits.job !== undefined || limitedKeys === 'allowed') return
  if (limits.spaces !== undefined) throw new Forbidden('The API key is limited to spaces, and this request is not in one of them')
  const verb = method === 'GET' && effects === undefined ? 'read' : 'write'
  if (limits.verbs !== undefined && !limits.verbs.has(verb)) throw new Forbidden(`The API key does not include the verb ${verb}`)
}

/** Refuses callers without the route's rights on the resources in its parameters. */
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

/** The audit trails, and what decides which requests are recorded. */
export interface AuditOptions {
  readonly trails?: Contributions<AuditTrail>
  readonly accessTrails?: Contributions<AccessTrail>
  readonly policy?: Policy
  readonly isPrivate: () => boolean
}

const subjectsOf = ({ declaration }: RegisteredRoute, input: Values, body: unknown): readonly Ref[] => {
  const named = refsOf(declaration, input)
  const served = (body as Partial<Bytes> | undefined)?.subject
  return named.length === 0 && served ? [served] : named
}

/** Whether the route is open to anonymous callers, for responses without a subject. */
const isForEveryone = (route: RegisteredRoute, { policy, isPrivate }: AuditOptions): boolean => {
  const { permission } = route.declaration
  const right = rightOf(route.declaration)
  if (right) return policy?.can(anonymous, right) === 'yes'
  return permission === 'anyone' || (permission === 'reader' && !isPrivate())
}

const outcomeOf = ({ res, head = {} }: RequestContext, written: () => number): AccessOutcome => {
  const isComplete = res.writableFinished
  const length = Number(head['content-length'])
  const range = head['content-range']
  const bytes = isComplete && Number.isSafeInteger(length) ? length : written()
  return { status: sentStatus(res), bytes, isComplete, ...(typeof range === 'string' && { range }) }
}

/**
 * Records a response in every trail that records such requests, with its outcome. Called with the handler's reply before it is sent.
 * Throws if a required record cannot be written.
 */
const auditAccess = (options: AuditOptions, request: RequestContext, route: RegisteredRoute, reply: AnyReply): void => {
  const { declaration, name: operation } = route
  const { caller, req, res, id: requestId, isHead, input, address } = request
  const hasBytes = (declaration.responses[reply.status] as SchemaShape | undefined)?.['x-body'] === 'bytes'
  const isDownload = hasBytes && !isHead
  const isRead = declaration.method === 'GET' && declaration.effects === undefined
  if (!isDownload && !isRead) return
  const trails = options.accessTrails?.all().filter(({ reads }) => (reads === 'all' && isRead) || (reads !== 'off' && isDownload)) ?? []
  if (trails.length === 0 || (reply.body as Partial<Bytes> | undefined)?.isTrusted) return
  const subjects = subjectsOf(route, input, reply.body)
  if (subjects.length === 0 && (!isDownload || isForEveryone(route, options))) return
  const permission = rightOf(route.declaration)
  const note = { caller, requestId, method: req.method ?? '', path: declaration.path, operation, subjects, isDownload, address }
  const ends = trails.map(trail => trail.begin(permission ? { ...note, permission } : note))
  const { socket } = req
  const before = socket.bytesWritten
  const end = () => {
    const outcome = outcomeOf(request, () => socket.bytesWritten - before)
    for (const each of ends) each(outcome)
  }
  // If the client has already disconnected, `close` is not emitted again.
  if (res.closed) end()
  else res.once('close', end)
}

/** Maximum number of ids per audit line. */
const maxNamed = 20

/** The ids in the parameters: the resources that rights were checked on, and all others. */
const namedIdsOf = ({ declaration }: RegisteredRoute, input: Values): { first: Ref | undefined; named: readonly string[] } => {
  const refs = refsOf(declaration, input)
  const others = Object.values(input).filter(value => s.isId(value) && !refs.some(({ id }) => id === value))
  return { first: refs[0], named: [...refs.slice(1).map(({ kind, id }) => `${kind} ${id}`), ...others.map(String)] }
}

/** The type of the audit line; undefined for requests that are not recorded. */
const typeOf = (request: RequestContext, { name, declaration }: RegisteredRoute): string | undefined => {
  const { caller } = request
  const { permission } = declaration
  if (!changesSomething(request, declaration)) return undefined
  if (isSuperAdmin(caller)) return 'superadmin.used'
  return permission === 'serverAdmin' ? `admin.${name}` : undefined
}

/**
 * Records a change in superadmin mode or through a server admin route before it is executed: if it cannot be recorded, it is not executed.
 * Undefined if there is nothing to record. The path is recorded as declared, because its parameters may be secrets.
 */
const auditAdminAction = (
  trails: Contributions<AuditTrail> | undefined,
  request: RequestContext,
  route: RegisteredRoute,
): Promise<void> | undefined => {
  const type = typeOf(request, route)
  if (!trails || type === undefined) return undefined
  const { caller, req, id: requestId, input, address } = request
  const { first, named } = namedIdsOf(route, input)
  const how = { via: caller.via, ...(caller.keyId === undefined ? {} : { key: caller.keyId }) }
  const what = { method: req.method ?? '', path: route.declaration.path, operation: route.name, requestId }
  return recordAuditNote(trails, {
    type,
    ...(caller.user ? { actor: caller.user.id } : {}),
    ...(first ? { subject: first } : {}),
    about: { ...what, ...how, ...(named.length > 0 ? { things: named.slice(0, maxNamed) } : {}) },
    address,
  })
}

/** Records actions of server admins before they are executed, and reads if a trail records them. */
export const audit =
  (options: AuditOptions): Middleware =>
  async (context, next) => {
    const { request } = context.state
    const route = request.route as RegisteredRoute
    if (request.caller.superAdmin || route.declaration.permission === 'serverAdmin') await auditAdminAction(options.trails, request, route)
    await next()
    if (request.reply) auditAccess(options, request, route, request.reply)
  }
