import { randomBytes } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { contentsOf, sameFiles, sorted, type TransferLine, transferScene, writeFiles } from '../support/command-line.ts'
import type { Disturbance } from '../support/reverse-proxy.ts'

const server = await bootForTest()
test.after.always(() => server.stop())

test('an interrupted download resumes where it stopped, in the same run and in the next', async t => {
  const { computer, dataset, proxy } = await transferScene(t, server)
  const content = randomBytes(6_000_000)
  await writeFiles(computer.folder, { 'big.bin': content })
  await computer.done('put', 'big.bin', `dataset:${dataset}`)
  const cut = (times: number): Disturbance => {
    let left = times
    return {
      cutsResponseAfter: (method, path) => {
        if (method !== 'GET' || !/^\/api\/files\/[0-9a-f]{24}$/.test(path) || left === 0) return undefined
        left -= 1
        return 2_000_000
      },
    }
  }
  proxy.become(cut(2))
  await computer.done('get', `dataset:${dataset}/big.bin`, 'same')
  t.true((await readFile(join(computer.folder, 'same/big.bin'))).equals(content))

  proxy.become(cut(1))
  const broken = await computer.run(['get', `dataset:${dataset}/big.bin`, 'next', '--retries', '0'])
  t.is(broken.code, 1)
  t.is(sorted(await contentsOf(join(computer.folder, 'next'))).length, 1)
  await t.throwsAsync(stat(join(computer.folder, 'next/big.bin')))
  proxy.receivedBytes()
  await computer.done('get', `dataset:${dataset}/big.bin`, 'next')
  t.true((await readFile(join(computer.folder, 'next/big.bin'))).equals(content))
  t.true(proxy.receivedBytes() < 5_000_000)
  t.deepEqual(sorted(await contentsOf(join(computer.folder, 'next'))), ['big.bin'])
})

test('several commands that resume one download at the same time do not disturb each other', async t => {
  const { computer, dataset } = await transferScene(t, server)
  const content = randomBytes(12_000_000)
  await writeFiles(computer.folder, { 'big.bin': content })
  const [line] = (await computer.done('put', 'big.bin', `dataset:${dataset}`, '--json')).lines<TransferLine>()
  await writeFiles(computer.folder, { [`out/.${line?.id}.pounce-part`]: content.subarray(0, 1_000_000) })
  await Promise.all([1, 2, 3].map(() => computer.done('get', `dataset:${dataset}/big.bin`, 'out')))
  await sameFiles(t, join(computer.folder, 'out'), { 'big.bin': content })
})

test('a download that another command completes and renames meanwhile leaves the whole file', async t => {
  const { computer, dataset, proxy } = await transferScene(t, server)
  const content = randomBytes(2_000_000)
  await writeFiles(computer.folder, { 'big.bin': content })
  const [line] = (await computer.done('put', 'big.bin', `dataset:${dataset}`, '--json')).lines<TransferLine>()
  await writeFiles(computer.folder, { [`out/.${line?.id}.pounce-part`]: content.subarray(0, 1_000_000) })
  const arrived = Promise.withResolvers<void>()
  const completed = Promise.withResolvers<void>()
  let requests = 0
  proxy.become({
    waitsFor: (method, path) => {
      if (method !== 'GET' || path !== `/api/files/${line?.id}`) return undefined
      requests += 1
      arrived.resolve()
      return requests === 1 ? completed.promise : undefined
    },
  })
  const slow = computer.done('get', `dataset:${dataset}/big.bin`, 'out')
  await arrived.promise
  await computer.done('get', `dataset:${dataset}/big.bin`, 'out')
  completed.resolve()
  await slow
  await sameFiles(t, join(computer.folder, 'out'), { 'big.bin': content })
})

test('a damaged or too long partial download is discarded', async t => {
  const { computer, dataset } = await transferScene(t, server)
  const content = randomBytes(100_000)
  await writeFiles(computer.folder, { 'file.bin': content })
  const [line] = (await computer.done('put', 'file.bin', `dataset:${dataset}`, '--json')).lines<TransferLine>()
  for (const bytes of [1000, 100_000, 200_000]) {
    await writeFiles(computer.folder, { [`${bytes}/.${line?.id}.pounce-part`]: randomBytes(bytes) })
    await computer.done('get', `dataset:${dataset}/file.bin`, String(bytes))
    await sameFiles(t, join(computer.folder, String(bytes)), { 'file.bin': content })
  }
})

test('a file is written to standard output completely even if the connection breaks', async t => {
  const { computer, dataset, proxy } = await transferScene(t, server)
  const content = randomBytes(1_000_000).toString('base64')
  await writeFiles(computer.folder, { 'a.txt': content })
  await computer.done('put', 'a.txt', `dataset:${dataset}`)
  let cuts = 2
  proxy.become({
    cutsResponseAfter: (method, path) => {
      if (method !== 'GET' || !/^\/api\/files\/[0-9a-f]{24}$/.test(path) || cuts === 0) return undefined
      cuts -= 1
      return 400_000
    },
  })
  const { out } = await computer.done('get', `dataset:${dataset}/a.txt`, '-')
  t.true(out === content)
  t.is(cuts, 0)
  t.deepEqual(
    sorted(await contentsOf(computer.folder)).filter(path => path.includes('pounce-part')),
    [],
  )

  const folder = await computer.run(['get', `dataset:${dataset}`, '-'])
  t.is(folder.code, 2)
  t.regex(folder.err, /only a single file/)
  t.is((await computer.run(['get', `dataset:${dataset}/a.txt`, '-', '--json'])).code, 2)
})

test('a download replaces a different file only with --overwrite', async t => {
  const { computer, dataset } = await transferScene(t, server)
  await writeFiles(computer.folder, { 'a.txt': 'server' })
  await computer.done('put', 'a.txt', `dataset:${dataset}`)
  await writeFiles(computer.folder, { 'a.txt': 'mine' })
  const refused = await computer.run(['get', `dataset:${dataset}/`])
  t.is(refused.code, 1)
  t.regex(refused.out, /failed {2}a\.txt: .*--overwrite/)
  t.is(await readFile(join(computer.folder, 'a.txt'), 'utf8'), 'mine')
  await computer.done('get', `dataset:${dataset}/`, '--overwrite')
  t.is(await readFile(join(computer.folder, 'a.txt'), 'utf8'), 'server')
})
