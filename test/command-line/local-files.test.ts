import { spawnSync } from 'node:child_process'
import { mkdir, open, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { treeOf } from '../../core/cli/user/dataset-contents.ts'
import type { ServerClient } from '../../core/cli/user/server-client.ts'
import { readTarget, resolveTarget } from '../../core/cli/user/target.ts'
import { programFile, signedInComputer, states, type TransferLine, writeFiles } from '../support/command-line.ts'
import { newDataset, newSpace, somebody } from '../support/spaces-and-people.ts'

const server = await bootForTest()
test.after.always(() => server.stop())

const scene = async (t: Parameters<typeof signedInComputer>[0]) => {
  const ada = await somebody(server)
  return { computer: await signedInComputer(t, server.url, ada), dataset: `dataset:${await newDataset(ada)}` }
}

const namesIn = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder, { recursive: true })).filter(name => !name.startsWith('.')).sort()

const mac = (name: string): string => name.normalize('NFD')

test('sync --down finds local files and folders with decomposed names', async t => {
  const { computer, dataset } = await scene(t)
  const folder = join(computer.folder, 'Fotos')
  await mkdir(join(folder, mac('Köln'), mac('Rhein Süd')), { recursive: true })
  await mkdir(join(folder, mac('Öde')))
  await writeFile(join(folder, mac('Köln'), mac('Brücke.txt')), 'bridge')
  await writeFile(join(folder, mac('Köln'), mac('Rhein Süd'), 'a.txt'), 'a')
  const before = await namesIn(folder)
  await computer.done('sync', 'Fotos', dataset)

  const same = await computer.done('sync', '--down', 'Fotos', dataset, '--delete', '--yes', '--json')
  t.like(same.lines().at(-1), { summary: { unchanged: 2 }, bytes: 0 })
  t.deepEqual(await namesIn(folder), before)

  const other = join(computer.folder, 'other')
  await mkdir(join(other, 'Köln/Rhein Süd'), { recursive: true })
  await writeFile(join(other, 'Köln/Brücke.txt'), 'new bridge')
  await writeFile(join(other, 'Köln/Rhein Süd/größer.txt'), 'b')
  await computer.done('put', 'other/', dataset)
  await computer.done('sync', '--down', 'Fotos', dataset, '--delete', '--yes')
  const added = join(mac('Köln'), mac('Rhein Süd'), 'größer.txt')
  t.deepEqual(await namesIn(folder), [...before, added].sort())
  t.is(await readFile(join(folder, mac('Köln'), mac('Brücke.txt')), 'utf8'), 'new bridge')

  const twice = join(folder, 'Köln')
  await mkdir(twice)
  await writeFile(join(twice, 'Brücke.txt'), 'old bridge')
  await computer.done('sync', '--down', 'Fotos', dataset)
  t.is(await readFile(join(twice, 'Brücke.txt'), 'utf8'), 'new bridge')
})

test('get finds local files and folders with decomposed names', async t => {
  const { computer, dataset } = await scene(t)
  await writeFiles(computer.folder, { [mac('Köln/Rhein Süd/a.txt')]: 'a', [mac('Köln/Brücke.txt')]: 'bridge' })
  await computer.done('put', mac('Köln'), dataset)
  await writeFiles(computer.folder, { 'Köln Süd/Brücke.txt': 'new bridge', 'Köln Süd/Rhein Süd/größer.txt': 'b' })
  await computer.done('put', 'Köln Süd/', `${dataset}/Köln`)
  const before = await namesIn(computer.folder)

  const lines = (await computer.done('get', `${dataset}/Köln`, '.', '--overwrite', '--json')).lines<TransferLine>()
  t.deepEqual(states(lines), { 'Brücke.txt': 'downloaded', 'Rhein Süd/a.txt': 'unchanged', 'Rhein Süd/größer.txt': 'downloaded' })
  const file = await computer.done('get', `${dataset}/Köln/Brücke.txt`, mac('Köln'), '--json')
  t.deepEqual(states(file.lines<TransferLine>()), { 'Brücke.txt': 'unchanged' })
  t.deepEqual(await namesIn(computer.folder), [...before, join(mac('Köln'), mac('Rhein Süd'), 'größer.txt')].sort())
  t.is(await readFile(join(computer.folder, mac('Köln'), mac('Brücke.txt')), 'utf8'), 'new bridge')
})

