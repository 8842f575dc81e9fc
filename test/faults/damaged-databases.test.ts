import { open, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { type ExecutionContext } from 'ava'
import { GeoStore, SearchIndex } from 'pounce/sdk'
import type { Datapoint } from 'pounce/sdk/geo'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { databaseRows } from '../support/doctor.ts'
import { newDataset, ok } from '../support/scene.ts'
import { until } from '../support/until.ts'

type Name = 'documents' | 'geo' | 'search'
type Finding = Readonly<Record<string, unknown>>

const names = ['documents', 'geo', 'search'] as const
const marker = 'measured at dawn'

const pointAt = (id: number): Datapoint => {
  const startMs = Date.UTC(2026, 0, 5) + id * 60_000
  const geometry = { type: 'Point', coordinates: [10 + id / 1000, 50] } as const
  return { id, stream: 1, startMs, endMs: startMs, createdMs: startMs, geometry, properties: { v: id, note: `${marker} ${id}` } }
}

const describe = (server: TestServer, n: number): Promise<string> =>
  newDataset(server.as(server.admin.key), { name: `leaves ${n}`, description: `${marker} ${n} `.repeat(40) })

/** The file of the search index, once the index has been built and events are processed. */
const indexFile = async (server: TestServer): Promise<string> => {
  await until('the search index to be built', async () => !(await server.get(SearchIndex).needsRebuild?.()))
  await server.drained()
  return join(server.folder, 'search', (await readFile(join(server.folder, 'search', 'current'), 'utf8')).trim())
}

/** A server with records, datapoints and a search index of several pages each, all in the files and not in their logs. */
const setUp = async (t: ExecutionContext) => {
  const server = await bootForTest({ t, config: { geo: { rtree: { placesPerStream: 1 } } } })
  for (let n = 0; n < 12; n += 1) await describe(server, n)
  const [{ id = '' } = {}] = await ok<{ id?: string }[]>(server.as(server.admin.key)('/api/datasets'))
  await ok(server.as(server.admin.key)(`/api/datasets/${id}`, { method: 'DELETE' }))
  const geo = server.get(GeoStore)
  await geo.insert(Array.from({ length: 500 }, (_, at) => pointAt(at + 1)))
  await geo.remove({ ids: [7, 8, 9] })
  const files: Record<Name, string> = {
    documents: join(server.folder, 'documents', 'pounce.db'),
    geo: join(server.folder, 'geo', 'points.sqlite'),
    search: await indexFile(server),
  }
  const doctor = (options: Readonly<Record<string, boolean>> = {}): Promise<readonly Finding[]> => databaseRows(server, options)
  /** Names of the databases that the doctor reports. */
  const reported = async (options: Readonly<Record<string, boolean>> = {}): Promise<readonly unknown[]> =>
    (await doctor(options)).filter(({ ok }) => !ok).map(({ check }) => check)
  return { server, files, doctor, reported }
}

/** Offset and size of the first page of a table or an index, once the log has been copied into the file. */
const pageOf = (file: string, name: string): { readonly at: number; readonly size: number } => {
  const db = new DatabaseSync(file)
  try {
    const [log] = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all()
    if (log?.['busy'] !== 0) throw new Error('The log is in use')
    const size = Number(db.prepare('PRAGMA page_size').get()?.['page_size'])
    const root = Number(db.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(name)?.['rootpage'])
    if (!(root > 1)) throw new Error(`${file} does not contain ${name}`)
    return { at: (root - 1) * size, size }
  } finally {
    db.close()
  }
}

const tableOf = (file: string, collection: string): string => {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    return `c${db.prepare('SELECT id FROM collections WHERE name = ?').get(collection)?.['id']}`
  } finally {
    db.close()
  }
}

const overwrite = async (file: string, at: number, bytes: Uint8Array): Promise<void> => {
  await using handle = await open(file, 'r+')
  await handle.write(bytes, 0, bytes.length, at)
}

/** Damages a page, lets `check` run, and restores it. */
const whileDamaged = async (file: string, at: number, bytes: Uint8Array, check: () => Promise<void>): Promise<void> => {
  const before = (await readFile(file)).subarray(at, at + bytes.length)
  await overwrite(file, at, bytes)
  await check()
  await overwrite(file, at, before)
}

