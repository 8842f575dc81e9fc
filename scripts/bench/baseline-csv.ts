/** Baseline for reports: a row iterator over the same database with csv-stringify, without joined columns, on node:http. */
import http from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { stringify } from 'csv-stringify'
import type { FileRecord } from 'pounce/sdk'

const db = new DatabaseSync(join(process.env['POUNCE_DATA'] ?? '.', 'documents', 'pounce.db'), { readOnly: true })
const table = `c${db.prepare("SELECT id FROM collections WHERE name = 'files'").get()?.['id']}`

function* rows(): Generator<readonly unknown[]> {
  for (const { doc } of db.prepare(`SELECT doc FROM ${table}`).iterate()) {
    const file = JSON.parse(String(doc)) as FileRecord & { readonly id: string }
    const { views, downloads, lastViewed, lastDownloaded } = file.statistics
    yield [
      ...['file', file.id, file.name, file.author, Math.floor(file.sizeBytes / 1000), file.created, views, downloads],
      ...[lastViewed, lastDownloaded, file.blob, file.places.map(place => place.dataset).join(', '), file.status],
    ]
  }
}

const server = http.createServer((request, response) => {
  if (request.url === '/healthz') response.end('healthy')
  else
    pipeline(Readable.from(rows()), stringify({ escape_formulas: true }), response).catch(error => {
      process.stderr.write(`${error}\n`)
    })
})
server.listen(Number(process.env['POUNCE_HTTP__PORT']), '127.0.0.1')
process.on('SIGTERM', () => process.exit(0))
