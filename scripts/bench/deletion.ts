import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { BlobStore, Datasets, DocumentStore, event, type NewEvent, Users } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { files } from '../../plugins/resources/files/collection.ts'
import { percentile } from './load.ts'
import { account, memoryOf, newKey, type Server, startPounce } from './servers.ts'
import { type Row, round } from './table.ts'

const hex = (n: number): string => (0xf_0000_0000 + n).toString(16).padStart(24, '0')

const record = (n: number, dataset: string, author: string, blob: { key: string; sizeBytes: number; sha256: string }) => ({
  id: hex(n),
  ...{
    name: `file ${n}.txt`,
    originalName: `file ${n}.txt`,
    description: '',
    author,
    contentType: 'text/plain',
    status: 'PROCESSED' as const,
  },
  created: new Date(1_600_000_000_000 + n * 1000).toISOString(),
  ...{ sizeBytes: blob.sizeBytes, sha256: blob.sha256, blob: blob.key },
  places: [{ dataset, folder: null, in: dataset }],
  ...{ thumbnail: null, showPreviews: 'DatasetLevel' as const, tags: [] },
  license: { type: 'license1', url: '', text: 'All Rights Reserved', rightsHolder: '', allowDownload: false },
  statistics: { views: 0, downloads: 0, lastViewed: null, lastDownloaded: null },
})

/** Fills a data folder with a dataset of `count` small files, all indexed and counted; resolves to the dataset's id. */
const fill = async (folder: string, count: number): Promise<string> => {
  const server = await bootForTest({ folder, config: { admin: account } })
  const [documents, blobs] = [server.get(DocumentStore), server.get(BlobStore)]
  const author = (await server.get(Users).byEmail(account.email))?.id ?? ''
  const { id: dataset } = await server.get(Datasets).create({ name: 'large', author })
  for (let from = 0; from < count; from += 500) {
    const numbers = Array.from({ length: Math.min(500, count - from) }, (_, at) => from + at)
    const stored = await Promise.all(numbers.map(n => blobs.put(Buffer.from(`bytes of ${n}`))))
    const items = numbers.map((n, at) => {
      const file = record(n, dataset, author, stored[at] ?? { key: '', sizeBytes: 0, sha256: '' })
      const about = { dataset, folder: null, sizeBytes: file.sizeBytes, extract: false, key: null }
      const events: NewEvent[] = [event('file.created', { kind: 'file', id: file.id }, about, author)]
      return { change: { insert: file, into: files }, events }
    })
    for (const each of await documents.commitEach(items)) if (!each.ok) throw each.error
  }
  await server.drained(600_000)
  await server.stop()
  return dataset
}

const timed = async (work: () => Promise<Response>): Promise<number> => {
  const at = performance.now()
  const answer = await work()
  await answer.arrayBuffer()
  if (!answer.ok) throw new Error(`${answer.status} ${answer.url}`)
  return performance.now() - at
}

interface Deletion {
  readonly answeredMs: number
  readonly backgroundMs: number
  readonly healthP99Ms: number
  readonly peakMiB: number
}

/** Permanently deletes the dataset, and requests the health every 5 ms until no events are pending. */
const deleteIt = async (server: Server, dataset: string): Promise<Deletion> => {
  const headers = { 'x-api-key': await newKey(server) }
  const remove = () => timed(() => fetch(`${server.url}/api/datasets/${dataset}`, { method: 'DELETE', headers }))
  const waiting = async (): Promise<number> => {
    const body = (await (await fetch(`${server.url}/readyz`, { headers })).json()) as { readonly waiting: number; readonly parked: number }
    if (body.parked > 0) throw new Error(`${body.parked} events were dead-lettered`)
    return body.waiting
  }
  await remove()
  while ((await waiting()) > 0) await pause(50)
  const answeredMs = await remove()
  const began = performance.now()
  const health: number[] = []
  let lookAt = began
  let [quietLooks, backgroundMs] = [0, 0]
  // Events in progress are not pending: it is done only when these led to no further ones.
  while (quietLooks < 5) {
    health.push(await timed(() => fetch(`${server.url}/healthz`)))
    await pause(5)
    if (performance.now() < lookAt) continue
    quietLooks = (await waiting()) === 0 ? quietLooks + 1 : 0
    if (quietLooks <= 1) backgroundMs = performance.now() - began
    lookAt = performance.now() + 200
  }
  health.sort((a, b) => a - b)
  const peakMiB = await memoryOf(server.pid, 'VmHWM')
  return { answeredMs, backgroundMs, healthP99Ms: percentile(health, 0.99), peakMiB }
}

/** Deletion of a dataset with many files: time to the response, time to completion, and the server's latency meanwhile. */
export const deletion = async (count: number): Promise<readonly Row[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'pounce-bench-'))
  try {
    const dataset = await fill(folder, count)
    const server = await startPounce({ folder })
    const { answeredMs, backgroundMs, healthP99Ms, peakMiB } = await deleteIt(server, dataset)
    await server.stop()
    const workload = `deleting a dataset of ${count.toLocaleString('en')} files`
    const background = `${round(backgroundMs / 1000)} s, ${round((count * 1000) / backgroundMs)} files/s, peak ${round(peakMiB)} MiB`
    return [
      { workload, subject: 'answer (goal: ms)', figure: `${round(answeredMs)} ms`, ratio: answeredMs, goal: 200, isCeiling: true },
      { workload, subject: 'everything gone', figure: background },
      {
        workload,
        subject: 'health p99 meanwhile (goal: ms)',
        figure: `${round(healthP99Ms)} ms`,
        ratio: healthP99Ms,
        goal: 50,
        isCeiling: true,
      },
    ]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
