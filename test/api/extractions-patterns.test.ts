import test from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { extractorInfo } from '../support/extractor-info.ts'
import { FakeBus } from '../support/fake-bus.ts'
import { newPerson, type Person } from '../support/people.ts'
import { newDataset, ok, upload } from '../support/scene.ts'

const document = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'

/** Patterns of `process` as in extractors for Clowder 1.x, each with the events that match it. */
const extractors: Readonly<
  Record<string, { readonly process: Readonly<Record<string, readonly string[]>>; readonly wakes: readonly string[] }>
> = {
  'p.star': { process: { file: ['*'] }, wakes: [document, 'image/jpeg', 'multi/files-zipped', 'text/csv'] },
  'p.stars': { process: { file: ['*/*'] }, wakes: [document, 'image/jpeg', 'multi/files-zipped', 'text/csv'] },
  'p.slash': { process: { file: ['image/*'] }, wakes: ['image/jpeg'] },
  'p.dot': { process: { file: ['image.*'] }, wakes: ['image/jpeg'] },
  'p.csv': { process: { file: ['text.csv'] }, wakes: ['text/csv'] },
  'p.zipped': { process: { file: ['multi.files-zipped'] }, wakes: ['multi/files-zipped'] },
  'p.word-key': { process: { file: [document.replaceAll('.', '_')] }, wakes: [document] },
  'p.word-type': { process: { file: [document] }, wakes: [document] },
  'p.word-dots': { process: { file: [document.replace('/', '.')] }, wakes: [document] },
  'p.other': { process: { file: ['image', 'csv', '', 'text/*/*', 'application/vnd.*', 'files-zipped'] }, wakes: [] },
  'p.dataset': { process: { dataset: ['*'] }, wakes: ['file.added'] },
  'p.added': { process: { dataset: ['file/added'] }, wakes: ['file.added'] },
  'p.metadata': { process: { metadata: ['*'] }, wakes: ['added.file', 'removed.file'] },
}

let server: TestServer
let ann: Person
const bus = new FakeBus()

test.before(async () => {
  server = await bootForTest({ also: [bus.plugin] })
  ann = await newPerson(server, 'ann')
  for (const [name, { process }] of Object.entries(extractors)) await bus.introduce(extractorInfo(name, { process }))
  await ok(server.as(server.admin.key)('/api/extractors/enabled', { method: 'POST', json: { enabled: Object.keys(extractors) } }))
})
test.after.always(() => server?.stop())

const wokenBy = (happening: string): string[] =>
  Object.entries(extractors)
    .filter(([, { wakes }]) => wakes.includes(happening))
    .map(([name]) => name)
    .sort()

const during = async (work: () => Promise<unknown>): Promise<string[]> => {
  const before = bus.jobs.length
  await work()
  await server.drained()
  return bus.jobs.slice(before).map(({ queue }) => queue)
}

for (const type of [document, 'image/jpeg', 'multi/files-zipped', 'text/csv'])
  test.serial(`a file of type ${type} triggers each extractor whose pattern matches it, in every syntax of Clowder 1.x`, async t => {
    const dataset = await newDataset(ann.call)
    const queues = await during(() => upload(ann.call, dataset, 'leaf', 'leaf', { type, query: '' }))
    t.deepEqual(queues.sort(), [...wokenBy(type), ...wokenBy('file.added')].sort())
  })

test.serial('adding and removing metadata triggers extractors registered for all metadata', async t => {
  const file = await upload(ann.call, await newDataset(ann.call), 'leaf')
  const path = `/api/files/${file}/metadata.jsonld`
  const agent = { '@type': 'cat:extractor', extractor_id: 'https://example.org/extractors/someone/1.0' }
  t.deepEqual(await during(() => ok(ann.call(path, { method: 'POST', json: { '@context': [], agent, content: { a: 1 } } }))), [
    'p.metadata',
  ])
  t.deepEqual(await during(() => ok(ann.call(path, { method: 'DELETE' }))), ['p.metadata'])
})
