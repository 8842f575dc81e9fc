import test from 'ava'
import { Mailer } from 'pounce/sdk'
import { bootForTest, MemoryMailer } from 'pounce/sdk/testing'
import { listen } from '../support/live-events.ts'
import { comment, type Notification, prefer } from '../support/notifications.ts'
import { ok, refusal, unknownId } from '../support/scene.ts'
import { letIn, meet, newDataset, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'
import { until } from '../support/until.ts'

const mailer = new MemoryMailer()
const server = await bootForTest({ overrides: { [Mailer]: mailer }, config: { access: { private: true } } })
test.after.always(() => server.stop())

const inbox = async (who: Somebody, query = ''): Promise<Notification[]> => {
  await server.drained()
  return ok<Notification[]>(who.call(`/api/me/notifications${query}`))
}
const unread = async (who: Somebody): Promise<number> =>
  (await ok<{ unreadNotifications: number }>(who.call('/api/me'))).unreadNotifications
const mailsTo = async (who: Somebody): Promise<readonly string[]> => {
  await server.drained()
  return mailer.sent.filter(({ to }) => to.includes(who.email.toLowerCase())).map(({ subject }) => subject)
}
/** Two accounts that are visible to each other and share a space with a dataset. */
const scene = async () => {
  const [ann, bob] = [await somebody(server, 'Ann'), await somebody(server, 'Bob')]
  await meet(server, ann, bob)
  const space = await newSpace(ann, 'Soil lab')
  await letIn(ann, space, 'Editor', bob)
  const dataset = await newDataset(ann, { name: 'Soil cores', space })
  await server.drained()
  return { ann, bob, space, dataset }
}
test('a mention appears in the inbox with its actor and dataset, and can be marked as read and unread', async t => {
  const { ann, bob, dataset } = await scene()
  const before = await unread(bob)
  await comment(ann, dataset, `@${bob.email} please look`)
  const [mention] = await inbox(bob, '?kind=mention')
  t.like(mention, {
    kind: 'mention',
    actor: ann.id,
    about: { kind: 'dataset', id: dataset },
    read: false,
    url: `${server.url}/datasets/${dataset}`,
  })
  t.regex(mention?.title ?? '', /^Ann Number \d+ mentioned you in a comment on the dataset Soil cores$/)
  t.is(await unread(bob), before + 1)
  t.deepEqual(await inbox(ann, '?kind=mention'), [])
  t.is((await bob.call(`/api/me/notifications/${mention?.id}/read`, { method: 'PUT' })).status, 204)
  t.is(await unread(bob), before)
  t.true((await inbox(bob, '?kind=mention'))[0]?.read)
  t.deepEqual(await inbox(bob, '?kind=mention&unread=true'), [])
  t.is((await bob.call(`/api/me/notifications/${mention?.id}/read`, { method: 'DELETE' })).status, 204)
  t.is((await inbox(bob, '?kind=mention&unread=true')).length, 1)
  t.is((await bob.call(`/api/me/notifications/${mention?.id}`, { method: 'DELETE' })).status, 204)
  t.deepEqual(await inbox(bob, '?kind=mention'), [])
})

test('a mention and a reply are no longer listed once their comment is deleted', async t => {
  const { ann, bob, dataset } = await scene()
  const before = await unread(bob)
  const first = await comment(bob, dataset, 'what depth?')
  const replied = await comment(ann, dataset, 'two metres', first)
  const mentioned = await comment(ann, dataset, `@${bob.email} please look`)
  await server.drained()
  t.is(await unread(bob), before + 2)
  for (const id of [replied, mentioned]) await ok(ann.call(`/api/comment/${id}/removeComment`, { method: 'DELETE' }))
  await server.drained()
  t.deepEqual(await inbox(bob, '?kind=mention'), [])
  t.deepEqual(await inbox(bob, '?kind=reply'), [])
  t.is(await unread(bob), before)
})

test('a reply notifies the author of the comment with its text; a mention in it adds no second notification', async t => {
  const { ann, bob, dataset } = await scene()
  const first = await comment(bob, dataset, 'what depth?')
  await comment(ann, dataset, 'two metres', first)
  const [reply] = await inbox(bob, '?kind=reply')
  t.like(reply, { kind: 'reply', actor: ann.id, text: 'two metres' })
  await comment(ann, dataset, `@${bob.email} or three`, first)
  t.is((await inbox(bob)).filter(({ kind }) => kind === 'reply' || kind === 'mention').length, 2)
})

test('being added to a space and a changed role are each notified once', async t => {
  const [ann, bob] = [await somebody(server, 'Ann'), await somebody(server, 'Bob')]
  await meet(server, ann, bob)
  const space = await newSpace(ann, 'Water lab')
  await letIn(ann, space, 'Viewer', bob)
  await letIn(ann, space, 'Editor', bob)
  const titles = (await inbox(bob, '?kind=role-change')).map(({ title }) => title)
  t.is(titles.filter(title => /^Ann Number \d+ added you to the space Water lab$/.test(title)).length, 1)
  t.is(titles.filter(title => /^Ann Number \d+ changed your role in the space Water lab$/.test(title)).length, 1)
})

test('the author of a dataset is notified when another user adds it to a space', async t => {
  const { bob, space } = await scene()
  const dataset = await newDataset(bob, { name: 'Bobs data' })
  const other = await newSpace(bob, 'Other lab')
  t.true((await bob.post(`/api/spaces/${space}/addDatasetToSpace/${dataset}`)).status < 300)
  t.deepEqual(await inbox(bob, '?kind=share'), [])
  t.true((await bob.asAdmin(`/api/spaces/${other}/addDatasetToSpace/${dataset}?superAdmin=true`, { method: 'POST' })).ok)
  const [share] = await inbox(bob, '?kind=share')
  t.like(share, { kind: 'share', about: { kind: 'dataset', id: dataset } })
  t.regex(share?.title ?? '', /added your dataset Bobs data to the space Other lab$/)
})

test('notifications of another user appear not to exist', async t => {
  const { ann, bob, dataset } = await scene()
  await comment(ann, dataset, `@${bob.email} look`)
  const [mention] = await inbox(bob, '?kind=mention')
  t.is((await server.as()('/api/me/notifications')).status, 401)
  for (const id of [mention?.id, unknownId])
    for (const [method, path] of [
      ['PUT', '/read'],
      ['DELETE', '/read'],
      ['DELETE', ''],
    ] as const)
      t.like(await refusal(ann.call(`/api/me/notifications/${id}${path}`, { method })), { status: 404, code: 'not-found' })
  t.is((await inbox(bob, '?kind=mention')).length, 1)
})

test('resources that may no longer be viewed are neither in the inbox nor mailed', async t => {
  const { ann, bob, space, dataset } = await scene()
  await prefer(bob, { reply: 'mail' })
  const first = await comment(bob, dataset, 'first')
  await comment(ann, dataset, 'canary', first)
  t.is((await inbox(bob, '?kind=reply')).length, 1)
  t.is((await ann.post(`/api/spaces/${space}/removeUser?removeUser=${bob.id}`)).status, 200)
  t.deepEqual(await inbox(bob, '?kind=reply'), [])
  const sent = mailer.sent.length
  await comment(ann, dataset, 'canary-again', first)
  await server.drained()
  t.false(JSON.stringify(mailer.sent.slice(sent)).includes('canary-again'))
  t.false(JSON.stringify(await inbox(bob)).includes('canary'))
  t.false(JSON.stringify(await inbox(bob)).includes('Soil lab was'))
})

test('each kind is sent over the channel that the user chose', async t => {
  const { ann, bob, dataset } = await scene()
  t.like(await ok(bob.call('/api/me/notifications/preferences')), { mention: 'mail', reply: 'inbox', followed: 'inbox' })
  const first = await comment(bob, dataset, 'first')
  const reply = async (text: string) => comment(ann, dataset, text, first)
  await reply('inbox only')
  t.is((await inbox(bob, '?kind=reply')).length, 1)
  t.false((await mailsTo(bob)).some(subject => subject.includes('replied')))
  t.like(await prefer(bob, { reply: 'mail' }), { reply: 'mail', mention: 'mail' })
  await reply('by mail too')
  t.is((await mailsTo(bob)).filter(subject => subject.includes('replied to your comment')).length, 1)
  const mail = mailer.sent.findLast(({ to }) => to.includes(bob.email.toLowerCase()))
  t.true(mail?.text.includes('by mail too') && mail.text.includes(`${server.url}/datasets/${dataset}`))
  await prefer(bob, { reply: 'off', mention: 'inbox' })
  await reply('nowhere')
  t.is((await inbox(bob, '?kind=reply')).length, 2)
  const before = (await mailsTo(bob)).length
  await comment(ann, dataset, `@${bob.email} quietly`)
  t.is((await inbox(bob, '?kind=mention')).length, 1)
  t.is((await mailsTo(bob)).length, before)
  t.is((await bob.call('/api/me/notifications/preferences', { method: 'PUT', json: { reply: 'pigeon' } })).status, 400)
})

test('users who disabled mails get none by default', async t => {
  const { ann, bob, dataset } = await scene()
  await ok(bob.call(`/api/users/${bob.id}`, { method: 'PUT', json: { notifications: 'none' } }))
  t.like(await ok(bob.call('/api/me/notifications/preferences')), { mention: 'inbox' })
  const before = (await mailsTo(bob)).length
  await comment(ann, dataset, `@${bob.email} hello`)
  t.is((await mailsTo(bob)).length, before)
  t.is((await inbox(bob, '?kind=mention')).length, 1)
})

test('all notifications up to a time are marked as read at once, and pages are linked', async t => {
  const { ann, bob, dataset } = await scene()
  const first = await comment(bob, dataset, 'first')
  for (let round = 0; round < 5; round += 1) {
    await comment(ann, dataset, `reply ${round}`, first)
    await inbox(bob)
  }
  const seen: string[] = []
  let next: string | undefined = '/api/me/notifications?limit=2&kind=reply'
  while (next) {
    const answer: Response = await bob.call(next)
    seen.push(...((await answer.json()) as Notification[]).map(({ text = '' }) => text))
    next = /<([^>]+)>/.exec(answer.headers.get('link') ?? '')?.[1]?.replace(server.url, '')
  }
  t.deepEqual(seen, ['reply 4', 'reply 3', 'reply 2', 'reply 1', 'reply 0'])
  t.is((await bob.call('/api/me/notifications/read?until=2020-01-01', { method: 'PUT' })).status, 204)
  t.true((await unread(bob)) >= 5)
  t.is((await bob.call('/api/me/notifications/read', { method: 'PUT' })).status, 204)
  t.is(await unread(bob), 0)
})

test('old notifications and those beyond the limit per user are removed', async t => {
  let now = Date.now()
  const config = { resources: { notifications: { maxPerPerson: 10 } } }
  const own = await bootForTest({ t, config, overrides: { [Mailer]: new MemoryMailer() }, clock: { now: () => new Date(now) } })
  const [ann, bob] = [await somebody(own, 'Ann'), await somebody(own, 'Bob')]
  const space = await newSpace(ann)
  await letIn(ann, space, 'Editor', bob)
  const dataset = await newDataset(ann, { space })
  await own.drained()
  const first = await comment(bob, dataset, 'first')
  for (let round = 0; round < 12; round += 1) {
    now += 1000
    await comment(ann, dataset, `reply ${round}`, first)
    await own.drained()
  }
  const titles = async () => (await ok<Notification[]>(bob.call('/api/me/notifications?kind=reply'))).map(({ text }) => text)
  await own.runPeriodic('resources.notifications/retention')
  t.deepEqual(
    await titles(),
    [11, 10, 9, 8, 7, 6, 5, 4, 3, 2].map(round => `reply ${round}`),
  )
  now += 100 * 86_400_000
  await own.runPeriodic('resources.notifications/retention')
  t.deepEqual(await titles(), [])
})

test('a notification is streamed at once, to its recipient only', async t => {
  const { ann, bob, dataset } = await scene()
  const [own, other] = [await listen(server.url, bob.key, '?kind=user'), await listen(server.url, ann.key, '?kind=user')]
  await comment(ann, dataset, `@${bob.email} now`)
  const event = await own.first('the notification', ({ type }) => type === 'notification.created')
  t.like(event.data, { about: 'mention' })
  await until(
    'the mention to be in the inbox',
    () => inbox(bob, '?kind=mention'),
    seen => seen.length === 1,
  )
  t.false(other.events.some(({ type }) => type === 'notification.created'))
  for (const stream of [own, other]) stream.close()
})

test('deleting a reply deletes its notification', async t => {
  const { ann, bob, dataset } = await scene()
  const reply = await comment(ann, dataset, 'taken back', await comment(bob, dataset, 'first'))
  t.is((await inbox(bob, '?kind=reply')).length, 1)
  t.true((await ann.call(`/api/comment/${reply}/removeComment`, { method: 'DELETE' })).ok)
  t.deepEqual(await inbox(bob, '?kind=reply'), [])
})

test('the number of unread notifications matches the inbox', async t => {
  const { ann, bob, space, dataset } = await scene()
  await comment(ann, dataset, 'answer', await comment(bob, dataset, 'question'))
  t.is((await inbox(bob, '?kind=reply')).length, 1)
  t.is((await ann.post(`/api/spaces/${space}/removeUser?removeUser=${bob.id}`)).status, 200)
  const shown = await inbox(bob, '?unread=true')
  t.false(shown.some(({ kind }) => kind === 'reply'))
  t.is(await unread(bob), shown.length)
})

test('unread notifications are counted behind many that the user may no longer view', async t => {
  const { ann, bob, space, dataset } = await scene()
  const other = await newSpace(ann)
  await letIn(ann, other, 'Editor', bob)
  const visible = await newDataset(ann, { space: other })
  await comment(ann, visible, 'answer', await comment(bob, visible, 'question'))
  await server.drained()
  const first = await comment(bob, dataset, 'question')
  for (let round = 0; round < 101; round += 1) await comment(ann, dataset, `reply ${round}`, first)
  await server.drained()
  t.is(await unread(bob), 100)
  t.is((await ann.post(`/api/spaces/${space}/removeUser?removeUser=${bob.id}`)).status, 200)
  const shown = await inbox(bob, '?unread=true&limit=1000')
  t.is(shown.filter(({ kind }) => kind === 'reply').length, 1)
  t.is(await unread(bob), shown.length)
})

test('members are notified when removed from a space or when it is deleted, except the user who deleted it', async t => {
  const { ann, bob, space } = await scene()
  const other = await newSpace(ann, 'Ice lab')
  await letIn(ann, other, 'Viewer', bob)
  t.is((await ann.post(`/api/spaces/${space}/removeUser?removeUser=${bob.id}`)).status, 200)
  t.is((await ann.remove(`/api/spaces/${other}`)).status, 200)
  const removals = async (who: Somebody) =>
    (await inbox(who, '?kind=role-change')).map(({ title }) => title).filter(title => title.includes('removed'))
  t.deepEqual(await removals(bob), ['You were removed from the space Ice lab, which was deleted', 'You were removed from a space'])
  const mails = (await mailsTo(bob)).filter(subject => subject.includes('removed')).map(subject => subject.replace(/Ann Number \d+/, 'Ann'))
  t.deepEqual(mails.toSorted(), [
    'Ann removed you from the space Soil lab',
    '[Pounce] You were removed from the space Ice lab, which was deleted',
  ])
  t.deepEqual(await removals(ann), [])
})

test('an invitation links to where it is answered, and its notification ends with it', async t => {
  let now = Date.now()
  const mails = new MemoryMailer()
  const own = await bootForTest({
    t,
    overrides: { [Mailer]: mails },
    config: { access: { private: true } },
    clock: { now: () => new Date(now) },
  })
  const ann = await somebody(own, 'Ann')
  const space = await newSpace(ann, 'Hidden lab')
  const invited = async () => {
    const who = await somebody(own, 'Bob')
    // Invitations that exist when a sign-up is processed are accepted.
    await own.drained()
    t.is((await ann.post(`/api/spaces/${space}/invite`, { emails: [who.email] })).status, 200)
    await own.drained()
    return who
  }
  const open = async (who: Somebody) => {
    await own.drained()
    return ok<Notification[]>(who.call('/api/me/notifications'))
  }
  const answer = async (who: Somebody, how: string) => {
    const [{ id } = { id: '' }] = (await who.get('/api/invitations')).body as { id: string }[]
    t.is((await who.post(`/api/invitations/${id}/${how}`)).status, 200)
  }
  const [accepting, declining, late, withdrawn] = [await invited(), await invited(), await invited(), await invited()]
  for (const who of [accepting, declining, late, withdrawn]) {
    t.like(await open(who), [{ kind: 'invitation', url: `${own.url}/` }])
    t.true(mails.sent.find(({ to }) => to.includes(who.email.toLowerCase()))?.text.includes(`accept:\n\n${own.url}/\n`))
  }
  const sent = mails.sent.length
  await answer(accepting, 'accept')
  t.is((await accepting.get(`/api/spaces/${space}`)).status, 200)
  await answer(declining, 'decline')
  const waiting = (await ann.get(`/api/spaces/${space}/invitations`)).body as { id: string; email: string }[]
  const found = waiting.find(({ email }) => email === withdrawn.email.toLowerCase())
  t.is((await ann.remove(`/api/spaces/${space}/invitations/${found?.id}`)).status, 200)
  for (const who of [accepting, declining, withdrawn]) t.deepEqual(await open(who), [])
  t.is(mails.sent.length, sent)
  now += 365 * 86_400_000
  await own.runPeriodic('resources.spaces/forget-invitations')
  t.deepEqual(await open(late), [])
})
