import { link, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { takeOutput } from './output.ts'
import type { RunFailure } from './run-failure.ts'

/** An output folder with a file in a subfolder, and a secret file beside the output folder. */
async function folderOf(t: ExecutionContext): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'pounce-output-')))
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const folder = join(root, 'output')
  await mkdir(join(folder, 'pages'), { recursive: true })
  await writeFile(join(folder, 'pages', '1.txt'), '12345')
  await writeFile(join(root, 'secret.txt'), 'secret')
  return folder
}

const check = (folder: string, raw: unknown, maxOutputBytes = 1000) =>
  takeOutput(JSON.stringify(raw), { from: folder, to: join(folder, '..', 'taken'), maxOutputBytes })
const file = (path: unknown) => ({ path, contentType: 'text/plain' })

test('a complete result is accepted unchanged, without its unknown properties', async t => {
  const folder = await folderOf(t)
  const output = {
    metadata: { pages: 1 },
    tags: ['a', 'b'],
    previews: [{ ...file('pages/1.txt'), title: 'Page 1' }, file('./pages/1.txt')],
    thumbnail: { path: 'pages/1.txt', contentType: 'image/png' },
    skipped: 'only half',
  }
  t.deepEqual(await check(folder, { ...output, other: 1 }), output)
  t.deepEqual(await check(folder, {}), {})
})

test('malformed results are refused', async t => {
  const folder = await folderOf(t)
  const good = file('pages/1.txt')
  const wrong: readonly unknown[] = [
    null,
    [],
    'text',
    { metadata: [] },
    { metadata: 'text' },
    { tags: 'a' },
    { tags: [1] },
    { skipped: 1 },
    { previews: good },
    { previews: [null] },
    { previews: [{ path: 'pages/1.txt' }] },
    { previews: [{ ...good, contentType: 'text' }] },
    { previews: [{ ...good, contentType: 'text/html\r\nx: y' }] },
    { previews: [{ ...good, title: 1 }] },
    { previews: Array.from({ length: 21 }, () => good) },
    { thumbnail: null },
  ]
  for (const raw of wrong) {
    const error = await t.throwsAsync<RunFailure>(check(folder, raw), { message: /Invalid extractor result/ }, JSON.stringify(raw))
    t.is(error.kind, 'refused')
  }
})

test('paths outside the folder, missing files and non-files are refused', async t => {
  const folder = await folderOf(t)
  for (const path of [
    '../secret.txt',
    'pages/../../secret.txt',
    join(folder, 'pages/1.txt'),
    '/etc/passwd',
    'absent',
    'pages',
    '.',
    '',
    '..',
    7,
  ]) {
    await t.throwsAsync(check(folder, { previews: [file(path)] }), { message: /Invalid extractor result/ }, String(path))
    await t.throwsAsync(check(folder, { thumbnail: file(path) }), { message: /Invalid extractor result/ }, String(path))
  }
})

test('symbolic and hard links to files outside the folder are refused', async t => {
  const folder = await folderOf(t)
  await symlink('../secret.txt', join(folder, 'soft'))
  await symlink('..', join(folder, 'up'))
  await link(join(folder, '..', 'secret.txt'), join(folder, 'hard'))
  for (const path of ['soft', 'up/secret.txt', 'hard']) {
    await t.throwsAsync(check(folder, { previews: [file(path)] }), { message: /Invalid extractor result/ }, path)
  }
})

test('files whose total size exceeds the limit are refused', async t => {
  const folder = await folderOf(t)
  const previews = [file('pages/1.txt'), file('pages/1.txt')]
  t.is((await check(folder, { previews }, 10)).previews?.length, 2)
  await t.throwsAsync(check(folder, { previews }, 9), { message: /exceed the remaining 4 bytes/ })
})
