import test, { type ExecutionContext } from 'ava'
import { Mailer } from 'pounce/sdk'
import { bootForTest, MemoryMailer } from 'pounce/sdk/testing'
import { ok, upload } from '../support/scene.ts'
import { letIn, newDataset, newSpace, somebody } from '../support/spaces-and-people.ts'

interface Notification {
  readonly title: string
  readonly url: string
  readonly about?: { readonly kind: string; readonly id: string }
}

/** A server whose clock the test advances. */
const atTime = async (t: ExecutionContext, config: Readonly<Record<string, unknown>> = { access: { private: true } }) => {
  let now = Date.now()
  const own = await bootForTest({ t, config, overrides: { [Mailer]: new MemoryMailer() }, clock: { now: () => new Date(now) } })
  const pass = (ms: number): void => {
    now += ms
  }
  return { own, pass }
}

test('notifications about a followed resource are combined into one per hour', async t => {
  const { own, pass } = await atTime(t, {})
  const [ann, bob] = [await somebody(own, 'Ann'), await somebody(own, 'Bob')]
  const space = await newSpace(ann)
  await letIn(ann, space, 'Viewer', bob)
  const dataset = await newDataset(ann, { name: 'Followed', space })
  t.is((await bob.call(`/api/datasets/${dataset}/follow`, { method: 'POST' })).status, 200)
  await own.drained()
  pass(60_000)
  for (const name of ['1', '2', '3']) await upload(ann.call, dataset, 'x', name)
  await own.drained()
  pass(2 * 3_600_000)
  await own.runPeriodic('resources.notifications/notify-followers')
  const found = await ok<Notification[]>(bob.call('/api/me/notifications?kind=followed'))
  t.is(found.length, 1)
  t.like(found[0], { about: { kind: 'dataset', id: dataset } })
  t.regex(found[0]?.title ?? '', /added a file to the dataset Followed and 2 more changes$/)
  await own.runPeriodic('resources.notifications/notify-followers')
  t.is((await ok<Notification[]>(bob.call('/api/me/notifications?kind=followed'))).length, 1)
})

test('changes in a followed space, comments on a followed dataset, and actions of a followed user are combined', async t => {
  const { own, pass } = await atTime(t, {})
  const [ann, bob, cat] = [await somebody(own, 'Ann'), await somebody(own, 'Bob'), await somebody(own, 'Cat')]
  const [space, dataset] = [await newSpace(ann, 'Lab'), await newDataset(ann, { name: 'Followed' })]
  for (const path of [`/api/spaces/${space}/follow`, `/api/datasets/${dataset}/follow`]) t.is((await bob.post(path)).status, 200)
  t.is((await bob.post(`/api/users/follow?followerUUID=${bob.id}&followeeUUID=${cat.id}`)).status, 200)
  await own.drained()
  pass(60_000)
  for (const name of ['D1', 'D2', 'D3']) await newDataset(ann, { name, space: [space] })
  for (const text of ['one', 'two']) t.is((await ann.post(`/api/datasets/${dataset}/comment`, { text })).status, 200)
  for (const name of ['C1', 'C2']) await newDataset(cat, { name })
  await own.drained()
  pass(2 * 3_600_000)
  await own.runPeriodic('resources.notifications/notify-followers')
  const found = await ok<Notification[]>(bob.call('/api/me/notifications?kind=followed'))
  const shown = found.map(({ title, url, about }) => [title.replace(/ Number \d+/, ''), url.replace(own.url, ''), about?.kind])
  t.deepEqual(
    shown.toSorted(([one = ''], [other = '']) => (one < other ? -1 : 1)).map(([title, url, kind]) => [title, url?.split('/')[1], kind]),
    [
      ['Ann added the dataset D3 to the space Lab and 2 more changes', 'spaces', 'space'],
      ['Ann commented on the dataset Followed and 1 more change', 'datasets', 'dataset'],
      ['Cat created the dataset C2 and 1 more change', 'datasets', 'dataset'],
    ],
  )
})

test('a notification that names two resources is listed only while the user may view both', async t => {
  const { own, pass } = await atTime(t)
  const [ann, bob] = [await somebody(own, 'Ann'), await somebody(own, 'Bob')]
  const [open, secret] = [await newSpace(ann, 'Open'), await newSpace(ann, 'canary')]
  for (const space of [open, secret]) await letIn(ann, space, 'Viewer', bob)
  const dataset = await newDataset(ann, { name: 'Shared', space: [open] })
  t.is((await bob.post(`/api/datasets/${dataset}/follow`)).status, 200)
  await own.drained()
  pass(60_000)
  t.true((await ann.post(`/api/spaces/${secret}/addDatasetToSpace/${dataset}`)).status < 300)
  await own.drained()
  pass(2 * 3_600_000)
  await own.runPeriodic('resources.notifications/notify-followers')
  const titles = async () => JSON.stringify(await ok(bob.call('/api/me/notifications?kind=followed')))
  t.true((await titles()).includes('canary'))
  t.is((await ann.post(`/api/spaces/${secret}/removeUser?removeUser=${bob.id}`)).status, 200)
  t.is(await titles(), '[]')
})
