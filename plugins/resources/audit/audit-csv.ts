import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Bytes, bare, betweenLines, printLine, type Stored, streamed, type Users } from 'pounce/sdk'
import { shownLines } from './audit-json.ts'
import type { AuditRecord } from './audit-record.ts'

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
const batch = 500

async function* rowsOf(users: Users, lines: readonly (AuditRecord & Stored)[]): AsyncGenerator<string> {
  for (const { at, type, actor, user, subject, address, count, last, about, chain } of await shownLines(users, lines)) {
    const people = [actor, user].flatMap(person => [person?.email ?? null, bare(person?.id)])
    const facts = Object.keys(about).length > 0 ? JSON.stringify(about) : null
    yield printLine('csv', columns, [
      bare(at),
      bare(type),
      ...people,
      bare(subject?.kind),
      bare(subject?.id),
      address,
      count,
      bare(last),
      facts,
      ...(chain ? [bare(chain.id), chain.seq, bare(chain.hash)] : [null, null, null]),
    ])
  }
}

async function* csvOf(users: Users, lines: AsyncIterable<AuditRecord & Stored>): AsyncGenerator<Buffer> {
  const between = betweenLines('csv')
  const piece = async (some: readonly (AuditRecord & Stored)[]) => {
    const rows = await Array.fromAsync(rowsOf(users, some))
    return Buffer.from(rows.map(row => `${row}${between}`).join(''))
  }
  yield Buffer.from(`${columns.join(',')}${between}`)
  let some: (AuditRecord & Stored)[] = []
  for await (const line of lines) {
    some.push(line)
    if (some.length < batch) continue
    yield await piece(some)
    some = []
    await nextTurn()
  }
  if (some.length > 0) yield await piece(some)
}

/** The log as a file to save, made while it is sent. */
export const auditCsv = (users: Users, lines: AsyncIterable<AuditRecord & Stored>): Bytes => ({
  contentType: 'text/csv; charset=utf-8',
  filename: 'audit.csv',
  open: () => streamed(csvOf(users, lines)),
})
