import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { extractorInfo } from '../support/extractor-info.ts'
import { newPerson } from '../support/people.ts'
import { ok, refusal } from '../support/scene.ts'

test('a registration is at most 64 kB long', async t => {
  const server = await bootForTest({ t })
  const ann = await newPerson(server, 'ann')
  const register = (chars: number) =>
    ann.call('/api/extractors', { method: 'POST', json: { ...extractorInfo('wordy'), contexts: ['c'.repeat(chars)] } })
  const refused = await refusal(register(199_000))
  t.is(refused.status, 400)
  t.regex(await (await register(70_000)).text(), /it can have 65536/)
  t.is((await register(60_000)).status, 200)
})

test('the number of extractors per account is limited; at the limit, existing ones can be changed', async t => {
  const server = await bootForTest({ t, config: { resources: { extractions: { maxPerOwner: 2 } } } })
  const [ann, bob] = [await newPerson(server, 'ann'), await newPerson(server, 'bob')]
  const admin = server.as(server.admin.key)
  const json = (name: string, version = '1.0') => ({ method: 'POST', json: { ...extractorInfo(name), version } })
  await ok(ann.call('/api/extractors', json('a.one')))
  await ok(ann.call('/api/extractors', json('a.two')))
  t.like(await refusal(ann.call('/api/extractors', json('a.three'))), { code: 'conflict' })
  await ok(ann.call('/api/extractors', json('a.two', '2.0')))
  await ok(bob.call('/api/extractors', json('b.one')))
  for (const name of ['c.one', 'c.two', 'c.three']) await ok(admin('/api/extractors', json(name)))
})

test('the list contains every extractor once, sorted by name', async t => {
  const server = await bootForTest({ t })
  const admin = server.as(server.admin.key)
  const names = Array.from({ length: 45 }, (_, n) => `list.${String(n).padStart(2, '0')}`)
  for (const name of [...names].reverse()) await ok(admin('/api/extractors', { method: 'POST', json: extractorInfo(name) }))
  const listed = await ok<{ name: string }[]>(admin('/api/extractors'))
  const { Extractors } = await ok<{ Extractors: string[] }>(admin('/api/extractions/extractors_names'))
  t.deepEqual(
    listed.map(({ name }) => name).filter(name => name.startsWith('list.')),
    names,
  )
  t.deepEqual(
    Extractors,
    listed.map(({ name }) => name),
  )
})
