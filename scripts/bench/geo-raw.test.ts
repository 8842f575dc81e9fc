import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { yearCount } from './geo-points.ts'
import { rawSqlite } from './geo-raw.ts'

const count = 2000

test('the bare tables of the bench return the same readings for every query', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'pounce-bench-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const raw = rawSqlite(folder, count)
  await raw.ingest(count)
  await raw.addYear()
  t.is(await raw.ask({ box: [-180, -90, 180, 90], fromMs: 0, untilMs: Date.UTC(2100, 0, 1) }), count)
  t.is(await raw.days(), 3 * 365)
  const { lines, bytes } = await raw.csv()
  t.is(lines, count + yearCount + 1)
  t.true(bytes > lines * 100)
  await raw.close()
})