test('datasets and spaces are found by name in either Unicode form', async t => {
  const ada = await somebody(server)
  const computer = await signedInComputer(t, server.url, ada)
  const space = await newSpace(ada, mac('Fläche am Wald'))
  const dataset = await newDataset(ada, { name: mac('Böden 2026'), space: [space] })
  await writeFiles(computer.folder, { 'a.txt': 'a' })
  for (const target of ['Böden 2026', 'Fläche am Wald/Böden 2026', mac('Fläche am Wald/Böden 2026')])
    await computer.done('put', 'a.txt', target)
  t.is((await computer.done('ls', `dataset:${dataset}`, '--json')).json<unknown[]>().length, 1)
})

test('--create creates the last name of a target only', async t => {
  const { computer } = await scene(t)
  await writeFiles(computer.folder, { 'notes/a.txt': 'a' })
  for (const words of [
    ['put', 'notes/'],
    ['sync', 'notes'],
  ]) {
    const refused = await computer.run([...words, 'Mistyped space/New dataset', '--create'])
    t.is(refused.code, 1)
    t.regex(refused.err, /^Nothing named "Mistyped space" on the server\. .*--create can only create the last name of a target\n$/)
  }
  t.is((await computer.run(['ls', 'Mistyped space'])).code, 1)
  await computer.done('put', 'notes/', 'Created by its last name', '--create')
  await computer.done('put', 'notes/', 'Created by its last name/2026/summer', '--create')
  t.is((await computer.done('get', 'Created by its last name/2026/summer/a.txt', '-')).out, 'a')
})

test('of equal paths on a Clowder server in any time zone the newest file counts', async t => {
  const zones = ['CEST', 'CST']
  const fileOf = (zone: string, second: number) => ({
    ...{ id: `65281a0${second}0000000000000000`, filename: `${zone}.txt`, size: '1' },
    'date-created': `Thu Oct 12 10:11:0${second} ${zone} 2023`,
  })
  const files = zones.flatMap(zone => [1, 3, 2].map(second => fileOf(zone, second)))
  const client = { kind: 'clowder', json: async (_method: string, path: string) => (path.endsWith('/files') ? files : []) }
  const tree = await treeOf(client as unknown as ServerClient, { dataset: 'd' })
  for (const zone of zones) t.is(tree.files.get(`${zone}.txt`)?.id, fileOf(zone, 3).id, zone)
})

/** Only Linux has a file that even root cannot read, and names that are not UTF-8. */
const onLinux = process.platform === 'linux' ? test : test.skip

