import { readdir } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { TestFetch } from 'pounce/sdk/testing'
import { byExtractor } from './support/annotated.ts'
import { adminKey, type ChildServer, childServer, dataFolder } from './support/child-server.ts'
import { newDataset, upload } from './support/scene.ts'
import { slowness } from './support/slowness.ts'
import { longestStall } from './support/stalls.ts'
import { peakDuring } from './support/streams.ts'
import { until } from './support/until.ts'

const mebibyte = 1024 * 1024
/** Almost the largest accepted document. */
const heavy = JSON.stringify({ agent: byExtractor(), content: { text: 'depth of the core '.repeat(580_000) } })

const readers = 24
/** Together larger than the memory that a download may take. */
const documents = 24
/** Budget of an account for exports, by default. */
const admitted = 8
/** CPU time of two of these documents on the reference machine, generously. */
const maxStallMs = 500
const maxTries = 3

interface Scene {
  readonly server: ChildServer
  readonly folder: string
  readonly key: string
  readonly call: TestFetch
}

const served = async (t: ExecutionContext): Promise<Scene> => {
  const folder = await dataFolder(t)
  const server = await childServer(t, folder, {
    POUNCE_HTTP__LARGE_JSON__MAX_WAIT_MS: '300000',
    POUNCE_HTTP__BUDGETS__MAX_WAIT_MS: '2000',
    POUNCE_HTTP__BUDGETS__EXPORT__ACCOUNT__MAX_PER_MINUTE: '100000',
    POUNCE_HTTP__BUDGETS__METADATA__ACCOUNT__MAX_PER_MINUTE: '100000',
  })
  const key = await adminKey(server)
  return { server, folder, key, call: server.as(key) }
}

const describe = async (t: ExecutionContext, call: TestFetch, path: string, count: number): Promise<void> => {
  const headers = { 'content-type': 'application/json' }
  for (let n = 0; n < count; n += 1) {
    const answer = await call(`${path}/metadata.jsonld`, { method: 'POST', body: heavy, headers })
    t.is(answer.status, 200, await answer.text())
  }
}

/** A response whose body is not read. */
const opened = ({ server, key }: Scene, path: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    get(`${server.url}${path}`, { agent: false, headers: { 'x-api-key': key } }, resolve).on('error', reject)
  })

test.serial('clients that do not read large metadata hold neither the event loop nor more memory than their budget', async t => {
  t.timeout(600_000)
  const scene = await served(t)
  const { server, call } = scene
  const dataset = await newDataset(call)
  const file = await upload(call, dataset)
  for (const path of [`/api/datasets/${dataset}`, `/api/files/${file}`]) await describe(t, call, path, 3)
  for (const path of [
    `/api/datasets/${dataset}/metadata.jsonld`,
    `/api/datasets/${dataset}/metadata.jsonld?limit=2`,
    `/api/datasets/${dataset}/technicalmetadatajson`,
    `/api/files/metadata.jsonld?id=${file}`,
  ]) {
    let isGood = false
    for (let tries = 0; tries < maxTries && !isGood; tries += 1) {
      const all = Promise.all(Array.from({ length: readers }, () => opened(scene, path)))
      const { busyMs } = await longestStall(server, all)
      const statuses = (await all).map(({ statusCode }) => statusCode)
      t.is(statuses.filter(status => status === 200).length, admitted, path)
      t.is(statuses.filter(status => status === 429).length, readers - admitted, path)
      for (const each of await all) each.destroy()
      const limitMs = maxStallMs * slowness()
      t.log(`${path}: ${busyMs.toFixed(0)} ms of computing, limit ${limitMs.toFixed(0)} ms`)
      isGood = busyMs < limitMs
    }
    t.true(isGood, path)
  }
})

test.serial('a bag with more metadata than fits into memory is downloaded, and leaves no temporary files', async t => {
  t.timeout(600_000)
  const { server, folder, call } = await served(t)
  const dataset = await newDataset(call)
  await describe(t, call, `/api/datasets/${dataset}`, documents)
  const download = async (): Promise<number> => {
    const answer = await call(`/api/datasets/${dataset}/download?bagit=true`)
    t.is(answer.status, 200)
    let bytes = 0
    for await (const piece of answer.body as unknown as AsyncIterable<Uint8Array>) bytes += piece.length
    return bytes
  }
  const before = await server.rss()
  const { peak, result } = await peakDuring(() => server.rss(), download())
  t.true(result > documents * heavy.length, String(result))
  const more = (peak - before) / mebibyte
  t.log(`${more.toFixed(0)} MiB more for ${(result / mebibyte).toFixed(0)} MiB of metadata`)
  // 830 MiB while all of it was held at once.
  t.true(more < 600, `${more} MiB`)
  const abandoned = await call(`/api/datasets/${dataset}/download?bagit=true`)
  await abandoned.body?.cancel()
  await until(
    'the temporary files to be deleted',
    () => readdir(join(folder, 'downloads')),
    names => names.length === 0,
  )
})
