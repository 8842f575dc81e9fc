import test, { type ExecutionContext } from 'ava'
import { type BlobStore, type DocumentStore, Unavailable } from 'pounce/sdk'
import { bootForTest, type TestFetch, type TestServer } from 'pounce/sdk/testing'
import { OrphanSweep } from '../../plugins/blobs/sweep/orphan-sweep.ts'
import { files } from '../../plugins/resources/files/collection.ts'
import { previews } from '../../plugins/resources/previews/collections.ts'
import { embeddedStores } from '../support/embedded-stores.ts'
import { Gate, overridesOf, pluginsOnStores } from '../support/faulty-stores.ts'
import { formWith, newDataset, ok, upload } from '../support/scene.ts'
import { seededRandom } from '../support/seeded-random.ts'

/** A server on stores whose calls pass through a gate, and the stores themselves for direct access. */
const setUp = async (t: ExecutionContext) => {
  const gate = new Gate()
  const { documents, blobs } = await embeddedStores(t)
  const overrides = overridesOf(gate.guard<DocumentStore>('documents', documents), gate.guard<BlobStore>('blobs', blobs))
  const server = await bootForTest({ t, plugins: pluginsOnStores, overrides })
  const call = server.as(server.admin.key)
  return { gate, server, call, documents, blobs, dataset: await newDataset(call) }
}
type Scene = Awaited<ReturnType<typeof setUp>>

type Step = (call: TestFetch, scene: { readonly dataset: string; file: string }) => Promise<Response>

const agent = { '@type': 'cat:extractor', name: 'x', extractor_id: 'https://example.org/extractors/x/1.0' }
const post = (json: unknown) => ({ method: 'POST', json })

/** The steps of a user with one file. */
const flow: Readonly<Record<string, Step>> = {
  upload: (call, { dataset }) =>
    call(`/api/uploadToDataset/${dataset}?extract=false`, { method: 'POST', body: formWith('some bytes', 'flow.txt') }),
  metadata: (call, { file }) => call(`/api/files/${file}/metadata.jsonld`, post({ agent, content: { depth: 3 } })),
  tag: (call, { file }) => call(`/api/files/${file}/tags`, post({ tags: ['leaf'] })),
  comment: (call, { file }) => call(`/api/files/${file}/comment`, post({ text: 'nice' })),
  preview: call => call('/api/previews', { method: 'POST', body: formWith('shown', 'shown.png', 'image/png') }),
  rename: (call, { file }) => call(`/api/files/${file}/filename`, { method: 'PUT', json: { name: 'renamed.txt' } }),
  read: (call, { file }) => call(`/api/files/${file}/metadata`),
  download: (call, { file }) => call(`/api/files/${file}/blob`),
  search: call => call('/api/search?query=flow'),
}

/** What is wrong with a response; undefined for a success and for an expected refusal. */
const wrongWith = async (answer: Response, expected: number): Promise<string | undefined> => {
  const text = await answer.text()
  if (answer.ok) return undefined
  const isJson = answer.headers.get('content-type')?.startsWith('application/json')
  const { status, message, code, requestId } = isJson ? (JSON.parse(text) as Record<string, unknown>) : {}
  const isClean = status === 'error' && [message, code, requestId].every(each => typeof each === 'string')
  const saysWhen = expected !== 503 || answer.headers.has('retry-after')
  return answer.status === expected && isClean && saysWhen ? undefined : `${answer.status} ${text}`
}

/** Runs the flow; each failed step is retried once, and must then succeed. Resolves to the faults. */
const walk = async ({ gate, call, dataset }: Scene, expected: number): Promise<readonly string[]> => {
  const scene = { dataset, file: '' }
  const faults: string[] = []
  for (const [name, step] of Object.entries(flow)) {
    const before = gate.failed
    let answer: Response
    try {
      answer = await step(call, scene)
      const fault = await wrongWith(answer.clone(), expected)
      if (fault !== undefined) faults.push(`${name}: ${fault}`)
    } catch (error) {
      // Only a download may be aborted, when its source fails.
      if (name !== 'download') faults.push(`${name}: ${error}`)
      continue
    }
    const isOk = answer.ok ? answer : await step(call, scene)
    if (!isOk.ok) faults.push(`${name} failed again: ${isOk.status} ${await isOk.text()}`)
    else if (name === 'upload') scene.file = ((await isOk.json()) as { id: string }).id
    if (!answer.ok && gate.failed === before) faults.push(`${name} failed without a fault`)
  }
  return faults
}

/** Records without bytes, then bytes without a record that remain after a sweep. */
const halves = async ({ server, documents, blobs }: Scene): Promise<readonly string[]> => {
  const found: string[] = []
  const named = new Set<string>()
  for (const { collection, using } of [
    { collection: files, using: 'byCreated' },
    { collection: previews, using: 'byBlob' },
  ])
    for await (const { id, blob } of documents.scan<{ blob: string }>(collection, { using })) {
      named.add(blob)
      if (!(await blobs.stat(blob))) found.push(`${collection.name} ${id} has no bytes`)
    }
  // Called directly, because the periodic task has a grace period that protects uploads in progress.
  await server.get(OrphanSweep).sweep({ graceMs: 0 })
  for await (const { key } of blobs.list()) if (!named.has(key)) found.push(`${key} belongs to nobody`)
  return found
}

const parkedOf = async (server: TestServer): Promise<unknown> => {
  const { parked, ready } = await ok<{ parked: number; ready: boolean }>(server.as(server.admin.key)('/readyz'))
  return { parked, ready }
}

for (const [title, when, fault, expected] of [
  ['a call to an unavailable store', 'before', () => new Unavailable('A store is unavailable'), 503],
  ['a call that throws', 'before', () => new Error('A fault of the test'), 500],
  ['a call whose response is lost', 'after', () => new Unavailable('A store is unavailable'), 503],
] as const)
  test(`${title} has a clean response, leaves no partial state and can be retried`, async t => {
    const scene = await setUp(t)
    const random = seededRandom()
    t.log(`seed ${random.seed}`)
    let at = 1
    for (; ; at += at < 20 ? 1 : 1 + random.int(8)) {
      scene.gate.arm(at, when, fault)
      const faults = await walk(scene, expected)
      const { failed } = scene.gate
      scene.gate.arm(0)
      t.deepEqual(faults, [], `call ${at}, ${failed}`)
      await scene.server.drained()
      t.deepEqual(await halves(scene), [], `call ${at}, ${failed}`)
      if (failed === undefined) break
    }
    t.true(at > 20)
    t.deepEqual(await parkedOf(scene.server), { parked: 0, ready: true })
    await upload(scene.call, scene.dataset)
  })
