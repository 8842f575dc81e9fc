import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { treeOf } from '../../core/cli/user/dataset-contents.ts'
import type { ServerClient } from '../../core/cli/user/server-client.ts'
import { signedInComputer } from '../support/command-line.ts'
import { newDataset, somebody } from '../support/spaces-and-people.ts'

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

test('names that are not valid UTF-8 are reported as failed, and all other files are uploaded', async t => {
  const { computer, dataset } = await scene(t)
  const folder = join(computer.folder, 'old')
  await mkdir(Buffer.concat([Buffer.from(`${folder}/caf`), Buffer.from([0xe9])]), { recursive: true })
  await writeFile(Buffer.concat([Buffer.from(`${folder}/gr`), Buffer.from([0xfc]), Buffer.from('n.txt')]), 'green')
  await writeFile(join(folder, 'blau.txt'), 'blue')
  for (const command of ['put', 'sync']) {
    const { code, out } = await computer.run([command, 'old', dataset])
    t.is(code, 1, command)
    t.regex(out, /failed {2}.*caf\ufffd: its name is not valid UTF-8: rename it/)
    t.regex(out, /failed {2}.*gr\ufffdn\.txt: its name is not valid UTF-8: rename it/)
    t.regex(out, /uploaded {2}(?:old\/)?blau\.txt/)
  }
})
