import test, { type ExecutionContext } from 'ava'
import { parse } from 'csv-parse/sync'
import { Datasets, Files, Users } from 'pounce/sdk'
import { bootForTest, type TestFetch, type TestServer } from 'pounce/sdk/testing'
import { newPerson, type Person } from '../support/people.ts'
import { newDataset, newFolder, ok, refusal, unknownId, upload } from '../support/scene.ts'

let server: TestServer
let admin: TestFetch
let ann: Person
let space: string
let collection: string
let dataset: string
let other: string
let folder: string
const files: Record<string, string> = {}
const hostile = '=HYPERLINK("http://x","a"), ünï😀.csv'

test.before(async () => {
  server = await bootForTest()
  admin = server.as(server.admin.key)
  ann = await newPerson(server, '-ann')
  const post = (path: string, json?: unknown) => ok<{ id: string }>(ann.call(path, { method: 'POST', json }))
  space = (await post('/api/spaces', { name: 'Field, "north"', description: 'two\nlines' })).id
  collection = (await post('/api/collections', { name: 'Plots', description: '', space })).id
  dataset = await newDataset(ann.call, { name: '@leaves', space: [space], collection: [collection] })
  other = await newDataset(ann.call, { name: 'Elsewhere' })
  folder = await newFolder(ann.call, dataset, 'raw')
  files['root'] = await upload(ann.call, dataset, 'x'.repeat(2500))
  files['inFolder'] = await upload(ann.call, dataset, 'hello', 'in folder.txt', { query: `extract=false&folder_id=${folder}` })
  files['other'] = await upload(ann.call, other, 'y'.repeat(1000), '-5')
  await server.get(Files).change(files['root'] ?? '', { set: { name: hostile } }, [])
  await server.drained()
})
test.after.always(() => server?.stop())

type Row = Readonly<Record<string, string>>

const report = async (path: string, call = admin) => {
  const answer = await call(`/api/reports/${path}`)
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}
const rowsOf = async (t: ExecutionContext, path: string): Promise<readonly Row[]> => {
  const { status, text } = await report(path)
  t.is(status, 200, text)
  return parse(text, { columns: true, record_delimiter: '\r\n' }) as Row[]
}
const column = (rows: readonly Row[], name: string): readonly string[] => rows.map(row => row[name] ?? 'absent').sort()

const heads: Readonly<Record<string, readonly [file: string, head: string]>> = {
  'metrics/files': [
    'FileMetrics.csv',
    'type,id,name,owner,owner_id,size_kb,uploaded,views,downloads,last_viewed,last_downloaded,location,parent_datasets,parent_collections,parent_spaces,status',
  ],
  'metrics/datasets': [
    'DatasetMetrics.csv',
    'type,id,name,owner,owner_id,created,views,downloads,last_viewed,last_downloaded,parent_collections,parent_spaces',
  ],
  'metrics/collections': [
    'CollectionMetrics.csv',
    'type,id,name,owner,owner_id,created,views,last_viewed,parent_collections,parent_spaces',
  ],
  'metrics/spaces': ['SpaceMetrics.csv', 'type,id,name,description,creator_id,created,datasets,collections,users'],
  'metrics/users': [
    'UserMetrics.csv',
    'type,id,name,email,provider,last_login,days_since_last_login,active,admin,admin_spaces,member_spaces',
  ],
  metrics: [
    'AllMetrics.csv',
    'type,id,name,owner,owner_id,size_kb,uploaded/created,views,downloads,last_viewed,last_downloaded,location,parent_datasets,parent_collections,parent_spaces,status',
  ],
  'metrics/extractors': [
    'ExtractorMetrics.csv',
    '"userid","username","email","resource_id","resource_type","space_id","extractor","job_id","job_type","status_count","last_status","start","end","duration_ms"',
  ],
  'storage/spaces': [
    'SpaceStorage.csv',
    'file_type,id,name,owner,owner_email,owner_id,size_kb,uploaded,location,parent_datasets,parent_collections,parent_spaces,space_owners,space_admins',
  ],
  'storage/users': ['UserStorage.csv', 'type,id,name,email,files,size_kb'],
}

