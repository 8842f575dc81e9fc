import test from 'ava'
import { Files } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { EntryIndex } from '../../plugins/resources/entries/entry-index.ts'
import { problemsOf } from '../support/doctor.ts'
import { allEntries, entryPlugins, entryTests } from '../support/entries.ts'
import { newDataset, somebody } from '../support/spaces-and-people.ts'

const server = await bootForTest({ plugins: ['documents.sqlite', ...entryPlugins], config: { access: { private: true } } })
test.after.always(() => server.stop())
for (const how of ['sorted', 'indexed'] as const) entryTests(test, () => server, how)

test('a dataset is indexed once it has more than a thousand entries, and its list stays the same', async t => {
  const ann = await somebody(server)
  const dataset = await newDataset(ann)
  const index = server.get(EntryIndex)
  const add = async (from: number, count: number): Promise<void> => {
    const common = { author: ann.id, contentType: 'text/plain', sizeBytes: 1, sha256: 'a'.repeat(64), extract: false, dataset }
    const made = Array.from({ length: count }, (_, at) => ({ ...common, name: `file ${from + at}`, blob: `b${dataset}${from + at}` }))
    for (let at = 0; at < count; at += 100) await Promise.all(made.slice(at, at + 100).map(each => server.get(Files).create(each)))
    await server.drained()
  }
  const namesTo = (count: number) => Array.from({ length: count }, (_, n) => `file ${n}`)
  const listed = async () => (await allEntries(ann.get, dataset)).map(({ name }) => name)
  await add(0, 1000)
  t.deepEqual(await listed(), namesTo(1000))
  t.is(await index.stateOf(dataset), 'none')
  await add(1000, 300)
  t.is(await index.stateOf(dataset), 'ready')
  t.deepEqual(await listed(), namesTo(1300))
  await add(1300, 50)
  t.deepEqual(await listed(), namesTo(1350))
  // The bytes of these files do not exist.
  t.is((await problemsOf(server))['entries'], undefined)
})
