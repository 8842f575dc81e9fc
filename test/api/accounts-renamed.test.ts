import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { ok, upload } from '../support/scene.ts'
import { newCollection, newDataset, somebody } from '../support/spaces-and-people.ts'

test('a renamed author is shown, and their resources are found, by the new name only', async t => {
  const server = await bootForTest({ t })
  const person = await somebody(server, 'Marguerite')
  const dataset = await newDataset(person, { name: 'Readings' })
  const file = await upload(person.call, dataset)
  const made = [dataset, file, await newCollection(person, { name: 'Shelf' })].toSorted()
  // More than one batch of index updates.
  made.push(...(await Promise.all(Array.from({ length: 110 }, (_, at) => newDataset(person, { name: `Set ${at}` })))))
  await server.drained()
  const foundBy = async (name: string) => {
    const { results } = await ok<{ results: readonly { id: string }[] }>(
      person.call(`/api/search?query=${encodeURIComponent(`creator:"${name}"`)}&size=500`),
    )
    return results.map(({ id }) => id).toSorted()
  }
  t.deepEqual(await foundBy('Marguerite'), made.toSorted())
  t.is((await person.call(`/api/users/${person.id}/updateName?firstName=Zsuzsanna&lastName=Kovacs`, { method: 'POST' })).status, 200)
  await server.drained(30_000)
  t.deepEqual(await foundBy('Zsuzsanna Kovacs'), made.toSorted())
  t.deepEqual(await foundBy('Marguerite'), [])
  t.like(await ok(person.call(`/api/users/${person.id}`)), { fullName: 'Zsuzsanna Kovacs' })
})
