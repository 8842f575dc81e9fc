import { randomBytes } from 'node:crypto'
import { mkdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import {
  type Contents,
  sameFiles,
  signedInComputer,
  sorted,
  states,
  storedKey,
  type TransferLine,
  transferScene,
  writeFiles,
} from '../support/command-line.ts'
import { type Disturbance, reverseProxy } from '../support/reverse-proxy.ts'
import { newDataset, type Somebody, somebody } from '../support/spaces-and-people.ts'
import { until } from '../support/until.ts'

const partBytes = 1024 * 1024
const server = await bootForTest({
  config: { resources: { uploads: { partBytes } }, access: { policy: { allowAnonymousDownload: true } } },
})
test.after.always(() => server.stop())

/** Downloads without our command. */
const bytesOf = async (ada: Somebody, id: string | undefined): Promise<Buffer> =>
  Buffer.from(await (await ada.call(`/api/files/${id}`)).arrayBuffer())

test('a folder of 200 files is uploaded below a path, skipped the second time, and downloaded unchanged', async t => {
  const { ada, computer, dataset } = await transferScene(t, server)
  const contents: Record<string, Buffer> = { 'empty.txt': Buffer.alloc(0), 'große Datei.bin': randomBytes(3_000_000) }
  for (let count = 0; count < 198; count += 1) contents[`run ${count % 7}/part ${count % 3}/${count}.txt`] = randomBytes(count)
  await writeFiles(join(computer.folder, 'photos'), contents)
  const first = (await computer.done('put', 'photos', `dataset:${dataset}`, '--json')).lines<TransferLine>()
  t.is(first.length, 201)
  t.like(first.at(-1), { summary: { uploaded: 200 } })
  const big = first.find(({ path }) => path === 'photos/große Datei.bin')
  t.true((await bytesOf(ada, big?.id)).equals(contents['große Datei.bin'] as Buffer))

  const second = (await computer.done('put', 'photos', `dataset:${dataset}`, '--json')).lines<TransferLine>()
  t.like(second.at(-1), { summary: { unchanged: 200 }, bytes: 0 })

  const listed = await computer.done('ls', `dataset:${dataset}/photos`, '--recursive', '--json')
  const files = listed.json<{ kind: string; name: string }[]>().filter(({ kind }) => kind === 'file')
  t.deepEqual(files.map(({ name }) => name).sort(), sorted(contents))

  await computer.done('get', `dataset:${dataset}/photos`, 'back')
  await sameFiles(t, join(computer.folder, 'back/photos'), contents)
})

test('the contents of a folder are uploaded to a folder created for them; a changed file becomes a new version', async t => {
  const { ada, computer, dataset } = await transferScene(t, server)
  await writeFiles(join(computer.folder, 'notes'), { 'a.txt': 'one', 'sub/b.txt': 'b' })
  await mkdir(join(computer.folder, 'notes/nothing'))
  await computer.done('put', 'notes/', `dataset:${dataset}/2026/summer`)
  await writeFiles(join(computer.folder, 'notes'), { 'a.txt': 'two' })
  const lines = (await computer.done('put', 'notes/', `dataset:${dataset}/2026/summer`, '--json')).lines<TransferLine>()
  t.deepEqual(states(lines), { 'a.txt': 'updated', 'sub/b.txt': 'unchanged' })
  const versions = (await ada.get(`/api/files/${lines.find(({ path }) => path === 'a.txt')?.id}/versions`)).body as unknown[]
  t.is(versions.length, 2)
  await computer.done('get', `dataset:${dataset}/2026/`, '.')
  await sameFiles(t, join(computer.folder, 'summer'), { 'a.txt': 'two', 'sub/b.txt': 'b' })
  const folders = (await computer.done('ls', `dataset:${dataset}`, '--recursive', '--json')).json<{ kind: string; name: string }[]>()
  t.true(folders.some(({ kind, name }) => kind === 'folder' && name === '2026/summer/nothing'))
})

const isAppend = (method: string, path: string): boolean => method === 'PATCH' && path.startsWith('/api/uploads/')

/** Breaks the connection of the next `times` appends, each after `afterBytes` bytes. */
const breaksUploads = (times: number, afterBytes: number): Disturbance => {
  let left = times
  return {
    cutsRequestAfter: (method, path) => {
      if (!isAppend(method, path) || left === 0) return undefined
      left -= 1
      return afterBytes
    },
  }
}

test('an upload that is interrupted twice resumes by itself', async t => {
  const { ada, computer, dataset, proxy } = await transferScene(t, server)
  const content = randomBytes(8 * partBytes + 17)
  await writeFiles(computer.folder, { 'big.bin': content })
  proxy.become(breaksUploads(2, 3 * partBytes + 5))
  const [line] = (await computer.done('put', 'big.bin', `dataset:${dataset}`, '--json')).lines<TransferLine>()
  t.is(line?.state, 'uploaded')
  t.true((await bytesOf(ada, line?.id)).equals(content))
})

test('a failed upload is resumed by the next run, which sends only the missing bytes', async t => {
  const { ada, computer, dataset, proxy } = await transferScene(t, server)
  const content = randomBytes(8 * partBytes + 17)
  await writeFiles(computer.folder, { 'big.bin': content })
  proxy.become(breaksUploads(1, 6 * partBytes))
  const words = ['put', 'big.bin', `dataset:${dataset}/deep/down`, '--json']
  const broken = await computer.run([...words, '--retries', '0'])
  t.is(broken.code, 1)
  t.like(broken.lines<TransferLine>()[0], { path: 'big.bin', state: 'failed' })
  // Bytes received before the interruption are not stored immediately.
  const received = async () => ((await ada.get('/api/uploads')).body as { received: number }[])[0]?.received ?? 0
  await until('parts to be stored', received, bytes => bytes >= 4 * partBytes)
  proxy.sentBytes()
  const [line] = (await computer.done(...words)).lines<TransferLine>()
  t.is(line?.state, 'uploaded')
  t.true((await bytesOf(ada, line?.id)).equals(content))
  t.true(proxy.sentBytes() < 5 * partBytes)
  const unfinished = (await ada.get('/api/uploads')).body
  t.deepEqual(unfinished, [])
})

test('an upload whose creation response was lost is found, not repeated', async t => {
  const { ada, computer, dataset, proxy } = await transferScene(t, server)
  await writeFiles(computer.folder, { 'small.txt': 'small', 'large.bin': randomBytes(2 * partBytes) })
  const seen = new Set<string>()
  proxy.become({
    cutsResponseAfter: (method, path) => {
      if (method !== 'POST' || path !== '/api/uploads' || seen.size >= 2) return undefined
      seen.add(String(seen.size))
      return -1
    },
  })
  const lines = (await computer.done('put', 'small.txt', 'large.bin', `dataset:${dataset}`, '--jobs', '1', '--json')).lines<TransferLine>()
  t.deepEqual(states(lines), { 'small.txt': 'uploaded', 'large.bin': 'uploaded' })
  const files = (await ada.get(`/api/datasets/${dataset}/files`)).body as unknown[]
  t.is(files.length, 2)
})

test('requests refused with 429 or 503 are retried after the time in Retry-After', async t => {
  const { computer, dataset, proxy } = await transferScene(t, server)
  await writeFiles(computer.folder, { 'a.txt': 'a' })
  const refused: string[] = []
  proxy.become({
    answer: (method, path) => {
      if (refused.length >= 4 || refused.includes(`${method} ${path}`)) return undefined
      refused.push(`${method} ${path}`)
      return { status: refused.length % 2 === 0 ? 503 : 429, headers: { 'retry-after': '0' } }
    },
  })
  await computer.done('put', 'a.txt', `dataset:${dataset}`)
  t.is(refused.length, 4)
  t.true(refused.some(one => one.startsWith('POST ')))
})

test('names and messages from a server cannot control the terminal', async t => {
  const { computer, dataset, proxy } = await transferScene(t, server)
  proxy.become({ changed: (path, body) => (path.endsWith('/tags') ? { tags: ['\x1b[2Jbeech'] } : body) })
  t.is((await computer.done('tag', `dataset:${dataset}`)).out, '\\u001b[2Jbeech\n')
  const body = JSON.stringify({ message: 'No\x1b[2J' })
  proxy.become({ answer: (_method, path) => (path.endsWith('/tags') ? { status: 403, body } : undefined) })
  t.is((await computer.run(['tag', `dataset:${dataset}`])).err, 'No\\u001b[2J\n')
})

test('excluded files and folders are neither uploaded, downloaded nor deleted', async t => {
  const { computer, dataset } = await transferScene(t, server)
  const target = `dataset:${dataset}`
  const kept = { 'a.txt': 'a', 'sub/b.txt': 'b' }
  await writeFiles(join(computer.folder, 'run'), {
    ...kept,
    'a.tmp': 't',
    'sub/b.tmp': 't',
    'raw/old/c.txt': 'c',
    'sub/raw/old/d.txt': 'd',
  })
  const first = await computer.done('put', 'run/', target, '--exclude', '*.tmp', '--exclude', 'raw/old', '--json')
  t.deepEqual(states(first.lines<TransferLine>()), { 'a.txt': 'uploaded', 'sub/b.txt': 'uploaded', 'sub/raw/old/d.txt': 'uploaded' })
  await computer.done('put', 'run/', target)

  const got = await computer.done('get', `${target}/`, 'back', '--exclude', '*.tmp', '--exclude', 'raw', '--json')
  t.deepEqual(Object.keys(states(got.lines<TransferLine>())).sort(), ['a.txt', 'sub/b.txt'])
  await sameFiles(t, join(computer.folder, 'back'), kept)

  // Excluded files are kept on both sides.
  await writeFiles(join(computer.folder, 'back'), { 'own.tmp': 'own' })
  const up = await computer.done('sync', 'back', target, '--exclude', '*.tmp', '--exclude', 'raw', '--delete', '--yes', '--json')
  t.like(up.lines().at(-1), { summary: { unchanged: 2 } })
  const down = await computer.done(
    'sync',
    'back',
    target,
    '--down',
    '--exclude',
    '*.tmp',
    '--exclude',
    'raw',
    '--delete',
    '--yes',
    '--json',
  )
  t.like(down.lines().at(-1), { summary: { unchanged: 2 } })
  await sameFiles(t, join(computer.folder, 'back'), { ...kept, 'own.tmp': 'own' })
  const listed = (await computer.done('ls', target, '--recursive', '--json')).json<{ kind: string; name: string }[]>()
  t.is(listed.filter(({ kind }) => kind === 'file').length, 6)

  const empty = await computer.run(['put', 'run', target, '--exclude', '/'])
  t.is(empty.code, 2)
  t.regex(empty.err, /--exclude must match files or folders/)
})

test('a user with read access downloads missing and changed files, and cannot upload', async t => {
  const { computer, dataset } = await transferScene(t, server)
  await writeFiles(join(computer.folder, 'run'), { 'a.txt': 'a', 'sub/b.txt': 'b' })
  await computer.done('put', 'run/', `dataset:${dataset}`)
  const reader = await signedInComputer(t, server.url, await somebody(server, 'reader'))
  await reader.done('get', `dataset:${dataset}/`, 'copy')
  await writeFiles(join(reader.folder, 'copy'), { 'a.txt': 'x' })
  const lines = (await reader.done('sync', 'copy', `dataset:${dataset}`, '--down', '--json')).lines<TransferLine>()
  t.deepEqual(states(lines), { 'a.txt': 'downloaded', 'sub/b.txt': 'unchanged' })
  await sameFiles(t, join(reader.folder, 'copy'), { 'a.txt': 'a', 'sub/b.txt': 'b' })
  const refused = await reader.run(['put', 'copy/', `dataset:${dataset}`])
  t.is(refused.code, 1)
  t.regex(refused.err, /AddResourceToDataset/)
})

test('sync makes a dataset match a folder, and --dry-run shows the changes', async t => {
  const { ada, computer, dataset } = await transferScene(t, server)
  const target = `dataset:${dataset}`
  await writeFiles(join(computer.folder, 'run'), { 'keep.txt': 'keep', 'change.txt': 'old', 'gone/deep/file.txt': 'gone' })
  await computer.done('sync', 'run', target)
  await rm(join(computer.folder, 'run/gone'), { recursive: true })
  await writeFiles(join(computer.folder, 'run'), { 'change.txt': 'new', 'add/new.txt': 'new' })

  const wanted = {
    'add/new.txt': 'would upload',
    'change.txt': 'would update',
    'keep.txt': 'unchanged',
    'gone/deep/file.txt': 'would delete',
  }
  const before = (await ada.get(`/api/datasets/${dataset}/files`)).body
  const dry = await computer.done('sync', 'run', target, '--delete', '--dry-run', '--json')
  t.deepEqual(states(dry.lines<TransferLine>()), wanted)
  t.deepEqual((await ada.get(`/api/datasets/${dataset}/files`)).body, before)

  const unconfirmed = await computer.run(['sync', 'run', target, '--delete'])
  t.is(unconfirmed.code, 2)
  t.regex(unconfirmed.err, /--yes/)
  t.deepEqual((await ada.get(`/api/datasets/${dataset}/files`)).body, before)

  const done = await computer.done('sync', 'run', target, '--delete', '--yes', '--json')
  t.deepEqual(states(done.lines<TransferLine>()), {
    'add/new.txt': 'uploaded',
    'change.txt': 'updated',
    'keep.txt': 'unchanged',
    'gone/deep/file.txt': 'deleted',
  })
  const left = (await computer.done('ls', target, '--recursive', '--json')).json<{ name: string }[]>()
  t.deepEqual([...new Set(left.map(({ name }) => name))].sort(), ['add', 'add/new.txt', 'change.txt', 'keep.txt'])
  const again = await computer.done('sync', 'run', target, '--json')
  t.like(again.lines().at(-1), { summary: { unchanged: 3 } })

  // Restoring the content of an older version is a change as well.
  await writeFiles(join(computer.folder, 'run'), { 'change.txt': 'old' })
  t.is(states((await computer.done('sync', 'run', target, '--json')).lines<TransferLine>())['change.txt'], 'updated')
})

test('sync --delete deletes a file with its older versions', async t => {
  const { computer, dataset } = await transferScene(t, server)
  for (const text of ['one', 'two', 'three']) {
    await writeFiles(computer.folder, { 'notes/a.txt': text, 'notes/b.txt': text })
    await computer.done('sync', 'notes', `dataset:${dataset}`)
  }
  await rm(join(computer.folder, 'notes/a.txt'))
  const end = await computer.done('sync', 'notes', `dataset:${dataset}`, '--delete', '--yes')
  t.regex(end.out, /1 deleted, 1 unchanged/)
  const listed = (await computer.done('ls', `dataset:${dataset}`, '--json')).json<{ name: string }[]>()
  t.deepEqual([...new Set(listed.map(({ name }) => name))], ['b.txt'])
})

test('sync --down makes a folder match a dataset', async t => {
  const { computer, dataset } = await transferScene(t, server)
  const target = `dataset:${dataset}`
  const contents = { 'keep.txt': 'keep', 'change.txt': 'right', 'sub/new.txt': 'new' }
  await writeFiles(join(computer.folder, 'source'), contents)
  await computer.done('sync', 'source', target)
  const mine = { 'keep.txt': 'keep', 'change.txt': 'wrong', 'old/own.txt': 'own' }
  await writeFiles(join(computer.folder, 'copy'), mine)
  const dry = await computer.done('sync', 'copy', target, '--down', '--delete', '--dry-run', '--json')
  t.deepEqual(states(dry.lines<TransferLine>()), {
    'keep.txt': 'unchanged',
    'change.txt': 'would download',
    'sub/new.txt': 'would download',
    'old/own.txt': 'would delete',
  })
  await sameFiles(t, join(computer.folder, 'copy'), mine)
  await computer.done('sync', 'copy', target, '--down')
  await sameFiles(t, join(computer.folder, 'copy'), { ...contents, 'old/own.txt': 'own' })
  await computer.done('sync', 'copy', target, '--down', '--delete', '--yes')
  await sameFiles(t, join(computer.folder, 'copy'), contents)
  await t.throwsAsync(stat(join(computer.folder, 'copy/old')))
})

/** Removes the routes and properties that Clowder v1 lacks, and returns its version. */
const asClowder: Disturbance = {
  answer: (method, path) => {
    const isOwn =
      /^\/api\/(?:uploads|session|permissions|people|setup)\b|^\/api\/datasets\/[0-9a-f]+\/entries|^\/api\/files\/[0-9a-f]+\/versions/.test(
        path,
      )
    return isOwn || (method === 'POST' && /^\/api\/datasets\/[0-9a-f]+\/folders/.test(path))
      ? { status: 404, body: '{"status":"not found"}' }
      : undefined
  },
  changed: (path, body) => {
    if (path === '/api/version') return { version: { number: '1.22.0', build: '1', branch: 'main', gitsha1: '' } }
    const { sha256: _unknown, ...others } = body as Record<string, unknown>
    return path.endsWith('/metadata') && !Array.isArray(body) ? others : body
  },
}

test('commands need only the routes of Clowder v1', async t => {
  const ada = await somebody(server)
  const proxy = await reverseProxy(t, server.url)
  proxy.become(asClowder)
  const computer = await signedInComputer(t, proxy.url, ada)
  t.is((await computer.done('whoami', '--json')).json<{ software: string }>().software, 'Clowder')
  const target = `dataset:${await newDataset(ada)}`
  const contents: Contents = { 'a.txt': 'one', 'sub/deep/b.bin': randomBytes(2_000_000), 'sub/"quoted".txt': 'quoted', 'empty.txt': '' }
  await writeFiles(join(computer.folder, 'data'), contents)
  await computer.done('put', 'data', `${target}/new`)
  t.like((await computer.done('put', 'data', `${target}/new`, '--json')).lines().at(-1), { summary: { unchanged: 4 } })
  await computer.done('get', `${target}/new/data/`, 'back')
  await sameFiles(t, join(computer.folder, 'back'), contents)

  await writeFiles(join(computer.folder, 'data'), { 'a.txt': 'longer', 'more/c.txt': 'c' })
  await rm(join(computer.folder, 'data/sub/deep'), { recursive: true })
  await computer.done('sync', 'data', `${target}/new/data`, '--delete', '--yes')
  await computer.done('sync', 'copy', `${target}/new/data`, '--down')
  await sameFiles(t, join(computer.folder, 'copy'), { 'a.txt': 'longer', 'more/c.txt': 'c', 'sub/"quoted".txt': 'quoted', 'empty.txt': '' })

  await computer.done('tag', target, 'add', 'beech', 'oak')
  await computer.done('tag', target, 'remove', 'oak')
  t.is((await computer.done('tag', target)).out, 'beech\n')
  await computer.done('meta', target, 'set', 'plot=17')
  t.regex((await computer.done('meta', target)).out, /plot +17/)
})

test('a folder that the server refuses is named, and the others are uploaded', async t => {
  const { computer, dataset, proxy } = await transferScene(t, server)
  await writeFiles(join(computer.folder, 'data'), { 'a.txt': 'a' })
  await mkdir(join(computer.folder, 'data', ' '), { recursive: true })
  await mkdir(join(computer.folder, 'data/fine'))
  const put = await computer.run(['put', 'data/', `dataset:${dataset}`, '--json'])
  t.is(put.code, 1)
  t.deepEqual(states(put.lines<TransferLine>()), { ' ': 'failed', 'a.txt': 'uploaded' })
  const listed = (await computer.done('ls', `dataset:${dataset}`, '--json')).json<{ name: string }[]>()
  t.deepEqual(listed.map(({ name }) => name).sort(), ['a.txt', 'fine'])

  proxy.become(asClowder)
  const clowder = await signedInComputer(t, proxy.url, { key: await storedKey(computer, proxy.url) })
  await writeFiles(join(clowder.folder, 'data'), { ' /b.txt': 'b', 'c.txt': 'c' })
  const other = await clowder.run(['put', 'data/', `dataset:${dataset}`, '--json'])
  t.is(other.code, 1)
  t.deepEqual(states(other.lines<TransferLine>()), { ' ': 'failed', ' /b.txt': 'failed', 'c.txt': 'uploaded' })
})

test('a file that is deleted during the upload fails at once, with the reason', async t => {
  const { computer, dataset, proxy } = await transferScene(t, server)
  await writeFiles(computer.folder, { 'data/a.txt': 'a', 'data/b.txt': 'b' })
  proxy.become({ waitsFor: (_method, path) => (path.endsWith('/check') ? rm(join(computer.folder, 'data/a.txt')) : undefined) })
  const put = await computer.run(['put', 'data/', `dataset:${dataset}`, '--json'])
  t.is(put.code, 1)
  t.deepEqual(states(put.lines<TransferLine>()), { 'a.txt': 'failed', 'b.txt': 'uploaded' })
  t.regex(put.out, /data\/a\.txt is not readable: ENOENT/)
})

test('folders that another command deletes at the same time do not stop sync --delete', async t => {
  const { ada, computer, dataset, proxy } = await transferScene(t, server)
  await writeFiles(computer.folder, { 'data/a/a.txt': 'a' })
  await computer.done('put', 'data/', `dataset:${dataset}`)
  await rm(join(computer.folder, 'data/a'), { recursive: true })
  proxy.become({ waitsFor: (method, path) => (path.includes('/deleteFolder/') ? ada.call(path, { method }) : undefined) })
  const sync = await computer.done('sync', 'data', `dataset:${dataset}`, '--delete', '--yes', '--json')
  t.like(sync.lines().at(-1), { summary: { deleted: 1 } })
})
