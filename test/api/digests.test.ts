import test from 'ava'
import { event, Mailer, Unavailable, Users } from 'pounce/sdk'
import { bootForTest, FixedClock, MemoryMailer } from 'pounce/sdk/testing'
import { letIn, newDataset, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'
import { until } from '../support/until.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const task = 'resources.notifications/ask-digests'

/** Stores mails unless it is set to be unavailable. */
class Flaky extends MemoryMailer {
  isUnavailable = false
  override async send(mail: Parameters<Mailer['send']>[0]): Promise<void> {
    if (this.isUnavailable) throw new Unavailable('The mail server is unavailable')
    await super.send(mail)
  }
}

const [clock, mailer] = [new FixedClock(), new Flaky()]
const config = { access: { private: true }, resources: { notifications: { maxLines: 3 } } }
const server = await bootForTest({ clock, overrides: { [Mailer]: mailer }, config })
test.after.always(() => server.stop())

const setPreference = async ({ id }: Somebody, notifications: 'none' | 'direct' | 'hourly' | 'daily'): Promise<void> => {
  const wished = event('user.updated', { kind: 'user', id }, { fields: ['notifications'] }, id)
  await server.get(Users).change(id, { set: { notifications } }, [wished])
  await server.drained()
}

/** Bob follows a space of Ann's and receives digests; none has been sent yet. */
const scene = async (every: 'hourly' | 'daily') => {
  const [ann, bob] = [await somebody(server, 'ann'), await somebody(server, 'bob')]
  const space = await newSpace(ann, 'Forest')
  await letIn(ann, space, 'Viewer', bob)
  await server.drained()
  await bob.post(`/api/spaces/${space}/follow`)
  await setPreference(bob, every)
  clock.advance(1000)
  mailer.sent.length = 0
  return { ann, bob, space }
}

const pass = async (ms: number): Promise<void> => {
  await server.drained()
  clock.advance(ms)
  await server.runPeriodic(task)
  await server.drained(30_000)
}

test.serial('an hourly digest contains the events of others, and is not sent when there are none', async t => {
  const { ann, bob, space } = await scene('hourly')
  await newDataset(ann, { name: 'Leaves', space: [space] })
  await bob.post(`/api/spaces/${space}/unfollow`)
  await bob.post(`/api/spaces/${space}/follow`)
  await pass(30 * minuteMs)
  t.deepEqual(mailer.sent, [], 'the hour is not over')
  await pass(31 * minuteMs)
  t.is(mailer.sent.length, 1)
  t.deepEqual(mailer.sent[0]?.to, [bob.email])
  const text = mailer.sent[0]?.text ?? ''
  t.regex(text, /ann Number \d+ added the dataset Leaves to the space Forest\n.*\/datasets\/[0-9a-f]{24}/)
  t.notRegex(text, /bob/, 'the recipient’s own events are left out')
  t.regex(text, /To change the frequency or to unsubscribe, /)
  await pass(hourMs)
  t.is(mailer.sent.length, 1)
  await newDataset(ann, { name: 'Roots', space: [space] })
  await pass(hourMs)
  t.is(mailer.sent.length, 2)
  t.regex(mailer.sent[1]?.text ?? '', /Roots/)
  t.notRegex(mailer.sent[1]?.text ?? '', /Leaves/, 'nothing is sent twice')
})

test.serial('a daily digest is sent once a day, and not after digests are switched off', async t => {
  const { ann, bob, space } = await scene('daily')
  for (const [name, hours] of [
    ['First', 11],
    ['Second', 12],
    ['Third', 2],
  ] as const) {
    await newDataset(ann, { name, space: [space] })
    await pass(hours * hourMs)
  }
  t.is(mailer.sent.length, 1)
  t.regex(mailer.sent[0]?.text ?? '', /dataset First /)
  await newDataset(ann, { name: 'Later', space: [space] })
  await setPreference(bob, 'direct')
  await pass(25 * hourMs)
  t.is(mailer.sent.length, 1)
})

test.serial('resources that a user may no longer view are left out of the digest', async t => {
  const { ann, space } = await scene('hourly')
  await newDataset(ann, { name: 'Secret', space: [space] })
  await letIn(ann, space, 'Viewer')
  await pass(2 * hourMs)
  t.deepEqual(
    mailer.sent.filter(({ text }) => /Secret|new activity/.test(text)),
    [],
  )
})

test.serial('an outage of the mail server neither loses nor repeats lines of a digest', async t => {
  const { ann, space } = await scene('hourly')
  mailer.isUnavailable = true
  for (const name of ['First', 'Second', 'Third']) {
    await newDataset(ann, { name, space: [space] })
    await until(
      `the feed to show ${name}`,
      () => ann.get('/api/events'),
      ({ body }) => JSON.stringify(body).includes(name),
    )
    clock.advance(hourMs + 1000)
    await server.runPeriodic(task)
  }
  mailer.isUnavailable = false
  await server.drained(30_000)
  await pass(hourMs)
  t.is(mailer.sent.length, 1)
  for (const name of ['First', 'Second', 'Third']) t.is(mailer.sent[0]?.text.split(`dataset ${name} `).length, 2, name)
})

test.serial('a long digest is truncated with a link to the rest, and concurrent runs send it once', async t => {
  const { ann, space } = await scene('hourly')
  for (let at = 0; at < 5; at += 1) await newDataset(ann, { name: `Set ${at}`, space: [space] })
  await server.drained()
  clock.advance(hourMs)
  await Promise.all([server.runPeriodic(task), server.runPeriodic(task)])
  await server.drained()
  t.is(mailer.sent.length, 1)
  t.is(mailer.sent[0]?.subject, '[Pounce] more than 3 new events')
  t.is(mailer.sent[0]?.text.match(/added the dataset Set \d/g)?.length, 3)
  t.regex(mailer.sent[0]?.text ?? '', /More: http/)
})

const prefer = (who: Somebody, channels: Record<string, string>) => who.put('/api/me/notifications/preferences', channels)

/** Bob, who receives replies in hourly digests; Ann replied to him several times. */
const repliedTo = async (count: number): Promise<Somebody> => {
  const { ann, bob, space } = await scene('hourly')
  await letIn(ann, space, 'Editor', bob)
  await prefer(bob, { reply: 'digest', followed: 'inbox' })
  const dataset = await newDataset(ann, { name: 'Leaves', space: [space] })
  await server.drained()
  const { body: question } = await bob.post(`/api/datasets/${dataset}/comment`, { text: 'how deep?' })
  for (let at = 0; at < count; at += 1) await ann.post(`/api/comment/${question}`, { text: `${at} metres` })
  await server.drained()
  return bob
}
const digestsTo = ({ email }: Somebody) => mailer.sent.filter(({ to, subject }) => to.includes(email) && /new events?$/.test(subject))
const subjectsTo = (who: Somebody) => digestsTo(who).map(({ subject }) => subject)

test.serial('a digest with more notifications than lines says so, and the next one has the rest', async t => {
  const bob = await repliedTo(5)
  await pass(hourMs)
  t.deepEqual(subjectsTo(bob), ['[Pounce] more than 3 new events'])
  t.regex(digestsTo(bob)[0]?.text ?? '', /More: http/)
  await pass(hourMs)
  t.deepEqual(subjectsTo(bob), ['[Pounce] more than 3 new events', '[Pounce] 2 new events'])
})

test.serial('notifications of a kind that the user no longer wants in digests are left out of the next one and later ones', async t => {
  const bob = await repliedTo(1)
  await prefer(bob, { reply: 'inbox', share: 'digest' })
  await pass(hourMs)
  await prefer(bob, { reply: 'digest' })
  await pass(hourMs)
  t.deepEqual(subjectsTo(bob), [])
})

test.serial('after digests are disabled and enabled again, earlier notifications are not sent', async t => {
  const bob = await repliedTo(1)
  await prefer(bob, { reply: 'inbox' })
  await pass(hourMs)
  await prefer(bob, { reply: 'digest' })
  await pass(2 * hourMs)
  t.deepEqual(subjectsTo(bob), [])
})
