/**
 * Baseline: what Pounce does for the same requests, implemented directly on node:http and node:sqlite, without permission checks, validation,
 * plugins or verification. Every statement is prepared once, and all requests of one event-loop turn share a transaction.
 *
 * For each dataset, file and document it writes what Pounce writes: the record, its index entries, an event with an entry per consumer
 * (deleted again), a feed entry, the totals, and the search index entry in a separate database. Small files are appended to one
 * file with a shared fdatasync.
 */
import { createHash, hash, randomBytes } from 'node:crypto'
import { closeSync, createReadStream, createWriteStream, fdatasync, fsync, mkdirSync, openSync, writev } from 'node:fs'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'

const folder = process.env['POUNCE_DATA'] ?? '.'
mkdirSync(folder, { recursive: true })

const open = (file: string, synchronous: string, schema: string): DatabaseSync => {
  const db = new DatabaseSync(join(folder, file))
  db.exec(`PRAGMA journal_mode=WAL; PRAGMA synchronous=${synchronous}; PRAGMA cache_size=-65536; ${schema}`)
  return db
}

const consumers = ['search', 'contents', 'feed', 'totals']
const db = open(
  'baseline.db',
  'FULL',
  `CREATE TABLE IF NOT EXISTS records(id TEXT PRIMARY KEY, revision INT, doc TEXT) WITHOUT ROWID;
   CREATE TABLE IF NOT EXISTS keys(k1 TEXT, k2 TEXT, k3 TEXT, id TEXT, PRIMARY KEY(k1, k2, k3, id)) WITHOUT ROWID;
   CREATE TABLE IF NOT EXISTS events(id TEXT PRIMARY KEY, doc TEXT) WITHOUT ROWID;
   CREATE TABLE IF NOT EXISTS waiting(consumer TEXT, event TEXT, PRIMARY KEY(consumer, event)) WITHOUT ROWID;
   CREATE TABLE IF NOT EXISTS feed(id TEXT PRIMARY KEY, user TEXT, doc TEXT) WITHOUT ROWID;
   CREATE TABLE IF NOT EXISTS totals(name TEXT PRIMARY KEY, doc TEXT) WITHOUT ROWID;
   INSERT OR IGNORE INTO totals VALUES('all', '');`,
)
const index = open(
  'baseline-index.db',
  'NORMAL',
  `CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(body, content='', contentless_delete=1, prefix='2 3');
   CREATE TABLE IF NOT EXISTS found(row INTEGER PRIMARY KEY, id TEXT UNIQUE, created INT);
   CREATE TABLE IF NOT EXISTS values_of(field TEXT, number REAL, row INT);`,
)
const put = {
  record: db.prepare('INSERT INTO records VALUES(?, 1, ?)'),
  key: db.prepare('INSERT INTO keys VALUES(?, ?, ?, ?)'),
  event: db.prepare('INSERT INTO events VALUES(?, ?)'),
  waiting: db.prepare('INSERT INTO waiting VALUES(?, ?)'),
  settled: db.prepare('DELETE FROM waiting WHERE consumer = ? AND event = ?'),
  forget: db.prepare('DELETE FROM events WHERE id = ?'),
  feed: db.prepare('INSERT INTO feed VALUES(?, ?, ?)'),
  totals: db.prepare("UPDATE totals SET doc = ? WHERE name = 'all'"),
  words: index.prepare('INSERT INTO words(rowid, body) VALUES(?, ?)'),
  found: index.prepare('INSERT INTO found(row, id, created) VALUES(?, ?, ?)'),
  value: index.prepare('INSERT INTO values_of VALUES(?, ?, ?)'),
} satisfies Record<string, StatementSync>

interface Work {
  readonly id: string
  readonly doc: string
  readonly keys: readonly (readonly [string, string, string])[]
  readonly text: string
  readonly done: () => void
}

let row = Date.now()
let queue: Work[] = []
let totals = 0

const settle = (batch: readonly Work[]): void => {
  db.exec('BEGIN IMMEDIATE')
  index.exec('BEGIN')
  for (const { id, text, doc } of batch) {
    put.feed.run(`f${id}`, 'user', JSON.stringify({ id, type: 'create', at: new Date().toISOString(), name: text }))
    for (const consumer of consumers) put.settled.run(consumer, id)
    put.forget.run(id)
    row += 1
    put.words.run(row, `${text} ${doc}`)
    put.found.run(row, id, row)
    put.value.run('depth', row % 500, row)
  }
  totals += batch.length
  put.totals.run(JSON.stringify({ totals, counted: batch.map(work => work.id) }))
  index.exec('COMMIT')
  db.exec('COMMIT')
}

const commit = (): void => {
  const batch = queue
  queue = []
  db.exec('BEGIN IMMEDIATE')
  for (const { id, doc, keys } of batch) {
    put.record.run(id, doc)
    for (const [k1, k2, k3] of keys) put.key.run(k1, k2, k3, id)
    put.event.run(id, JSON.stringify({ id, type: 'created', subject: id, at: new Date().toISOString(), actor: 'user' }))
    for (const consumer of consumers) put.waiting.run(consumer, id)
  }
  db.exec('COMMIT')
  for (const work of batch) work.done()
  setImmediate(settle, batch)
}