onLinux('files and folders that cannot be read fail, the others are transferred, and nothing is deleted for them', async t => {
  const { computer, dataset } = await scene(t)
  const notes = join(computer.folder, 'notes')
  await writeFiles(notes, { 'a.txt': 'a' })
  await symlink('/proc/self/mem', join(notes, 'closed.txt'))
  const bytes = Buffer.from('b\xe4d', 'latin1')
  await writeFile(Buffer.concat([Buffer.from(`${notes}/`), bytes, Buffer.from('.txt')]), 'b')
  await mkdir(Buffer.concat([Buffer.from(`${notes}/`), bytes]))
  const all = { 'a.txt': 'uploaded', 'closed.txt': 'failed', 'b\uFFFDd.txt': 'failed', 'b\uFFFDd': 'failed' }

  const put = await computer.run(['put', 'notes/', dataset, '--json'])
  t.is(put.code, 1)
  t.deepEqual(states(put.lines<TransferLine>()), all)
  t.regex(put.out, /"path":"closed\.txt","state":"failed","message":"EIO: /)
  t.is(put.out.match(/its name is not valid UTF-8: rename it/g)?.length, 2)

  await writeFiles(computer.folder, { 'other.txt': 'other' })
  await computer.done('put', 'other.txt', dataset)
  const sync = await computer.run(['sync', 'notes', dataset, '--delete', '--yes', '--json'])
  t.is(sync.code, 1)
  t.deepEqual(states(sync.lines<TransferLine>()), { ...all, 'a.txt': 'unchanged' })
  t.regex(sync.err, /Nothing is deleted in the dataset/)
})

test('two files with the same path are named, and no dataset is created for them', async t => {
  const { computer } = await scene(t)
  await writeFiles(computer.folder, { 'one/\u00e9.txt': '1', 'one/e\u0301.txt': '2', 'two/a.txt': '3', 'three/a.txt': '4' })
  const put = await computer.run(['put', 'two/', 'three/a.txt', 'Twins', '--create'])
  t.is(put.code, 2)
  t.regex(put.err, /\/two\/a\.txt and .*\/three\/a\.txt would have the same path in the dataset, a\.txt: /)
  const sync = await computer.run(['sync', 'one', 'Twins', '--create'])
  t.is(sync.code, 2)
  t.regex(sync.err, /^one\/.*\.txt and one\/.*\.txt would have the same path/)
  t.is((await computer.run(['ls', 'Twins'])).code, 1)
})

test('empty folders are downloaded, and a file in place of a folder is refused without a stack trace', async t => {
  const { computer, dataset } = await scene(t)
  await writeFiles(computer.folder, { 'src/a.txt': 'a', taken: 'a file' })
  await mkdir(join(computer.folder, 'src/empty/below'), { recursive: true })
  await computer.done('put', 'src/', dataset)
  await computer.done('get', `${dataset}/`, 'back')
  t.true((await stat(join(computer.folder, 'back/empty/below'))).isDirectory())
  const sync = await computer.run(['sync', '--down', 'taken', dataset])
  t.is(sync.code, 2)
  t.is(sync.err, 'taken is not a folder\n')
  await writeFiles(computer.folder, { 'local/empty': 'a file' })
  await mkdir(join(computer.folder, 'local/a.txt'))
  const down = await computer.run(['sync', '--down', 'local', dataset, '--json'])
  t.is(down.code, 1)
  const lines = down.lines<TransferLine & { readonly message?: string }>()
  t.deepEqual(lines.flatMap(({ message }) => message?.split(':')[0] ?? []).sort(), ['EEXIST', 'ENOTDIR', 'local/a.txt is not writable'])
  const openapi = await computer.run(['openapi', '--out', 'missing/openapi.json'])
  t.is(openapi.code, 1)
  t.regex(openapi.err, /^ENOENT: [^\n]*missing\/openapi\.json'\n$/)
})

test('sync --delete keeps what the dataset has at the paths of skipped links', async t => {
  const { computer, dataset } = await scene(t)
  await writeFiles(computer.folder, { 'data/raw/a.txt': 'a', 'data/b.txt': 'b', 'data/c.txt': 'c', 'disk/a.txt': 'a' })
  await mkdir(join(computer.folder, 'data/raw/empty'))
  await computer.done('put', 'data/', dataset)
  for (const name of ['raw', 'b.txt', 'c.txt']) await rm(join(computer.folder, 'data', name), { recursive: true })
  await symlink('../disk', join(computer.folder, 'data/raw'))
  await symlink('../not mounted/b.txt', join(computer.folder, 'data/b.txt'))

  const sync = await computer.done('sync', 'data', dataset, '--delete', '--yes', '--json')
  t.deepEqual(states(sync.lines<TransferLine>()), { 'c.txt': 'deleted' })
  const left = (await computer.done('ls', dataset, '--recursive', '--json')).json<{ name: string }[]>()
  t.deepEqual(left.map(({ name }) => name).sort(), ['b.txt', 'raw', 'raw/a.txt', 'raw/empty'])
})

test('a folder that became a file is deleted with its contents', async t => {
  const { computer, dataset } = await scene(t)
  await writeFiles(computer.folder, { 'data/a/b.txt': 'b' })
  await computer.done('put', 'data/', dataset)
  await rm(join(computer.folder, 'data/a'), { recursive: true })
  await writeFiles(computer.folder, { 'data/a': 'a file' })
  await computer.done('sync', 'data', dataset, '--delete', '--yes')
  const left = (await computer.done('ls', dataset, '--recursive', '--json')).json<{ kind: string; name: string }[]>()
  t.deepEqual(
    left.map(({ kind, name }) => `${kind} ${name}`),
    ['file a'],
  )
})

test('of equal names on a Clowder server in an unknown time zone the newest file is found', async t => {
  const days = ['Thu Oct 12 10:11:00', 'Fri Oct 13 10:11:00'].map((day, at) => ({
    ...{ id: `65281a0${at}0000000000000000`, filename: 'a.txt', size: '1', 'date-created': `${day} CEST 2023` },
  }))
  const json = async (_method: string, path: string) =>
    path.endsWith('/files') ? days : path.endsWith('/folders') ? [] : { id: 'd', name: 'D' }
  const client = { kind: 'clowder', json } as unknown as ServerClient
  t.like(await resolveTarget(client, readTarget(`dataset:${'0'.repeat(24)}/a.txt`)), { kind: 'file', id: days[1]?.id })
})

onLinux('a full disk below standard output is an error without a stack trace', async t => {
  const full = await open('/dev/full', 'w')
  t.teardown(() => full.close())
  const { stderr, status } = spawnSync(process.execPath, [programFile, 'completion', 'bash'], {
    encoding: 'utf8',
    stdio: ['ignore', full.fd, 'pipe'],
  })
  t.is(stderr, 'The output is not writable: ENOSPC: no space left on device, write\n')
  t.is(status, 1)
})
