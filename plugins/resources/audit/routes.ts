import { type Bytes, Installation, Invalid, linkToNext, pageOf, parseListDate, routesFor, s, Users } from 'pounce/sdk'
import { auditCsv } from './audit-csv.ts'
import { AuditJson, shownLines } from './audit-json.ts'
import { AuditLog, type AuditQuery } from './stored-audit.ts'

const route = routesFor('admin', { log: AuditLog, users: Users, installation: Installation })

const time = (description: string) => s.Optional(s.String({ maxLength: 40, description }))
const filters = {
  user: s.Optional(s.String({ maxLength: 24, description: 'Id of the account it concerns' })),
  actor: s.Optional(s.String({ maxLength: 24, description: 'Id of the account of who did it' })),
  type: s.Optional(
    s.String({ maxLength: 100, description: 'Such as `user.signed-in`, `sign-in.refused`, `superadmin.used`, `admin.reindex`' }),
  ),
  since: time('Such as `2018-06-20T11:40:25.000Z`; that instant included'),
  until: time('Such as `2018-06-20T11:40:25.000Z`; that instant included'),
}

const queryOf = ({ user, actor, type, since, until }: AuditQuery): AuditQuery => ({
  ...(user === undefined ? {} : { user }),
  ...(actor === undefined ? {} : { actor }),
  ...(type === undefined ? {} : { type }),
  ...(since === undefined ? {} : { since: parseListDate(since, 'since').toISOString() }),
  ...(until === undefined ? {} : { until: parseListDate(until, 'until').toISOString() }),
})

const about =
  'An addition to Clowder 1.x: signing in and out, keys, passwords, accounts, roles, members, settings, and whatever is changed in superadmin mode or by a route for server admins. Nothing changes or removes a line but its age.'

export const listAudit = route({
  method: 'GET',
  path: '/api/admin/audit',
  summary: 'What admins and credentials did, newest first',
  description: `${about} Further pages through the \`Link\` header; a page can be shorter than asked for.`,
  permission: 'serverAdmin',
  query: s.Object({
    ...filters,
    limit: s.Integer({ default: 100, minimum: 1, maximum: 500 }),
    after: s.Optional(s.String({ maxLength: 200, description: 'From a `Link` header: where the page before this one ended' })),
  }),
  responses: { 200: s.Array(AuditJson) },
  throws: [Invalid],
  async handle({ query, url }, { log, users, installation }) {
    const { limit: _limit, after: _after, ...asked } = query
    const page = await log.page(queryOf(asked), pageOf(query))
    const body = await shownLines(users, page.items)
    return { status: 200, body, ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
  },
})

export const saveAudit = route({
  method: 'GET',
  path: '/api/admin/audit/csv',
  summary: 'What admins and credentials did, as CSV',
  description: `${about} Streamed (RFC 4180), newest first. Text with which a spreadsheet would begin a formula gets an apostrophe before it.`,
  permission: 'serverAdmin',
  query: s.Object(filters),
  responses: { 200: s.bytes<Bytes>() },
  throws: [Invalid],
  async handle({ query }, { log, users }) {
    return { status: 200, body: auditCsv(users, log.all(queryOf(query))) }
  },
})
