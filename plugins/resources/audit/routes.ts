import { type Bytes, DocumentStore, Installation, Invalid, linkToNext, pageOf, readTime, routesFor, s, Users } from 'pounce/sdk'
import { AccessLog } from './access-log.ts'
import { auditCsv } from './audit-csv.ts'
import { AuditJson, shownLines } from './audit-json.ts'
import { type AuditQuery, StoredAudit } from './stored-audit.ts'
import { AuditVerifier } from './verify-audit.ts'

const route = routesFor('admin', {
  log: StoredAudit,
  access: AccessLog,
  documents: DocumentStore,
  users: Users,
  installation: Installation,
})

const time = (description: string) => s.Optional(s.String({ maxLength: 40, description }))
const filters = {
  user: s.Optional(s.String({ maxLength: 24, description: 'Id of the affected account' })),
  actor: s.Optional(s.String({ maxLength: 24, description: 'Id of the acting account' })),
  type: s.Optional(
    s.String({
      maxLength: 100,
      description: 'Event type, such as `user.signed-in`, `sign-in.refused`, `superadmin.used`, `admin.reindex`',
    }),
  ),
  since: time('Such as `2018-06-20T11:40:25.000Z` or `2018-06-20`, UTC without a zone; that instant included'),
  until: time('Such as `2018-06-20T11:40:25.000Z` or `2018-06-20`, UTC without a zone; that instant included'),
}

const queryOf = ({ user, actor, type, since, until }: AuditQuery): AuditQuery => ({
  ...(user === undefined ? {} : { user }),
  ...(actor === undefined ? {} : { actor }),
  ...(type === undefined ? {} : { type }),
  ...(since === undefined ? {} : { since: new Date(readTime(since, 'since')).toISOString() }),
  ...(until === undefined ? {} : { until: new Date(readTime(until, 'until')).toISOString() }),
})

const about =
  'An addition to Clowder 1.x: signing in and out, keys, passwords, accounts, roles, members, settings, downloads of non-public data (`resources.audit.reads`), and changes made in superadmin mode or by a route for server admins. Entries are deleted only when their retention ends.'

export const listAudit = route({
  method: 'GET',
  path: '/api/admin/audit',
  summary: 'List audit log entries, newest first',
  description: `${about} Paginated by the \`Link\` header; a page can be shorter than \`limit\`.`,
  permission: 'serverAdmin',
  query: s.Object({
    ...filters,
    limit: s.Integer({ default: 100, minimum: 1, maximum: 500 }),
    after: s.Optional(s.String({ maxLength: 200, description: 'Cursor from a `Link` header: the end of the previous page' })),
  }),
  responses: { 200: s.Array(AuditJson) },
  throws: [Invalid],
  async handle({ query, url }, { log, access, users, installation }) {
    await access.flush()
    const { limit: _limit, after: _after, ...asked } = query
    const page = await log.page(queryOf(asked), pageOf(query))
    const body = await shownLines(users, page.items)
    return { status: 200, body, ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
  },
})

export const saveAudit = route({
  method: 'GET',
  path: '/api/admin/audit/csv',
  summary: 'Export the audit log as CSV',
  description: `${about} Streamed (RFC 4180), newest first. Text that a spreadsheet would read as a formula is prefixed with an apostrophe.`,
  permission: 'serverAdmin',
  cost: 'export',
  query: s.Object(filters),
  responses: { 200: s.bytes<Bytes>({ 'text/csv': s.bytes() }) },
  throws: [Invalid],
  async handle({ query }, { log, access, users }) {
    await access.flush()
    return { status: 200, body: auditCsv(users, log.all(queryOf(query))) }
  },
})

const Fault = s.model(
  'AuditFault',
  s.Object({
    fault: s.Union([s.Literal('changed'), s.Literal('removed'), s.Literal('inserted'), s.Literal('reordered')]),
    chain: s.String(),
    seq: s.Integer({ description: 'Position in the chain' }),
    id: s.Union([s.String(), s.Null()], { description: 'Id of the entry, if it has one' }),
    detail: s.String(),
  }),
)

export const verifyAudit = route({
  method: 'GET',
  path: '/api/admin/audit/verification',
  summary: 'Verify the hash chains of the audit log',
  description:
    'An addition to Clowder 1.x. Reads the whole log. Detects entries that were changed, removed, inserted or reordered; compare `heads` with external copies to detect a log that was rewritten from some entry on.',
  permission: 'serverAdmin',
  responses: {
    200: s.model(
      'AuditVerification',
      s.Object({
        isIntact: s.Boolean(),
        lines: s.Integer({ description: 'Number of entries in chains' }),
        chains: s.Integer(),
        unchained: s.Object(
          { lines: s.Integer(), until: s.Union([s.String(), s.Null()]) },
          { description: 'Number of entries of versions without chains, which are not protected' },
        ),
        faults: s.Array(Fault, { description: 'The first 100 faults' }),
        faultCount: s.Integer(),
        heads: s.Array(s.Object({ chain: s.String(), seq: s.Integer(), hash: s.String() }), {
          description: 'Heads of the newest 100 chains',
        }),
      }),
    ),
  },
  async handle({ signal }, { access, documents }) {
    await access.flush()
    const { faults, heads, ...found } = await new AuditVerifier(documents).verify({ signal })
    return { status: 200, body: { ...found, faults: [...faults], heads: [...heads] } }
  },
})
