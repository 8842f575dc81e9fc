import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Bytes, DocumentStore, Installation, Invalid, routesFor, type Stored, s, Users } from 'pounce/sdk'
import { formatRow, fullNameOf, linkToNext, pageOf, readTime, rowSeparator, streamed, unquoted } from 'pounce/sdk/kit'
import { AccessLog } from './access-log.ts'
import { type AuditRecord, isChained } from './chain-writer.ts'
import { type AuditQuery, StoredAudit } from './stored-audit.ts'
import { AuditVerifier } from './verify-audit.ts'

const Account = s.Union([s.model('AuditAccount', s.Object({ id: s.String(), fullName: s.String(), email: s.String() })), s.Null()], {
  description: 'Null for the server itself and for anonymous callers; names are empty for deleted accounts',
})

/** An audit log entry as shown to admins. */
const AuditJson = s.model(
  'AuditEntry',
  s.Object({
    id: s.String(),
    at: s.String({ description: 'ISO 8601' }),
    type: s.String(),
    actor: Account,
    user: Account,
    subject: s.Union([s.Object({ kind: s.String(), id: s.String() }), s.Null()]),
    about: s.Record(s.String(), s.Union([s.String(), s.Number(), s.Boolean(), s.Array(s.String())])),
    address: s.Union([s.String(), s.Null()]),
    count: s.Integer({ description: 'Greater than one if similar events are combined' }),
    last: s.String({ description: 'Time of the last combined event' }),
    chain: s.Union([s.Object({ id: s.String(), seq: s.Integer(), prev: s.String(), hash: s.String() }), s.Null()], {
      description: 'Position in the hash chain, and the hash of the previous entry; null for entries of versions without chains',
    }),
  }),
)

type AuditJson = s.Static<typeof AuditJson>

/** Renders up to 500 entries with the names of users, in one read. */
const shownLines = async (users: Users, lines: readonly (AuditRecord & Stored)[]): Promise<AuditJson[]> => {
  const ids = new Set(lines.flatMap(({ actor, user }) => [actor, user]).filter(id => id !== null))
  const people = await users.getMany([...ids])
  const account = (id: string | null) => {
    if (id === null) return null
    const person = people.get(id)
    return { id, fullName: person ? fullNameOf(person) : '', email: person?.email ?? '' }
  }
  return lines.map(line => ({
    ...shown(line, account),
    chain: isChained(line) ? { id: line.chain, seq: line.seq, prev: line.prev, hash: line.hash } : null,
  }))
}

const shown = (
  { id, at, type, actor, user, subject, about, address, count, last }: AuditRecord & Stored,
  account: (id: string | null) => AuditJson['actor'],
) => ({
  ...{ id, at, type, actor: account(actor), user: account(user), subject, address, count, last },
  about: Object.fromEntries(Object.entries(about).map(([name, value]) => [name, typeof value === 'object' ? [...value] : value])),
})

const columns = [
  'at',
  'type',
  'actor',
  'actor id',
  'user',
  'user id',
  'subject',
  'subject id',
  'address',
  'count',
  'last',
  'about',
  'chain',
  'seq',
  'hash',
]

const batchSize = 500

async function* rowsOf(users: Users, lines: readonly (AuditRecord & Stored)[]): AsyncGenerator<string> {
  for (const { at, type, actor, user, subject, address, count, last, about, chain } of await shownLines(users, lines)) {
    const people = [actor, user].flatMap(person => [person?.email ?? null, unquoted(person?.id)])
    const details = Object.keys(about).length > 0 ? JSON.stringify(about) : null
    yield formatRow('csv', columns, [
      unquoted(at),
      unquoted(type),
      ...people,
      unquoted(subject?.kind),
      unquoted(subject?.id),
      address,
      count,
      unquoted(last),
      details,
      ...(chain ? [unquoted(chain.id), chain.seq, unquoted(chain.hash)] : [null, null, null]),
    ])
  }
}

async function* csvOf(users: Users, lines: AsyncIterable<AuditRecord & Stored>): AsyncGenerator<Buffer> {
  const between = rowSeparator('csv')
  const piece = async (some: readonly (AuditRecord & Stored)[]) => {
    const rows = await Array.fromAsync(rowsOf(users, some))
    return Buffer.from(rows.map(row => `${row}${between}`).join(''))
  }
  yield Buffer.from(`${columns.join(',')}${between}`)
  let some: (AuditRecord & Stored)[] = []
  for await (const line of lines) {
    some.push(line)
    if (some.length < batchSize) continue
    yield await piece(some)
    some = []
    await nextTurn()
  }
  if (some.length > 0) yield await piece(some)
}

/** The log as a CSV file, generated while it is sent. */
const auditCsv = (users: Users, lines: AsyncIterable<AuditRecord & Stored>): Bytes => ({
  contentType: 'text/csv; charset=utf-8',
  filename: 'audit.csv',
  open: () => streamed(csvOf(users, lines)),
})

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
    const { limit: _limit, after: _after, ...conditions } = query
    const page = await log.page(queryOf(conditions), pageOf(query))
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

const ChainFault = s.model(
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
        faults: s.Array(ChainFault, { description: 'The first 100 faults' }),
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