test('intact databases are reported as such, also during writes', async t => {
  const { server, doctor } = await setUp(t)
  let isOver = false
  const writing = (async () => {
    for (let n = 100; !isOver; n += 1) {
      await describe(server, n)
      await server.get(GeoStore).insert([pointAt(n * 1000)])
    }
  })()
  const rows = [...(await doctor()), ...(await doctor({ 'read-data': true }))]
  isOver = true
  await writing
  for (const name of names) {
    const found = rows.filter(({ check }) => check === `database ${name}`)
    t.deepEqual(found, Array(2).fill({ check: `database ${name}`, ok: true }))
  }
})

test('a damaged page is found in each database, without an option, and the row names the file and the remedy', async t => {
  const { files, doctor, reported } = await setUp(t)
  const remedies = { documents: /restore a backup/, geo: /restore a backup.*load the datapoints again/, search: /pounce reindex/ }
  const pages: readonly (readonly [Name, string])[] = [
    ['documents', tableOf(files.documents, 'datasets')],
    ['documents', 'outbox_events'],
    ['geo', 'points'],
    ['geo', 'by_start'],
    ['geo', 'moving_node'],
    ['search', 'value_of'],
    ['search', 'fts_data'],
  ]
  for (const [name, table] of pages) {
    const { at, size } = pageOf(files[name], table)
    await whileDamaged(files[name], at, Buffer.alloc(size, 0xa5), async () => {
      const rows = await doctor()
      const row = rows.find(({ check }) => check === `database ${name}`)
      t.false(row?.['ok'], `${name} ${table}`)
      t.true(String(row?.['detail']).startsWith(`${files[name]} is damaged (`), String(row?.['detail']))
      t.regex(String(row?.['detail']), remedies[name])
      t.is(rows.filter(({ ok }) => ok).length, 2)
    })
  }
  t.deepEqual(await reported({ 'read-data': true }), [])
})

test('with --read-data, changed bytes are found in indexes, values, words and boxes', async t => {
  const { server, files, reported } = await setUp(t)
  const check = async (name: Name, at: number, bytes: Uint8Array, what: string): Promise<void> =>
    whileDamaged(files[name], at, bytes, async () => {
      t.deepEqual(await reported({ 'read-data': true }), [`database ${name}`], what)
    })
  const table = tableOf(files.documents, 'datasets')
  const { at, size } = pageOf(files.documents, `sqlite_autoindex_${table}_1`)
  const [{ id = '' } = {}] = await ok<{ id?: string }[]>(server.as(server.admin.key)('/api/datasets'))
  const page = (await readFile(files.documents)).subarray(at, at + size)
  t.true(page.includes(id))
  const changed = Buffer.from(id.replace(/.$/, last => (last === '0' ? '1' : '0')))
  await check('documents', at + page.indexOf(id), changed, 'an id in an index')
  const text = (await readFile(files.documents)).lastIndexOf(`${marker} 3 `)
  t.true(text > 0)
  await check('documents', text, Buffer.alloc(10), 'zeros in a document')
  const node = pageOf(files.geo, 'moving_node')
  const note = (await readFile(files.geo)).lastIndexOf(`${marker} 3`)
  await check('geo', note, Buffer.alloc(10), 'zeros in a property')
  await check('geo', node.at + node.size - 8, Buffer.alloc(8, 0x7f), 'coordinates in the R*Tree')
  const db = new DatabaseSync(files.search, { defensive: false })
  db.exec('UPDATE fts_data SET block = zeroblob(length(block)) WHERE id > 10')
  db.close()
  t.deepEqual(await reported({ 'read-data': true }), ['database search'])
})

test('a file that is missing or no database is reported, and datapoints need no file before the first one', async t => {
  const server = await bootForTest({ t })
  const doctor = async (name: Name): Promise<Finding | undefined> =>
    (await databaseRows(server)).find(({ check }) => check === `database ${name}`)
  t.deepEqual(await doctor('geo'), { check: 'database geo', ok: true, detail: 'no file yet' })
  t.false((await readdir(server.folder)).includes('geo'))
  const file = await indexFile(server)
  pageOf(file, 'meta')
  await writeFile(file, 'no database, but a text that is longer than the header of one has to be: one hundred bytes and more')
  t.regex(String((await doctor('search'))?.['detail']), /is damaged \(file is not a database\): rebuild it/)
  await rm(file)
  t.regex(String((await doctor('search'))?.['detail']), /could not be checked \(unable to open database file\)/)
})
