/**
 * Baseline for lists of entries: the same rows directly on node:http and node:sqlite, from one index joined with the documents, without
 * permission checks, validation, authors or totals.
 */
import http from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { entryNameKey } from '../../plugins/resources/entries/entry-order.ts'
import { fileRecord } from './entry-records.ts'

const db = new DatabaseSync(join(process.env['POUNCE_DATA'] ?? '.', 'entries.db'))
db.exec(
  'CREATE TABLE docs(r INTEGER PRIMARY KEY, doc TEXT); CREATE TABLE names(place TEXT, name TEXT, id TEXT, r INT, PRIMARY KEY(place, name, id)) WITHOUT ROWID; BEGIN',
)
const [addDoc, addName] = [db.prepare('INSERT INTO docs VALUES(?, ?)'), db.prepare('INSERT INTO names VALUES(?, ?, ?, ?)')]
for (let n = 0; n < Number(process.env['BENCH_ENTRIES']); n++) {
  const { id, ...record } = fileRecord(n, 'place', 'author')
  addDoc.run(n, JSON.stringify({ id, ...record }))
  addName.run('place', entryNameKey(record.name), id, n)
}
db.exec('COMMIT')

const page = db.prepare('SELECT d.doc FROM names n JOIN docs d ON d.r = n.r WHERE n.place = ? ORDER BY n.name, n.id LIMIT 1000')

const entryOf = ({ doc }: Readonly<Record<string, unknown>>) => {
  const { id, name, sizeBytes, contentType, created, author, status, thumbnail } = JSON.parse(String(doc)) as ReturnType<typeof fileRecord>
  return { id, kind: 'file', name, size: sizeBytes, type: contentType, created, author: { id: author, fullName: '' }, status, thumbnail }
}

http
  .createServer((_request, response) => {
    const body = Buffer.from(JSON.stringify({ entries: page.all('place').map(entryOf) }))
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
    response.end(body)
  })
  .listen(Number(process.env['POUNCE_HTTP__PORT']), '127.0.0.1')
