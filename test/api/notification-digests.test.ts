import test, { type ExecutionContext } from 'ava'
import { Mailer } from 'pounce/sdk'
import { bootForTest, MemoryMailer } from 'pounce/sdk/testing'
import { comment, type Notification, prefer } from '../support/notifications.ts'
import { ok } from '../support/scene.ts'
import { letIn, meet, newDataset, newSpace, somebody } from '../support/spaces-and-people.ts'

const hourMs = 3_600_000

/** A private server whose clock the test advances, with two accounts that are visible to each other. */
const atTime = async (t: ExecutionContext) => {
  const config = { access: { private: true } }
  const mails = new MemoryMailer()
  let now = Date.now()
  const own = await bootForTest({ t, config, overrides: { [Mailer]: mails }, clock: { now: () => new Date(now) } })
  const pass = (ms: number): void => {
    now += ms
  }
  const [ann, bob] = [await somebody(own, 'Ann'), await somebody(own, 'Bob')]
  await meet(own, ann, bob)
  /** A dataset of Ann's in a space that both can edit. */
  const shared = async (name?: string) => {
    const space = await newSpace(ann)
    await letIn(ann, space, 'Editor', bob)
    const dataset = await newDataset(ann, { space, ...(name !== undefined && { name }) })
    await own.drained()
    return { space, dataset }
  }
  const sendDigests = async (): Promise<void> => {
    await own.runPeriodic('resources.notifications/ask-digests')
    await own.drained()
  }
  const digests = () => mails.sent.filter(({ subject }) => subject.includes('new event'))
  return { own, ann, bob, mails, pass, shared, sendDigests, digests }
}

test('a mention in a reply is in the digest if the user chose that for mentions', async t => {
  const { own, ann, bob, pass, shared, sendDigests, digests } = await atTime(t)
  const { dataset } = await shared()
  await prefer(bob, { mention: 'digest' })
  const first = await comment(bob, dataset, 'first')
  for (const text of ['one', 'two', 'three']) await comment(ann, dataset, `${text} @${bob.email}`, first)
  await own.drained()
  const found = await ok<Notification[]>(bob.call('/api/me/notifications'))
  t.is(found.filter(({ kind }) => kind === 'mention' || kind === 'reply').length, 3)
  pass(25 * hourMs)
  await sendDigests()
  t.is(digests()[0]?.subject, '[Pounce] 3 new events')
})

test('notifications sent in a digest do not count as emails', async t => {
  const { own, ann, bob, mails, pass, shared, sendDigests } = await atTime(t)
  const { dataset } = await shared()
  await ok(bob.call(`/api/users/${bob.id}`, { method: 'PUT', json: { notifications: 'hourly' } }))
  await prefer(bob, { reply: 'digest', followed: 'inbox' })
  await own.drained()
  pass(59 * 60_000)
  const first = await comment(bob, dataset, 'first')
  for (let round = 0; round < 25; round += 1) await comment(ann, dataset, `reply ${round}`, first)
  await own.drained()
  pass(2 * 60_000)
  await sendDigests()
  await prefer(bob, { reply: 'mail' })
  await own.drained()
  await comment(ann, dataset, 'by mail', first)
  await own.drained()
  const subjects = mails.sent.filter(({ to }) => to.includes(bob.email.toLowerCase())).map(({ subject }) => subject)
  t.deepEqual(
    subjects.slice(-2).map(subject => subject.replace(/Ann Number \d+/, 'Ann')),
    ['[Pounce] 25 new events', '[Pounce] Ann replied to your comment on the dataset a dataset'],
  )
})

test('notifications chosen for the digest are in the next one, once, unless they may no longer be viewed', async t => {
  const { own, ann, bob, pass, shared, sendDigests, digests } = await atTime(t)
  const [still, lost] = [await shared('still'), await shared('canary')]
  await prefer(bob, { reply: 'digest' })
  await own.drained()
  for (const { dataset } of [still, lost]) await comment(ann, dataset, 'an answer', await comment(bob, dataset, 'a question'))
  await own.drained()
  t.is((await ann.post(`/api/spaces/${lost.space}/removeUser?removeUser=${bob.id}`)).status, 200)
  for (let day = 0; day < 2; day += 1) {
    pass(25 * hourMs)
    await sendDigests()
  }
  t.is(digests().length, 1)
  t.regex(digests()[0]?.text ?? '', /Your notifications[\s\S]*replied to your comment on the dataset still/)
  t.false(JSON.stringify(digests()).includes('canary'))
})
