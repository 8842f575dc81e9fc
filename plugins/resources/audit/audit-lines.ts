import type { AnyEvent, EventType, StoredEvent } from 'pounce/sdk'
import type { Facts } from './audit-record.ts'

/** What the log says of an event, besides who did it, when and to what. */
export interface AuditLine {
  /** The event's own type unless said. */
  readonly type?: string
  /** The account it concerns. */
  readonly user?: string
  readonly about?: Facts
  readonly address?: string
}

type Lines = { readonly [T in EventType]?: (event: StoredEvent<T>) => AuditLine | undefined }

/** What decides who gets in and what they may do; the rest of an account is of interest only when somebody else changes it. */
const guarded = new Set(['status', 'password', 'email', 'identities', 'groups', 'provider'])

const updated = ({ subject, actor, data: { fields, status } }: StoredEvent<'user.updated'>): AuditLine | undefined => {
  if (actor === subject.id && !fields.some(field => guarded.has(field))) return undefined
  if (actor === undefined && fields.every(field => !guarded.has(field))) return undefined
  const type = fields.includes('status') ? 'user.status-changed' : fields.includes('password') ? 'user.password-changed' : 'user.updated'
  return { type, user: subject.id, about: { fields, ...(status === undefined ? {} : { status }) } }
}

const definition =
  () =>
  ({ data: { space } }: StoredEvent<'definition.added' | 'definition.updated' | 'definition.removed'>): AuditLine | undefined =>
    space === null ? {} : undefined

const lines: Lines = {
  'user.created': ({ subject }) => ({ user: subject.id }),
  'user.updated': updated,
  'user.signed-in': ({ subject, data: { address } }) => ({ user: subject.id, ...(address === undefined ? {} : { address }) }),
  'key.created': ({ actor }) => (actor === undefined ? {} : { user: actor }),
  'key.revoked': ({ data }) => ({ user: data.user }),
  'space.member-changed': ({ data: { user, change } }) => ({ user, about: { change } }),
  'space.request-rejected': ({ data: { user } }) => ({ user }),
  'space.verified': () => ({}),
  'space.removed': ({ data: { name } }) => ({ about: { name } }),
  'site.updated': ({ data: { fields } }) => ({ about: { fields } }),
  'extractor.registered': ({ data: { name } }) => ({ about: { name } }),
  'definition.added': definition(),
  'definition.updated': definition(),
  'definition.removed': definition(),
}

/** The types that the log must hear. */
export const auditedEvents = Object.keys(lines) as readonly EventType[]

/** What the log says of an event; undefined for what it leaves out. */
export const auditLineOf = (event: AnyEvent): AuditLine | undefined =>
  (lines[event.type] as ((event: AnyEvent) => AuditLine | undefined) | undefined)?.(event)
