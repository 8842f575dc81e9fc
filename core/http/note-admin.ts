import { type AuditTrail, type Contributions, isSuperAdmin, noteIn, type Ref, s } from 'pounce/sdk'
import type { Exchange } from './exchange.ts'
import type { Mount } from './mount.ts'

type Values = Readonly<Record<string, unknown>>

/** Things that one line names at most. */
const mostNamed = 20

/** What the address names: the things that rights were asked on, and any other id. */
const thingsOf = ({ declaration: { of, also = [] } }: Mount, input: Values): { first: Ref | undefined; named: readonly string[] } => {
  const refs = [of, ...also.map(check => check.of)].flatMap(named => (named ? [named(input)].flat() : []))
  const others = Object.values(input).filter(value => s.isId(value) && !refs.some(({ id }) => id === value))
  return { first: refs[0], named: [...refs.slice(1).map(({ kind, id }) => `${kind} ${id}`), ...others.map(String)] }
}

/** What the line is called; undefined for a request that needs none. */
const typeOf = ({ caller, req, isHead }: Exchange, { name, declaration: { permission, effects } }: Mount): string | undefined => {
  if (isHead || (req.method === 'GET' && effects === undefined)) return undefined
  if (isSuperAdmin(caller)) return 'superadmin.used'
  return permission === 'serverAdmin' ? `admin.${name}` : undefined
}

/**
 * Notes a request that changes something in superadmin mode, or by a route that is for server admins, before it is carried out: what cannot be noted is not
 * done. Undefined when there is nothing to note. The path is noted as declared, for what stands in it may be a secret.
 */
export const noteAdmin = (
  trails: Contributions<AuditTrail> | undefined,
  exchange: Exchange,
  mount: Mount,
  { input, address }: { readonly input: Values; readonly address: string },
): Promise<void> | undefined => {
  const type = typeOf(exchange, mount)
  if (!trails || type === undefined) return undefined
  const { caller, req, id: requestId } = exchange
  const { first, named } = thingsOf(mount, input)
  const how = { via: caller.via, ...(caller.keyId === undefined ? {} : { key: caller.keyId }) }
  const what = { method: req.method ?? '', path: mount.declaration.path, operation: mount.name, requestId }
  return noteIn(trails, {
    type,
    ...(caller.user ? { actor: caller.user.id } : {}),
    ...(first ? { subject: first } : {}),
    about: { ...what, ...how, ...(named.length > 0 ? { things: named.slice(0, mostNamed) } : {}) },
    address,
  })
}