test.serial('every report has its file name and columns, and is restricted to server admins', async t => {
  for (const [path, [file, head]] of Object.entries(heads)) {
    const { status, headers, text } = await report(path)
    t.is(status, 200, text)
    t.is(text.split('\r\n')[0], head, path)
    t.is(headers.get('content-disposition'), `attachment; filename="${file}"; filename*=UTF-8''${file}`)
    t.is(headers.get('content-type'), 'text/csv; charset=utf-8')
    t.is((await report(path, ann.call)).status, 403, path)
    t.is((await report(path, server.as())).status, 401, path)
  }
})

test.serial('reports of an empty installation consist of the header row', async t => {
  const empty = await bootForTest({ t })
  const call = empty.as(empty.admin.key)
  for (const [path, [, head]] of Object.entries(heads)) {
    const lines = (await report(path, call)).text.split('\r\n').filter(line => line !== '')
    t.is(lines[0], head)
    if (path !== 'metrics/users') t.is(lines.length, 1, path)
  }
  t.deepEqual(JSON.parse((await report('metrics/files?format=json', call)).text), [])
})

test.serial('files are listed with owner, size and parents, including those in folders; no cell is a formula', async t => {
  const rows = await rowsOf(t, 'metrics/files')
  t.is(rows.length, 3)
  const stored = await server.get(Files).get(files['root'] ?? '')
  const { fullName } = await ok<{ fullName: string }>(ann.call('/api/me'))
  t.deepEqual(
    rows.find(row => row['id'] === files['root']),
    {
      ...{ type: 'file', id: files['root'], name: `'${hostile}`, owner: `'${fullName}`, owner_id: ann.id, size_kb: '2' },
      ...{ uploaded: stored?.created, views: '0', downloads: '0', last_viewed: '', last_downloaded: '', location: stored?.blob },
      ...{ parent_datasets: dataset, parent_collections: collection, parent_spaces: space, status: stored?.status },
    },
  )
  t.like(
    rows.find(row => row['id'] === files['inFolder']),
    { parent_datasets: dataset, parent_spaces: space, size_kb: '0' },
  )
  t.like(
    rows.find(row => row['id'] === files['other']),
    { name: "'-5", size_kb: '1', parent_collections: '', parent_spaces: '' },
  )
})

test.serial('a file in several datasets has the parents of all of them, each once', async t => {
  const id = await upload(ann.call, dataset, 'z', 'twice.txt')
  const place = { dataset: other, folder: null, in: other }
  await server.get(Files).change(id, { addToSet: { places: [place] } }, [])
  await server.get(Datasets).change(other, { addToSet: { spaces: [space] } }, [])
  const inSpace = await rowsOf(t, `storage/spaces?space=${space}`)
  t.is(inSpace.filter(row => row['id'] === id).length, 1)
  t.is(inSpace.length, 4)
  const row = (await rowsOf(t, 'metrics/files')).find(each => each['id'] === id)
  t.deepEqual(row?.['parent_datasets']?.split(', ').sort(), [dataset, other].sort())
  t.is(row?.['parent_spaces'], space)
  await server.get(Datasets).change(other, { pull: { spaces: [space] } }, [])
  await ok(ann.call(`/api/files/${id}`, { method: 'DELETE' }))
  await server.drained()
})

test.serial('reports are JSON on request, by parameter or Accept header', async t => {
  const { text, headers } = await report('metrics/files?format=json')
  const rows = JSON.parse(text) as readonly Readonly<Record<string, unknown>>[]
  t.is(headers.get('content-type'), 'application/json')
  t.is(headers.get('content-disposition'), `attachment; filename="FileMetrics.json"; filename*=UTF-8''FileMetrics.json`)
  t.like(
    rows.find(row => row['id'] === files['root']),
    { name: hostile, size_kb: 2, last_viewed: null, parent_spaces: [space] },
  )
  const requested = (accept: string) =>
    admin('/api/reports/metrics/spaces', { headers: { accept } }).then(({ headers }) => headers.get('content-type'))
  t.is(await requested('application/json'), 'application/json')
  t.is(await requested('text/csv, application/json;q=0.5'), 'text/csv; charset=utf-8')
  t.is(await requested('text/html,*/*'), 'text/csv; charset=utf-8')
  t.is((await report('metrics/files?format=xml')).status, 400)
})

