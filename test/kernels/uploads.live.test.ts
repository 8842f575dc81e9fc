import test from 'ava'
import { liveTests } from 'pounce/sdk/testing'
import { newDataset, ok } from '../support/scene.ts'
import { digestOf, noise } from '../support/streams.ts'
import { SeveralKernels } from './several-kernels.ts'

const { test: live, url } = liveTests(test, 'MONGODB', 'S3', 'ELASTICSEARCH')

const sizeBytes = 20_000_000
const version = { 'tus-resumable': '1.0.0' }

const begin = async (t: Parameters<typeof SeveralKernels.begin>[0]) => {
  const kernels = await SeveralKernels.begin(t, url, 2, { POUNCE_RESOURCES__UPLOADS__PART_BYTES: '2097152' })
  const dataset = await newDataset((path, init) => kernels.call(0, path, init))
  const pieces: Buffer<ArrayBuffer>[] = []
  for await (const piece of noise(sizeBytes, 'kernels')) pieces.push(Buffer.from(piece))
  const bytes = Buffer.concat(pieces)
  const about = `filename ${btoa('far.bin')},dataset ${btoa(dataset)},extract ${btoa('false')}`
  const headers = { ...version, 'upload-length': String(sizeBytes), 'upload-metadata': about }
  const answer = await kernels.call(0, '/api/uploads', { method: 'POST', headers })
  if (answer.status !== 201) throw new Error(await answer.text())
  return { kernels, bytes, path: answer.headers.get('location') ?? '' }
}
type Scene = Awaited<ReturnType<typeof begin>>

const patch = ({ kernels, bytes, path }: Scene, kernel: number, start: number, end: number): Promise<Response> =>
  kernels.call(kernel, path, {
    method: 'PATCH',
    headers: { ...version, 'content-type': 'application/offset+octet-stream', 'upload-offset': String(start) },
    body: bytes.subarray(start, end),
  })

const head = async ({ kernels, path }: Scene, kernel: number): Promise<number> =>
  Number((await kernels.call(kernel, path, { method: 'HEAD', headers: version })).headers.get('upload-offset'))

const isWhole = async ({ kernels, bytes, path }: Scene, kernel: number): Promise<boolean> => {
  const id = path.split('/').at(-1)
  const { body } = await kernels.call(kernel, `/api/files/${id}/blob?tracking=false`)
  const [got, sent] = [
    await digestOf(body as unknown as AsyncIterable<Uint8Array>),
    await digestOf([bytes] as unknown as AsyncIterable<Uint8Array>),
  ]
  return got.sha256 === sent.sha256 && got.sizeBytes === sent.sizeBytes
}

live('each kernel continues an upload begun on the other, and the file is created once', async t => {
  const scene = await begin(t)
  t.is((await patch(scene, 0, 0, 7_000_000)).status, 204)
  t.is(await head(scene, 1), 7_000_000)
  t.is((await patch(scene, 1, 7_000_000, 12_000_000)).status, 204)
  t.is((await patch(scene, 0, 7_000_000, 12_000_000)).status, 409)
  const answers = await Promise.all([0, 1].map(async kernel => (await patch(scene, kernel, 12_000_000, sizeBytes)).status))
  t.is(answers.filter(status => status === 204).length, 1, String(answers))
  t.true(
    answers.every(status => [204, 409, 423].includes(status)),
    String(answers),
  )
  t.true(await isWhole(scene, 0))
  t.like(await ok(scene.kernels.call(1, scene.path)), { state: 'finished', received: sizeBytes })
})

live('bytes received by a kernel that is killed are kept, and another one continues the upload', async t => {
  const scene = await begin(t)
  t.is((await patch(scene, 0, 0, 5_000_000)).status, 204)
  const cut = patch(scene, 0, 5_000_000, sizeBytes).then(
    answer => answer.status,
    () => 'cut',
  )
  await scene.kernels.end(0, 'SIGKILL')
  t.is(await cut, 'cut')
  const offset = await head(scene, 1)
  t.true(offset >= 5_000_000)
  t.is((await patch(scene, 1, offset, sizeBytes)).status, 204)
  t.true(await isWhole(scene, 1))
})
