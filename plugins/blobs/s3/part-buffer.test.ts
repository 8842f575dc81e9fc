import { createHash } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { Unavailable } from 'pounce/sdk'
import { testBytes } from 'pounce/sdk/testing'
import { MemoryBudget, PartBuffer } from './part-buffer.ts'

const folderOf = async (t: ExecutionContext): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'pounce-parts-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

const budgets = [
  ['in memory', 32 * 1024 * 1024],
  ['in a file from the start', 0],
  ['first in memory, then in a file', 300_000],
] as const
for (const [where, bytes] of budgets) {
  test(`a part kept ${where} can be sent repeatedly, and releases all its resources`, async t => {
    const folder = await folderOf(t)
    const budget = new MemoryBudget(bytes)
    const part = new PartBuffer(budget, folder)
    const content = testBytes(1_000_003)
    for (let at = 0; at < content.length; at += 33_333) await part.add(content.subarray(at, at + 33_333))
    t.is(part.sizeBytes, content.length)
    t.is(part.sha256, createHash('sha256').update(content).digest('hex'))
    for (const _time of [1, 2]) {
      let moved = 0
      const sent = Buffer.concat(await part.open(() => (moved += 1)).toArray())
      t.true(sent.equals(content))
      t.true(moved > 1)
    }
    t.deepEqual(await readdir(folder), [])
    await part.dispose()
    t.true(budget.take(bytes))
  })
}

test('a part above the limit for parts in memory moves to a file, even if the budget is not exhausted', async t => {
  const budget = new MemoryBudget(1024 * 1024 * 1024)
  const part = new PartBuffer(budget, await folderOf(t))
  const piece = testBytes(1024 * 1024)
  for (let at = 0; at < 13; at += 1) await part.add(piece)
  t.true(budget.take(1024 * 1024 * 1024))
  t.is(Buffer.concat(await part.open(() => undefined).toArray()).length, 13 * 1024 * 1024)
  await part.dispose()
})

test('a part that cannot create its file fails with Unavailable', async t => {
  const part = new PartBuffer(new MemoryBudget(0), '/nowhere/at/all')
  await t.throwsAsync(part.add(testBytes(10)), { instanceOf: Unavailable })
  await part.dispose()
})
