import type { AnyEvent, EventType, StoredEvent } from 'pounce/sdk'
import type { AuditDetails } from './chain-writer.ts'

/** The fields of an audit entry besides its actor, time and subject. */
export interface AuditLine {
  /** Defaults to the type of the event. */
  readonly type?: string
  /** The account affected. */
  readonly user?: string
  readonly about?: AuditDetails
  readonly address?: string
}

type Lines = { readonly [T in EventType]?: (event: StoredEvent<T>) => AuditLine | undefined }

/** Fields that control access. Changes to other fields of an account are recorded only when made by someone else. */
const guarded = new Set(['status', 'password', 'keys', 'email', 'identities', 'groups', 'provider', 'termsAccepted'])
const types: readonly (readonly [field: string, type: string])[] = [
  ['status', 'user.status-changed'],
  ['password', 'user.password-changed'],
  ['termsAccepted', 'user.terms-accepted'],
]

const updated = ({ subject, actor, data: { fields, status } }: StoredEvent<'user.updated'>): AuditLine | undefined => {
  const isOwn = actor === undefined || actor === subject.id
  if (isOwn && !fields.some(field => guarded.has(field))) return undefined
  const type = types.find(([field]) => fields.includes(field))?.[1] ?? 'user.updated'
  return { type, user: subject.id, about: { fields, ...(status === undefined ? {} : { status }) } }
}

const definition = ({
  data: { space },
}: StoredEvent<'definition.added' | 'definition.updated' | 'definition.removed'>): AuditLine | undefined =>
  space === null ? {} : undefined

const lines: Lines = {
  'user.created': ({ subject }) => ({ user: subject.id }),
  'user.updated': updated,
  'user.linked': ({ subject, data: { provider } }) => ({ user: subject.id, about: { provider } }),
  'user.second-factor-changed': ({ subject, data: { change } }) => ({ user: subject.id, about: { change } }),
  'user.link-requested': ({ subject, data: { provider } }) => ({ user: subject.id, about: { provider } }),
  'user.erasure-requested': ({ subject, data: { heir } }) => ({ user: subject.id, about: heir === null ? {} : { heir } }),
  'user.erased': ({ subject }) => ({ user: subject.id }),
  'user.signed-in': ({ subject, data: { address } }) => ({ user: subject.id, ...(address === undefined ? {} : { address }) }),
  'user.signed-out': ({ subject }) => ({ user: subject.id }),
  'session.ended': ({ subject, data: { session } }) => ({ user: subject.id, about: { session } }),
  'key.created': ({ data: { user, ...about } }) => ({ user, about }),
  'key.revoked': ({ data: { user, ...about } }) => ({ user, about }),
  'space.member-changed': ({ data: { user, change, role } }) => ({ user, about: { change, ...(role && { role }) } }),
  'space.group-changed': ({ data: { group, change, role } }) => ({ about: { group, change, ...(role && { role }) } }),
  'space.join-requested': ({ data: { user } }) => ({ user }),
  'space.invited': ({ data: { invitation } }) => ({ about: { invitation } }),
  'space.invitation-ended': ({ data: { invitation, how } }) => ({ about: { invitation, how } }),
  'space.request-rejected': ({ data: { user } }) => ({ user }),
  'space.verified': () => ({}),
  'space.removed': ({ data: { name } }) => ({ about: { name } }),
  'role.created': () => ({}),
  'role.updated': ({ data: { fields, given, taken } }) => ({ about: { fields, given, taken } }),
  'role.removed': ({ data: { name, successor } }) => ({ about: { name, ...(successor === null ? {} : { successor }) } }),
  'group.created': () => ({}),
  'group.updated': ({ data: { fields } }) => ({ about: { fields } }),
  'group.removed': ({ data: { name } }) => ({ about: { name } }),
  'group.member-changed': ({ data: { user, change } }) => ({ user, about: { change } }),
  'webhook.created': ({ subject, data: { webhook, scope, space } }) => ({
    user: subject.id,
    about: { webhook, scope, ...(space && { space }) },
  }),
  'webhook.updated': ({ subject, data: { webhook, fields } }) => ({ user: subject.id, about: { webhook, fields } }),
  'webhook.removed': ({ subject, data: { webhook } }) => ({ user: subject.id, about: { webhook } }),
  'webhook.paused': ({ subject, data: { webhook, reason } }) => ({ user: subject.id, about: { webhook, reason } }),
  'site.updated': ({ data: { fields } }) => ({ about: { fields } }),
  'extractor.registered': ({ data: { name } }) => ({ about: { name } }),
  'file.link-created': ({ data: { link, expires } }) => ({ about: { link, expires } }),
  'file.link-revoked': ({ data: { link, maker } }) => ({ user: maker, about: { link } }),
  'file.link-used': ({ data: { link, maker, address } }) => ({ user: maker, about: { link }, address }),
  'file.damaged': ({ data: { found } }) => ({ about: { found } }),
  'file.repaired': () => ({}),
  'file.quarantined': ({ data: { signature } }) => ({ about: { signature } }),
  'definition.added': definition,
  'definition.updated': definition,
  'definition.removed': definition,
}

/** The event types that are audited. */
export const auditedEvents = Object.keys(lines) as readonly EventType[]

/** The audit entry for an event; undefined for events that are not audited. */
export const auditLineOf = (event: AnyEvent): AuditLine | undefined =>
  (lines[event.type] as ((event: AnyEvent) => AuditLine | undefined) | undefined)?.(event)