test.serial('datasets, collections and spaces are reported with their parents or counts', async t => {
  const [leaves] = (await rowsOf(t, 'metrics/datasets')).filter(row => row['id'] === dataset)
  t.like(leaves, { type: 'dataset', name: "'@leaves", owner_id: ann.id, parent_collections: collection, parent_spaces: space })
  t.like((await rowsOf(t, 'metrics/collections'))[0], {
    type: 'collection',
    id: collection,
    views: '0',
    last_viewed: '',
    parent_spaces: space,
  })
  t.like((await rowsOf(t, 'metrics/spaces'))[0], {
    ...{ type: 'space', id: space, name: 'Field, "north"', description: 'two\nlines', creator_id: ann.id },
    ...{ datasets: '1', collections: '1', users: '1' },
  })
})

test.serial('trashed datasets are not reported, but their files still count as storage', async t => {
  const trashed = await newDataset(ann.call, { name: 'Gone', space: [space] })
  const file = await upload(ann.call, trashed, 'zz')
  await ok(ann.call(`/api/datasets/${trashed}`, { method: 'DELETE' }))
  t.false(column(await rowsOf(t, 'metrics/datasets'), 'id').includes(trashed))
  t.true(column(await rowsOf(t, `storage/spaces?space=${space}`), 'id').includes(file))
  await ok(ann.call(`/api/datasets/${trashed}`, { method: 'DELETE' }))
  await server.drained()
  t.false(column(await rowsOf(t, `storage/spaces?space=${space}`), 'id').includes(file))
})

test.serial('the combined report lists collections, datasets and files', async t => {
  const rows = await rowsOf(t, 'metrics')
  t.deepEqual([...new Set(rows.map(row => row['type']))], ['collection', 'dataset', 'file'])
  const stored = await server.get(Datasets).get(dataset)
  t.like(
    rows.find(row => row['id'] === dataset),
    { 'uploaded/created': stored?.created, size_kb: '', location: '', status: '' },
  )
})

test.serial('accounts are reported, with anonymous use first', async t => {
  await server.get(Users).change(ann.id, { set: { lastLogin: new Date(Date.now() - 3.5 * 86_400_000).toISOString() } }, [])
  const rows = await rowsOf(t, 'metrics/users')
  t.like(rows[0], { id: '000000000000000000000000', name: 'Anonymous User', active: '' })
  t.like(
    rows.find(row => row['id'] === ann.id),
    {
      email: `'${ann.email}`,
      provider: 'userpass',
      days_since_last_login: '3',
      active: 'true',
      admin: 'false',
      admin_spaces: '1',
      member_spaces: '0',
    },
  )
  t.like(
    rows.find(row => row['id'] === server.admin.id),
    { admin: 'true' },
  )
})

test.serial('time ranges of metrics include their ends, those of storage do not', async t => {
  const { created } = (await server.get(Files).get(files['inFolder'] ?? '')) ?? { created: '' }
  const at = encodeURIComponent(created)
  const idsOf = async (path: string) => column(await rowsOf(t, path), 'id')
  t.deepEqual(await idsOf(`metrics/files?since=${at}&until=${at}`), [files['inFolder']])
  t.true((await idsOf(`metrics/files?since=${at}`)).includes(files['other'] ?? ''))
  t.false((await idsOf(`metrics/files?since=${at}`)).includes(files['root'] ?? ''))
  t.deepEqual(await idsOf(`storage/spaces?since=${at}&until=${at}`), [])
  t.deepEqual(await idsOf(`storage/spaces?until=${at}`), [files['root']])
  t.deepEqual(await idsOf(`storage/spaces/${space}?since=${at}`), [])
  const made = (await server.get(Datasets).get(dataset))?.created ?? ''
  t.deepEqual(await idsOf(`metrics/datasets?until=${encodeURIComponent(made)}`), [dataset])
  for (const path of ['metrics/files?since=yesterday', 'storage/spaces?until=20200', 'metrics/extractors?since=x', 'storage/users?since='])
    t.like(await refusal(admin(`/api/reports/${path}`)), { status: 400, code: 'invalid' }, path)
})

