import test, { type ExecutionContext } from 'ava'
import { skippedBecause, type TestFetch, usualOrFull } from 'pounce/sdk/testing'
import { adminKey, type ChildServer, childServer, dataFolder } from '../support/child-server.ts'
import { failingSync, lacking } from '../support/failing-sync.ts'
import { formWith, newDataset, ok } from '../support/scene.ts'
import { drained, until } from '../support/until.ts'

const withShim = lacking === undefined ? test : skippedBecause(test, lacking)

const crashes = usualOrFull(2, 5)

/** A server whose syncs fail on demand, and that can be killed and restarted. */
const setUp = async (t: ExecutionContext) => {
  t.timeout(120_000)
  const folder = await dataFolder(t)
  const sync = await failingSync(folder)
  const settings = { ...sync.environment, POUNCE_DOCUMENTS__SQLITE__INLINEROWS: '1' }
  let server: ChildServer = await childServer(t, folder, settings)
  const key = await adminKey(server)
  const call: TestFetch = (path, init) => server.as(key)(path, init)
  const dataset = await newDataset(call)
  /** Like a power failure from the process's point of view: nothing is closed. */
  const crash = async (): Promise<void> => {
    server.signal('SIGKILL')
    await server.ended
    server = await childServer(t, folder, settings)
  }
  /** Without extraction, whose commits would encounter the failing syncs. */
  const put = (name: string, bytes = 'x'.repeat(100_000)) =>
    call(`/api/uploadToDataset/${dataset}?extract=false`, { method: 'POST', body: formWith(bytes, name) })
  const listed = async (): Promise<readonly string[]> =>
    (await ok<{ filename: string }[]>(call(`/api/datasets/${dataset}/files`))).map(file => file.filename).sort()
  const acked: string[] = []
  /** An upload that encounters `count` failing syncs of such files. If other work encounters the first one, the upload succeeds and another one is tried. */
  const putFailing = async (count: number, end: string, bytes?: string): Promise<Response> => {
    for (let attempt = 0; ; attempt += 1) {
      const name = `failing${end.slice(1)}${acked.length}.bin`
      await drained(call)
      await sync.failNext(count, end)
      const answer = await put(name, bytes)
      if (!answer.ok || attempt === 5) return answer
      acked.push(name)
      await sync.haveFailed()
    }
  }
  return { call, acked, put, putFailing, listed, crash }
}

const isRefused = async (t: ExecutionContext, answer: Response): Promise<string> => {
  const { code, message } = (await answer.json()) as { code: string; message: string }
  t.deepEqual([answer.status, code], [503, 'unavailable'])
  return message
}

withShim('an upload refused because the WAL could not be synced is not listed, even after a crash', async t => {
  const { acked, put, putFailing, listed, crash } = await setUp(t)
  for (let n = 0; n < crashes; n += 1) {
    // A reading thread keeps the WAL open.
    await listed()
    const message = await isRefused(t, await putFailing(1, '.db-wal'))
    await crash()
    t.deepEqual(await listed(), acked.toSorted())
    t.regex(message, /was rolled back/)
    t.is((await put(`kept${n}.bin`)).status, 200)
    acked.push(`kept${n}.bin`)
  }
})

withShim('while the WAL cannot be synced the store is unavailable; afterwards it contains only acknowledged uploads', async t => {
  const { call, acked, put, putFailing, listed, crash } = await setUp(t)
  const message = await isRefused(t, await putFailing(30, '.db-wal'))
  t.is((await call('/api/datasets')).status, 503)
  const back = await until(
    'the store to be available again',
    () => listed().catch(() => undefined),
    found => found !== undefined,
  )
  t.deepEqual(back, acked.toSorted())
  t.is((await put('kept.bin')).status, 200)
  await crash()
  t.deepEqual(await listed(), [...acked, 'kept.bin'].toSorted())
  t.is((await call('/readyz')).status, 200)
  // If other work encountered the failing sync first, the store was unavailable before the upload's own commit.
  t.regex(message, /may have been stored|The document store is unavailable/)
})

withShim('an upload whose bytes could not be synced is refused and leaves nothing', async t => {
  const { acked, put, putFailing, listed, crash } = await setUp(t)
  for (const end of ['/segments', '.segment']) {
    await isRefused(t, await putFailing(1, end, 'small'))
    t.deepEqual(await listed(), acked)
    await crash()
    t.deepEqual(await listed(), acked)
  }
  t.is((await put('kept', 'small')).status, 200)
  t.deepEqual(await listed(), [...acked, 'kept'])
})