const store = (doc: Record<string, unknown>, keys: Work['keys'], text: string): Promise<string> =>
  new Promise(resolve => {
    const id = randomBytes(12).toString('hex')
    if (queue.length === 0) setImmediate(commit)
    queue.push({ id, doc: JSON.stringify({ id, ...doc }), keys, text, done: () => resolve(id) })
  })

const segment = openSync(join(folder, 'segment'), 'a')
let small: { readonly bytes: Buffer; readonly done: () => void }[] = []
let isWriting = false

const flush = (): void => {
  const batch = small
  small = []
  if (batch.length === 0) {
    isWriting = false
    return
  }
  isWriting = true
  writev(
    segment,
    batch.map(each => each.bytes),
    error => {
      if (error) throw error
      fdatasync(segment, failed => {
        if (failed) throw failed
        for (const each of batch) each.done()
        flush()
      })
    },
  )
}

const keep = (bytes: Buffer): Promise<void> =>
  new Promise(done => {
    small.push({ bytes, done })
    if (!isWriting) flush()
  })

const bodyOf = async (req: IncomingMessage): Promise<Buffer> => {
  const parts: Buffer[] = []
  for await (const chunk of req) parts.push(chunk as Buffer)
  return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts)
}

/** The content of the only part of a multipart body whose boundary is known. */
const partOf = (body: Buffer): Buffer => {
  const start = body.indexOf('\r\n\r\n') + 4
  return body.subarray(start, body.lastIndexOf('\r\n--', body.length - 3))
}

const record = (about: Record<string, unknown>): Record<string, unknown> => ({
  revision: 1,
  description: '',
  author: 'a'.repeat(24),
  created: new Date().toISOString(),
  tags: [],
  thumbnail: null,
  license: { type: 'license1', url: '', text: 'All Rights Reserved', rightsHolder: '', allowDownload: false },
  statistics: { views: 0, downloads: 0, lastViewed: null, lastDownloaded: null },
  ...about,
})

/** Streams a body to disk with SHA-256 and fsync, and nothing else. */
const receive = async (req: IncomingMessage): Promise<Record<string, unknown>> => {
  const path = join(folder, `big-${randomBytes(6).toString('hex')}`)
  const digest = createHash('sha256')
  const out = createWriteStream(path, { highWaterMark: 1024 * 1024 })
  let size = 0
  for await (const chunk of req as AsyncIterable<Buffer>) {
    digest.update(chunk)
    size += chunk.length
    if (!out.write(chunk)) await new Promise<void>(resolve => out.once('drain', () => resolve()))
  }
  await new Promise<void>(resolve => out.end(resolve))
  const fd = openSync(path, 'r')
  await new Promise<void>((resolve, reject) => fsync(fd, error => (error ? reject(error) : resolve())))
  closeSync(fd)
  return { path, size, sha256: digest.digest('hex') }
}

const answer = async (req: IncomingMessage): Promise<unknown> => {
  const url = req.url ?? ''
  if (url === '/bare-upload') return receive(req)
  const body = await bodyOf(req)
  const now = new Date().toISOString()
  if (url === '/api/datasets/createempty') {
    const { name } = JSON.parse(body.toString()) as { name: string }
    const keys = [
      ['live', '', now],
      ['author', 'a', now],
      ['public', 'false', now],
      ['space', '', now],
    ] as const
    return { id: await store(record({ name }), keys, name) }
  }
  if (url.startsWith('/api/uploadToDataset/')) {
    const bytes = partOf(body)
    const sha256 = hash('sha256', bytes)
    await keep(bytes)
    const dataset = url.slice(21, 45)
    const file = record({
      name: 'sample.txt',
      sha256,
      contentType: 'text/plain',
      sizeBytes: bytes.length,
      places: [{ dataset, folder: null, in: dataset }],
    })
    return {
      id: await store(
        file,
        [
          ['in', dataset, 'sample.txt'],
          ['dataset', dataset, now],
          ['blob', sha256, ''],
          ['created', now, ''],
        ],
        'sample.txt',
      ),
    }
  }
  await store(
    { target: url.slice(11, 35), created: now, ...(JSON.parse(body.toString()) as object) },
    [['target', url.slice(11, 35), now]],
    'metadata',
  )
  return 'Metadata successfully added to db'
}

const send = (req: IncomingMessage, res: ServerResponse): void => {
  if (req.url === '/healthz') {
    res.writeHead(200, { 'content-type': 'text/plain', 'content-length': 7 }).end('healthy')
    return
  }
  if (req.url?.startsWith('/bare-download')) {
    createReadStream(new URL(req.url, 'http://bench').searchParams.get('path') ?? '').pipe(res)
    return
  }
  answer(req).then(
    body => {
      const text = JSON.stringify(body)
      res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text)
    },
    (error: unknown) => res.writeHead(500).end(String(error)),
  )
}

http.createServer(send).listen(Number(process.env['POUNCE_HTTP__PORT']), '127.0.0.1')
process.on('SIGTERM', () => process.exit(0))
