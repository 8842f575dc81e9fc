import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import type { ExecutionContext, TestFn } from 'ava'
import { openPromise } from 'yauzl'
import { dataFile, type Installed, MainJob, type Name, sha256, shipment } from '../support/main-job.ts'
import { newDataset, ok } from '../support/scene.ts'
import { digestOf, noise, peakDuring, streamedForm } from '../support/streams.ts'
import { until } from '../support/until.ts'

/** Registers cleanup functions, like a test. */
interface Ending {
  teardown(end: () => Promise<void>): void
}

let job: MainJob
/** All files are created on this day or, if the tests run at midnight, the next. */
const firstDay = new Date().toISOString().slice(0, 10)

const extractorsOf = async (name: Name): Promise<readonly string[]> => {
  const runs = await ok<{ extractor_id: string; status: string }[]>(job.call(`/api/files/${job.id(name)}/extractions`))
  return runs.map(run => `${run.extractor_id.replace('pounce.', '')} ${run.status}`).sort()
}

/** The image format according to the first bytes. */
const kindOf = (bytes: Buffer): string =>
  bytes.subarray(0, 3).toString('hex') === 'ffd8ff' ? 'image/jpeg' : bytes.subarray(1, 4).toString() === 'PNG' ? 'image/png' : 'unknown'

/** Tests of the extractors' results. */
const extracting = (test: TestFn): void => {
  test.serial('every file becomes PROCESSED', async t => {
    for (const { name } of shipment) await job.extracted(name)
    await job.drained()
    for (const { data, name, type } of shipment) {
      const bytes = await dataFile(data)
      t.like(await job.info(name), { filename: name, 'content-type': type, size: String(bytes.length), sha256: sha256(bytes) })
    }
  })

  test.serial('each type triggers the extractors that read it, and all of them succeed', async t => {
    const expected: Record<Name, readonly string[]> = {
      'photo.jpg': ['digest DONE', 'image DONE'],
      'Grün & 緑 🌿.png': ['digest DONE', 'image DONE'],
      'paper.pdf': ['digest DONE', 'pdf DONE'],
      'stations.csv': ['csv DONE', 'digest DONE', 'text DONE'],
      'notes.md': ['digest DONE', 'text DONE'],
      'Übersicht – 観測.md': ['digest DONE', 'text DONE'],
      'tone.wav': ['digest DONE', 'media DONE'],
      'bundle.zip': ['digest DONE', 'zip DONE'],
      'empty.bin': ['digest DONE'],
    }
    for (const { name } of shipment) t.deepEqual(await extractorsOf(name), expected[name], name)
  })

  test.serial('extractors add metadata of a photo, a picture, a paper, a table, a text, a sound and an archive', async t => {
    const photo = await job.found('photo.jpg', 'pounce.image')
    t.like(photo, { format: 'jpeg', width: 640, height: 427 })
    const { latitude, longitude, altitude } = photo['location'] as Record<string, number>
    t.deepEqual([latitude, longitude, altitude].map(Math.round as (value: unknown) => number), [51, 7, 60])
    t.true(Math.abs(Number(latitude) - 50.73) < 0.001 && Math.abs(Number(longitude) - 7.09) < 0.001)
    t.regex(String(photo['takenAt']), /^2026-03-14T09:26:53/)
    t.like(await job.found('Grün & 緑 🌿.png', 'pounce.image'), { format: 'png', width: 300, height: 200, hasAlpha: true })
    const paper = await job.found('paper.pdf', 'pounce.pdf')
    t.like(paper, { pages: 2, title: 'Leaf area and light in a beech stand', author: 'Ann Ash' })
    t.regex(String(paper['text']), /Hemispherical photographs were taken/)
    const table = await job.found('stations.csv', 'pounce.csv')
    t.like(table, { rows: 500, columnCount: 7, hasHeader: true, delimiter: ',' })
    t.deepEqual(
      (table['columns'] as { name: string; type: string }[]).map(({ name, type }) => `${name} ${type}`),
      ['id integer', 'station text', 'date date', 'temperature.celsius number', 'rain_mm integer', 'valid boolean', 'note text'],
    )
    t.like(await job.found('notes.md', 'pounce.text'), { encoding: 'UTF-8', title: 'Field notes', lineEndings: 'LF' })
    t.like(await job.found('Übersicht – 観測.md', 'pounce.text'), { encoding: 'UTF-8', title: 'Übersicht – 観測' })
    const tone = await job.found('tone.wav', 'pounce.media')
    t.is(Math.round(Number(tone['durationSeconds'])), 1)
    t.like(await job.found('bundle.zip', 'pounce.zip'), { files: 3 })
    for (const { data, name } of shipment) t.like(await job.found(name, 'pounce.digest'), { sha256: sha256(await dataFile(data)) })
  })

  test.serial('previews and thumbnails exist, with the right types', async t => {
    const expected: Record<Name, readonly string[]> = {
      'photo.jpg': ['Thumbnail image/jpeg'],
      'Grün & 緑 🌿.png': ['Thumbnail image/png'],
      'paper.pdf': ['Text text/plain', 'Thumbnail image/jpeg'],
      'stations.csv': ['HTML text/html', 'Text text/plain'],
      'notes.md': ['HTML text/html'],
      'Übersicht – 観測.md': ['HTML text/html'],
      'tone.wav': ['Audio audio/wav'],
      'bundle.zip': ['Text text/plain'],
      'empty.bin': [],
    }
    for (const { name } of shipment) {
      const shown = await job.previews(name)
      t.deepEqual(shown.map(each => `${each.p_id} ${each.pv_contenttype.split(';')[0]}`).sort(), expected[name], name)
      for (const { pv_route, pv_contenttype, pv_length } of shown) {
        const { status, type, bytes } = await job.bytes(`${pv_route}?tracking=false`)
        t.deepEqual([status, type, String(bytes.length)], [200, pv_contenttype, pv_length], `${name} ${pv_route}`)
        if (pv_contenttype.startsWith('image/')) t.is(kindOf(bytes), pv_contenttype)
      }
    }
    for (const name of ['photo.jpg', 'Grün & 緑 🌿.png', 'paper.pdf'] as const) {
      const { status, type, bytes } = await job.bytes(`/api/thumbnails/${(await job.info(name))['thumbnail']}/blob`)
      t.deepEqual([status, type], [200, kindOf(bytes)], name)
    }
  })
}

