import test from 'ava'
import { Mailer, Users } from 'pounce/sdk'
import { bootForTest, MemoryMailer } from 'pounce/sdk/testing'
import { ok } from '../support/scene.ts'
import { letIn, meet, newDataset, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'

const mailer = new MemoryMailer()
const server = await bootForTest({ overrides: { [Mailer]: mailer }, config: { access: { private: true } } })
test.after.always(() => server.stop())

const titlesOf = async (who: Somebody, kind: string): Promise<readonly string[]> => {
  await server.drained()
  return (await ok<{ title: string }[]>(who.call(`/api/me/notifications?kind=${kind}`))).map(({ title }) => title)
}

/** Ann, who may edit a space, and Bob, a member. */
const scene = async () => {
  const [ann, bob] = [await somebody(server, 'Ann'), await somebody(server, 'Bob')]
  await meet(server, ann, bob)
  const space = await newSpace(ann, 'Soil lab')
  await letIn(ann, space, 'Editor', bob)
  return { ann, bob, space }
}

test('after an erasure, notifications of others no longer name the user', async t => {
  const { ann, bob, space } = await scene()
  const dataset = await newDataset(ann, { name: 'Soil cores', space })
  await server.drained()
  t.is((await bob.post(`/api/datasets/${dataset}/follow`)).status, 200)
  t.is((await ann.post(`/api/datasets/${dataset}/comment`, { text: `@${bob.email} please look` })).status, 200)
  t.is((await ann.post(`/api/datasets/${dataset}/tags`, { tags: ['oak'] })).status, 200)
  t.regex((await titlesOf(bob, 'mention'))[0] ?? '', /^Ann Number \d+ mentioned you in a comment on the dataset Soil cores$/)
  await letIn(ann, space, 'Admin', bob)
  await server.drained()
  t.is((await ann.call(`/api/users/${ann.id}`, { method: 'DELETE' })).status, 202)
  t.deepEqual(await titlesOf(bob, 'mention'), ['Deleted User mentioned you in a comment on the dataset Soil cores'])
  t.true((await titlesOf(bob, 'role-change')).includes('Deleted User changed your role in the space Soil lab'))
})

test('the name of a space that the author of a dataset may not view is not in their notification', async t => {
  const { ann, bob } = await scene()
  const dataset = await newDataset(bob, { name: 'Bobs data' })
  const secret = await newSpace(ann, 'Secret merger')
  await server.drained()
  const added = await ann.asAdmin(`/api/spaces/${secret}/addDatasetToSpace/${dataset}?superAdmin=true`, { method: 'POST' })
  t.is(added.status, 200)
  const [share = ''] = await titlesOf(bob, 'share')
  t.regex(share, /added your dataset Bobs data to a space$/)
})

test('a long title stays valid Unicode', async t => {
  const { ann, bob } = await scene()
  const shared = await newSpace(bob)
  for (const letters of [200, 201]) {
    const dataset = await newDataset(bob, { name: `${'x'.repeat(letters)}${'🌲'.repeat(100)}` })
    await ann.asAdmin(`/api/spaces/${shared}/addDatasetToSpace/${dataset}?superAdmin=true`, { method: 'POST' })
  }
  const titles = await titlesOf(bob, 'share')
  t.is(titles.length, 2)
  for (const title of titles) t.true(title.isWellFormed() && title.length <= 300)
})

test('a request to join notifies and mails users who can edit the space, however many members were added before them', async t => {
  const [ann, bob] = [await somebody(server, 'Ann'), await somebody(server, 'Bob')]
  await meet(server, ann, bob)
  const space = await newSpace(ann, 'Crowded lab')
  const users = server.get(Users)
  const viewer = (await users.roles()).find(({ name }) => name === 'Viewer')?.id ?? ''
  const join = async (_: unknown, at: number): Promise<void> => {
    const { id } = await users.create({ email: `member${at}@example.org`, firstName: 'Member', lastName: `${at}`, status: 'Active' })
    await users.change(id, { addToSet: { memberships: [{ space, role: viewer }] } }, [])
  }
  await Promise.all(Array.from({ length: 1000 }, join))
  const late = await somebody(server, 'Late')
  await letIn(ann, space, 'Admin', ann, late)
  t.is((await bob.asAdmin(`/api/spaces/${space}/verify`, { method: 'PUT' })).status, 200)
  t.is((await ann.post(`/api/spaces/${space}/update`, { name: 'Crowded lab', description: '', access: 'PUBLIC' })).status, 200)
  t.is((await bob.post(`/api/spaces/${space}/request`)).status, 200)
  t.regex((await titlesOf(late, 'request'))[0] ?? '', /^Bob Number \d+ requests to join the space Crowded lab$/)
  t.true(
    mailer.sent.some(({ to, subject }) => to.includes(late.email.toLowerCase()) && /requests to join the space Crowded lab$/.test(subject)),
  )
})

test('a renewed invitation replaces its notification', async t => {
  const [ann, guest] = [await somebody(server, 'Ann'), await somebody(server, 'Guest')]
  const space = await newSpace(ann, 'Hidden lab')
  await server.drained()
  for (const role of ['Editor', 'Viewer']) {
    t.is((await ann.post(`/api/spaces/${space}/invite`, { emails: [guest.email], role })).status, 200)
    await server.drained()
    t.is((await titlesOf(guest, 'invitation')).length, 1, role)
  }
})
