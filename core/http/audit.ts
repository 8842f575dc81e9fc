import {
  type AccessTrail,
  type AuditTrail,
  anonymous,
  type Bytes,
  type Contributions,
  isSuperAdmin,
  type Policy,
  type Ref,
  s,
} from 'pounce/sdk'
import { type AccessOutcome, noteIn } from 'pounce/sdk/kit'
import type { SchemaShape } from '../json-schema.ts'
import { changesSomething, refsOf, rightOf } from './authorize.ts'
import type { Middleware, RequestContext, Values } from './request-context.ts'
import type { AnyReply } from './respond.ts'
import type { RegisteredRoute } from './router.ts'

/** Where requests are recorded, and what decides which. */
export interface AuditOptions {
  readonly trails?: Contributions<AuditTrail>
  readonly accessTrails?: Contributions<AccessTrail>
  readonly policy?: Policy
  readonly isPrivate: boolean
}

const subjectsOf = ({ declaration }: RegisteredRoute, input: Values, body: unknown): readonly Ref[] => {
  const named = refsOf(declaration, input)
  const served = (body as Partial<Bytes> | undefined)?.subject
  return named.length === 0 && served ? [served] : named
}

/** Whether anyone may have an answer that is about nothing in particular. */
const isForEverybody = (route: RegisteredRoute, { policy, isPrivate }: AuditOptions): boolean => {
  const { permission } = route.declaration
  const right = rightOf(route.declaration)
  if (right) return policy?.can(anonymous, right) === 'yes'
  return permission === 'anyone' || (permission === 'reader' && !isPrivate)
}

const outcomeOf = ({ res, head = {} }: RequestContext, written: number): AccessOutcome => {
  const isComplete = res.writableFinished
  const length = Number(head['content-length'])
  const range = head['content-range']
  const bytes = isComplete && Number.isSafeInteger(length) ? length : written
  return { status: res.statusCode, bytes, isComplete, ...(typeof range === 'string' && { range }) }
}

/**
 * Records an answer in every trail that takes such ones; the lines say how it ended. Called with what the handler answered, before any of it is sent.
 * Throws when it must be recorded and cannot be.
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
  if (subjects.length === 0 && (!isDownload || isForEverybody(route, options))) return
  const permission = rightOf(route.declaration)
  const note = { caller, requestId, method: req.method ?? '', path: declaration.path, operation, subjects, isDownload, address }
  const ends = trails.map(trail => trail.begin(permission ? { ...note, permission } : note))
  const { socket } = req
  const before = socket.bytesWritten
  const end = () => {
    const outcome = outcomeOf(request, socket.bytesWritten - before)
    for (const each of ends) each(outcome)
  }
  // An answer to a client that has gone already closes no more.
  if (res.closed) end()
  else res.once('close', end)
}

/** Things that one line names at most. */
const mostNamed = 20

/** What the address names: the resources that rights were asked on, and any other id. */
const thingsOf = ({ declaration }: RegisteredRoute, input: Values): { first: Ref | undefined; named: readonly string[] } => {
  const refs = refsOf(declaration, input)
  const others = Object.values(input).filter(value => s.isId(value) && !refs.some(({ id }) => id === value))
  return { first: refs[0], named: [...refs.slice(1).map(({ kind, id }) => `${kind} ${id}`), ...others.map(String)] }
}

/** What the line is called; undefined for a request that needs none. */
const typeOf = (request: RequestContext, { name, declaration }: RegisteredRoute): string | undefined => {
  const { caller } = request
  const { permission } = declaration
  if (!changesSomething(request, declaration)) return undefined
  if (isSuperAdmin(caller)) return 'superadmin.used'
  return permission === 'serverAdmin' ? `admin.${name}` : undefined
}

/**
 * Notes a request that changes something in superadmin mode, or by a route that is for server admins, before it is carried out: what cannot be noted is not
 * done. Undefined when there is nothing to note. The path is noted as declared, for what stands in it may be a secret.
 */
const auditAdminAction = (
  trails: Contributions<AuditTrail> | undefined,
  request: RequestContext,
  route: RegisteredRoute,
): Promise<void> | undefined => {
  const type = typeOf(request, route)
  if (!trails || type === undefined) return undefined
  const { caller, req, id: requestId, input, address } = request
  const { first, named } = thingsOf(route, input)
  const how = { via: caller.via, ...(caller.keyId === undefined ? {} : { key: caller.keyId }) }
  const what = { method: req.method ?? '', path: route.declaration.path, operation: route.name, requestId }
  return noteIn(trails, {
    type,
    ...(caller.user ? { actor: caller.user.id } : {}),
    ...(first ? { subject: first } : {}),
    about: { ...what, ...how, ...(named.length > 0 ? { things: named.slice(0, mostNamed) } : {}) },
    address,
  })
}

/** Records what server admins do, before it is done, and reads where a trail takes them. */
export const audit =
  (options: AuditOptions): Middleware =>
  async (context, next) => {
    const { request } = context.state
    const route = request.route as RegisteredRoute
    if (request.caller.superAdmin || route.declaration.permission === 'serverAdmin') await auditAdminAction(options.trails, request, route)
    await next()
    if (request.reply) auditAccess(options, request, route, request.reply)
  }