const finds: readonly [query: string, names: readonly Name[], more?: string][] = [
  ['photo', ['paper.pdf', 'photo.jpg']],
  ['観測', ['Übersicht – 観測.md']],
  ['übersicht', ['Übersicht – 観測.md']],
  ['緑', ['Grün & 緑 🌿.png']],
  ['Buchenwald', ['photo.jpg']],
  ['tag:buchenwald', ['photo.jpg']],
  ['', ['photo.jpg'], '&tag=Buchenwald'],
  ['zinnober', ['photo.jpg']],
  ['Hemispherical', ['paper.pdf']],
  ['"overcast sky"', ['paper.pdf']],
  ['"taken at four sites"', ['notes.md']],
  ['Frühjahr', ['Übersicht – 観測.md']],
  ['width>600', ['photo.jpg']],
  ['width<=300', ['Grün & 緑 🌿.png']],
  ['location.latitude>50 location.latitude<51', ['photo.jpg']],
  ['rows==500', ['stations.csv']],
  ['pages>=2', ['paper.pdf']],
  ['depth>=12', ['notes.md']],
  ['depth>12.5', []],
  ['sampled<2024-07-01', ['notes.md']],
  ['plot.name:Nordhang', ['notes.md']],
]

/** Tests of annotations and search. */
const annotating = (test: TestFn): void => {
  test.serial('files and datasets can be tagged, commented and described', async t => {
    const post = (path: string, json: unknown) => job.call(path, { method: 'POST', json })
    const photo = `/api/files/${job.id('photo.jpg')}`
    t.like(await ok(post(`${photo}/tags`, { tags: ['Buchenwald', 'two  words'] })), { status: 'success' })
    t.like(await ok(job.call(`${photo}/tags`)), { tags: ['Buchenwald', 'two words'] })
    t.is((await post(`/api/datasets/${job.dataset}/tags`, { tags: ['ökologie'] })).status, 200)
    t.is((await post(`${photo}/comment`, { text: 'A zinnober-red leaf' })).status, 200)
    t.like((await ok<object[]>(job.call(`${photo}/comments`)))[0] as object, {
      text: 'A zinnober-red leaf',
      author: { fullName: 'Ann Ash' },
    })
    const metadata = {
      '@context': { depth: 'http://example.org/depth' },
      agent: { '@type': 'cat:user', user_id: 'http://example.org/api/users/x' },
      content: { depth: 12.5, sampled: '2024-06-01', plot: { name: 'Nordhang' } },
    }
    t.is((await post(`/api/files/${job.id('notes.md')}/metadata.jsonld`, metadata)).status, 200)
    await job.drained()
  })

  test.serial('names, tags, comments, metadata and the words of a paper and of notes are found', async t => {
    const find = async (query: string, names: readonly Name[], more = '') => {
      const question = `&resource_type=file${more}`
      t.deepEqual(await job.search(query, question), names.map(name => job.id(name)).sort(), `${query} ${more}`)
    }
    for (const each of finds) await find(...each)
    const all = shipment.map(({ name }) => name)
    await find(`created>=${firstDay}`, all)
    await find(`created<${firstDay}`, [])
    await find('', all, `&datasetid=${job.dataset}`)
    t.deepEqual(await job.search('ökologie'), [job.dataset])
    t.deepEqual(await job.search('林冠'), [job.dataset])
  })

  test.serial('the tree shows the space, the dataset, its folders and files', async t => {
    const files = (folder: string | undefined) =>
      Object.fromEntries(shipment.filter(each => each.folder === folder).map(({ name }) => [name, job.id(name)]))
    t.deepEqual(await job.tree('space', job.space), {
      'Canopy – 林冠': { pictures: files('pictures'), raw: { 'Tiefe 深': files('deep') }, ...files(undefined) },
    })
  })
}