test.serial('storage of a space is reported with its owners and admins', async t => {
  const rows = await rowsOf(t, `storage/spaces?space=${space}`)
  t.deepEqual(column(rows, 'id'), [files['root'], files['inFolder']].sort())
  t.like(
    rows.find(row => row['id'] === files['root']),
    {
      file_type: 'text/plain',
      owner_email: `'${ann.email}`,
      size_kb: '2',
      parent_spaces: space,
      space_owners: `'${ann.email}`,
      space_admins: `'${ann.email}`,
    },
  )
  const named = await admin(`/api/reports/storage/spaces/${space}`)
  t.is(
    named.headers.get('content-disposition'),
    `attachment; filename="SpaceStorage_${space}.csv"; filename*=UTF-8''SpaceStorage_${space}.csv`,
  )
  t.is((await rowsOf(t, 'storage/spaces')).length, 3)
  for (const id of [unknownId, 'nonsense', dataset]) {
    t.is((await report(`storage/spaces/${id}`)).status, 404, id)
    t.is((await report(`storage/spaces?space=${id}`)).status, 404, id)
  }
  t.is((await report(`storage/spaces/${space}`, ann.call)).status, 403)
})

test.serial('storage is reported per user', async t => {
  t.deepEqual(
    (await rowsOf(t, 'storage/users')).map(row => [row['id'], row['email'], row['files'], row['size_kb']]),
    [[ann.id, `'${ann.email}`, '3', '3']],
  )
})

test.serial('runs of extractors are reported by phase', async t => {
  const other = await bootForTest({ t })
  const bob = await newPerson(other, 'bob')
  const into = await newDataset(bob.call)
  const file = await upload(bob.call, into, 'a,b\n1,2\n', 'table.csv', { type: 'text/csv', query: '' })
  await other.drained()
  const untilDone = async (): Promise<readonly Row[]> => {
    const rows = parse((await report('metrics/extractors', other.as(other.admin.key))).text, { columns: true }) as Row[]
    return rows.some(row => row['job_type'] === 'work' && row['last_status'] === 'DONE') ? rows : untilDone()
  }
  const rows = await untilDone()
  t.true(rows.every(row => row['resource_id'] === file && row['resource_type'] === 'file' && row['userid'] === bob.id))
  t.true(rows.every(row => Number(row['duration_ms']) > 0 && ['queue', 'work'].includes(row['job_type'] ?? '')))
  const future = new Date(Date.now() + 3_600_000).toISOString()
  t.is((await report(`metrics/extractors?since=${future}`, other.as(other.admin.key))).text.split('\r\n').length, 2)
})

test.serial('HEAD of a report returns only its headers', async t => {
  const answer = await admin('/api/reports/metrics/files', { method: 'HEAD' })
  t.is(answer.status, 200)
  t.is(answer.headers.get('content-disposition'), `attachment; filename="FileMetrics.csv"; filename*=UTF-8''FileMetrics.csv`)
  t.is(await answer.text(), '')
})

test('every row of the combined report has every column, in JSON too', async t => {
  const [, head = ''] = heads['metrics'] ?? []
  const rows = JSON.parse((await report('metrics?format=json')).text) as readonly Row[]
  t.deepEqual([...new Set(rows.map(({ type }) => type))], ['collection', 'dataset', 'file'])
  for (const row of rows) t.is(Object.keys(row).join(), head)
})
