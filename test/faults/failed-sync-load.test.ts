import { setTimeout as pause } from 'node:timers/promises'
import test from 'ava'
import { skippedBecause, usualOrFull } from 'pounce/sdk/testing'
import { adminKey, childServer, dataFolder } from '../support/child-server.ts'
import { failingSync, lacking } from '../support/failing-sync.ts'
import { formWith, newDataset, ok } from '../support/scene.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { drained, until } from '../support/until.ts'

const withShim = lacking === undefined ? test : skippedBecause(test, lacking)

const loadMs = usualOrFull(2000, 30_000)
const uploaders = 6

interface Named {
  readonly id: string
  readonly filename: string
}

interface Run {
  readonly extractor_id: string
  readonly status: string
}

/** Suffixes of files whose syncs fail: the WAL of any database, a database, the bytes of uploads, their folder. */
const ends = ['-wal', '.db', '.segment', '/segments'] as const

withShim(
  'with failing syncs under load, each acknowledged upload is listed, indexed, found and extracted, and no refused one is',
  async t => {
    t.timeout(240_000)
    const random = seededRandom()
    t.log('seed', random.seed)
    const folder = await dataFolder(t)
    const sync = await failingSync(folder)
    const server = await childServer(t, folder, sync.environment)
    const call = server.as(await adminKey(server))
    const dataset = await newDataset(call)
    const acked: string[] = []
    const refused: string[] = []
    const begun = performance.now()
    /** A slow machine may need longer until an upload encounters a failed sync. */
    const isOver = (): boolean => {
      const ms = performance.now() - begun
      return ms > loadMs && ((acked.length > 0 && refused.length > 0) || ms > loadMs + 60_000)
    }
    const upload = async (uploader: number): Promise<void> => {
      for (let n = 0; !isOver(); n += 1) {
        const name = `zebra${uploader}x${n}y.txt`
        // Extraction of all uploads would take longer than the load itself.
        const path = `/api/uploadToDataset/${dataset}?extract=${n % 10 === 0}`
        const answer = await call(path, { method: 'POST', body: formWith(`text of ${name}`, name) })
        if (answer.ok) acked.push(name)
        else refused.push(name)
        t.true(answer.ok || answer.status === 503, `${answer.status} ${await answer.text()}`)
      }
    }
    const failSyncs = async (): Promise<void> => {
      while (!isOver()) {
        await sync.failNext(1 + random.int(3), random.pick(ends))
        await pause(random.int(300))
      }
    }
    await Promise.all([...Array.from({ length: uploaders }, (_, n) => upload(n)), failSyncs()])
    await sync.failNext(0, 'nothing')
    t.log(`${acked.length} acknowledged, ${refused.length} refused`)
    t.true(acked.length > 0 && refused.length > 0)
    await drained(call, 60_000)

    const files = await ok<Named[]>(call(`/api/datasets/${dataset}/files`))
    t.deepEqual(files.map(({ filename }) => filename).sort(), acked.toSorted())
    t.is((await ok<{ total: number }>(call(`/api/datasets/${dataset}/entries?limit=1`))).total, acked.length)
    for (const { filename } of files) {
      const word = filename.replace('.txt', '')
      const found = await ok<{ results: { name: string }[] }>(call(`/api/search?query=${word}&limit=5`))
      t.deepEqual(
        found.results.map(({ name }) => name),
        [filename],
      )
    }
    for (const { id, filename } of files.filter(({ filename: name }) => /x\d*0y\.txt$/.test(name))) {
      const isDone = (runs: readonly Run[]): boolean =>
        ['pounce.digest', 'pounce.text'].every(name => runs.some(run => run.extractor_id === name && run.status === 'DONE'))
      await until(`the extractions of ${filename}`, () => ok<Run[]>(call(`/api/files/${id}/extractions`)), isDone)
    }
  },
)