/** Reads a ZIP like an unzip program: from its central directory, verifying each entry. */
const unzip = async (path: string): Promise<Readonly<Record<string, string>>> => {
  const archive = await openPromise(path, { lazyEntries: true, autoClose: false, validateEntrySizes: true })
  const found: Record<string, string> = {}
  for await (const entry of archive.eachEntry()) found[entry.fileName] = sha256(await buffer(await archive.openReadStreamPromise(entry)))
  archive.close()
  return found
}

const bigBytes = 200 * 1024 * 1024 + 12_345
const bigGrowth = 128 * 1024 * 1024

/** Tests of large downloads and uploads. */
const moving = (test: TestFn): void => {
  test.serial('the dataset can be downloaded as a ZIP with the exact bytes', async t => {
    const folder = await mkdtemp(join(tmpdir(), 'pounce-zip-'))
    t.teardown(() => rm(folder, { recursive: true, force: true }))
    const file = join(folder, 'dataset.zip')
    const answer = await job.call(`/api/datasets/${job.dataset}/download`)
    t.is(answer.headers.get('content-type'), 'application/zip')
    await pipeline(Readable.fromWeb(answer.body as never), createWriteStream(file))
    const paths = { pictures: 'pictures/', deep: 'raw/Tiefe 深/' }
    const expected: Record<string, string> = {}
    for (const { data, name, folder: inside } of shipment)
      expected[`${inside === undefined ? '' : paths[inside]}${name}`] = sha256(await dataFile(data))
    const entries = Object.fromEntries(Object.entries(await unzip(file)).filter(([name]) => !name.endsWith('/')))
    t.deepEqual(entries, expected)
  })

  test.serial('a file of 200 MB is uploaded and downloaded without being buffered in memory', async t => {
    const dataset = await newDataset(job.call, { name: 'Big' })
    const { sha256: sent } = await digestOf(noise(bigBytes, 'big'))
    const before = await job.rss()
    const form = streamedForm('big.raw', 'application/octet-stream', noise(bigBytes, 'big'))
    const up = await peakDuring(job.rss, ok<{ id: string }>(job.call(`/api/uploadToDataset/${dataset}`, form)))
    const { id } = up.result
    job.files.set('big.raw', id)
    t.like(await job.info('big.raw'), { size: String(bigBytes), sha256: sent })
    // The extractor receives the same bytes: wait for it before measuring the memory of a download.
    await job.extracted('big.raw', 60_000)
    t.like(await job.found('big.raw', 'pounce.digest'), { sha256: sent, sizeBytes: bigBytes })
    const down = await peakDuring(
      job.rss,
      job.call(`/api/files/${id}/blob`).then(answer => digestOf(answer.body as ReadableStream<Uint8Array>)),
    )
    t.deepEqual(down.result, { sha256: sent, sizeBytes: bigBytes })
    t.log(`memory: ${before >> 20} MiB before, ${up.peak >> 20} while it came, ${down.peak >> 20} while it went`)
    t.true(Math.max(up.peak, down.peak) - before < bigGrowth)
  })
}

/** Counts everything from lists. */
const recount = async () => {
  const list = <T>(path: string) => ok<T[]>(job.admin(`${path}superAdmin=true`))
  const datasets = await list<{ id: string }>('/api/datasets?limit=0&')
  const files = (await Promise.all(datasets.map(({ id }) => list<{ size: string }>(`/api/datasets/${id}/files?`)))).flat()
  return {
    spaces: (await list('/api/spaces?limit=0&')).length,
    collections: (await list('/api/collections?limit=0&')).length,
    datasets: datasets.length,
    files: files.length,
    bytes: files.reduce((sum, { size }) => sum + Number(size), 0),
    users: (await list('/api/users?limit=0&')).length,
  }
}

const countsMatch = async (t: ExecutionContext): Promise<void> => {
  await job.drained()
  const { counts } = await ok<{ counts: object }>(job.call('/api/status'))
  t.deepEqual(counts, await recount())
}

/** Tests of the state after a crash. */
const surviving = (test: TestFn): void => {
  test.serial('the totals of the status page equal those of a recount', async t => {
    await countsMatch(t)
    t.like(await recount(), { spaces: 1, datasets: 2, files: shipment.length + 1, users: 2 })
  })

  test.serial('after kill -9 and a restart the state is unchanged', async t => {
    await job.drained()
    const before = await job.state()
    await job.kill()
    await job.start()
    t.deepEqual(await job.state(), before)
    const { sha256: sent } = await digestOf(noise(bigBytes, 'big'))
    const answer = await job.call(`/api/files/${job.id('big.raw')}/blob`)
    t.deepEqual(await digestOf(answer.body as ReadableStream<Uint8Array>), { sha256: sent, sizeBytes: bigBytes })
    await countsMatch(t)
  })

  test.serial('search then finds both old and new resources', async t => {
    for (const [query, names, more = ''] of finds)
      t.deepEqual(await job.search(query, `&resource_type=file${more}`), names.map(name => job.id(name)).sort(), `${query} ${more}`)
    const id = job.id('tone.wav')
    t.is((await job.call(`/api/files/${id}/tags`, { method: 'POST', json: { tags: ['kammerton'] } })).status, 200)
    t.deepEqual(
      await until(
        'the new tag to be found',
        () => job.search('kammerton'),
        hits => hits.length > 0,
      ),
      [id],
    )
  })
}

/** The main workflow of the product, from an empty installation to one that was killed; the same for every combination of backends. */
export const mainJobTests = (test: TestFn, installed: (ending: Ending) => Promise<Installed>): void => {
  const endings: (() => Promise<void>)[] = []
  test.before(async () => {
    job = await MainJob.begin(await installed({ teardown: end => void endings.push(end) }))
    await job.furnish()
    await job.uploadAll()
  })
  test.after.always(async () => {
    await job?.end()
    for (const end of endings) await end()
  })
  extracting(test)
  annotating(test)
  moving(test)
  surviving(test)
}
