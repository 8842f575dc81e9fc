import test from 'ava'
import { Mailer, Unavailable, Users } from 'pounce/sdk'
import { bootForTest, FixedClock, MemoryMailer } from 'pounce/sdk/testing'
import { mailServer } from '../../plugins/mail/smtp/test-server.ts'
import { newPerson } from '../support/people.ts'
import { ok, refusal, upload } from '../support/scene.ts'
import { letIn, newDataset, newSpace, somebody } from '../support/spaces-and-people.ts'

const hourMs = 3_600_000
const test1 = { method: 'POST' } as const

test('an admin sends a test mail, which is audited; other callers get 401 or 403', async t => {
  const { taken, port } = await mailServer(t)
  const smtp = { host: '127.0.0.1', port, security: 'none', from: 'data@example.org' }
  const server = await bootForTest({ t, also: ['mail.smtp'], config: { mail: { smtp } } })
  const admin = server.as(server.admin.key)
  const answer = await ok(admin('/api/admin/mail/test', test1))
  t.deepEqual(answer, { status: 'success', sent: true, to: server.admin.email, message: 'The mail server accepted the email' })
  t.deepEqual(taken[0]?.to, [server.admin.email])
  await server.drained()
  const lines = await ok<{ type: string; actor: { id: string } }[]>(admin('/api/admin/audit?type=admin.testMail'))
  t.deepEqual(
    lines.map(({ actor }) => actor.id),
    [server.admin.id],
  )
  const person = await newPerson(server)
  t.is((await person.call('/api/admin/mail/test', test1)).status, 403)
  t.is((await server.as()('/api/admin/mail/test', test1)).status, 401)
})

test('a failed test mail reports the message of the mail server: 503 if unreachable, 502 if refused', async t => {
  let failure: Error = new Unavailable('The mail server is unreachable', { cause: new Error('connect ECONNREFUSED 192.0.2.1:25') })
  const failing: Mailer = {
    send: async () => {
      throw failure
    },
  }
  const server = await bootForTest({ t, overrides: { [Mailer]: failing } })
  const call = () => refusal(server.as(server.admin.key)('/api/admin/mail/test', test1))
  t.deepEqual(await call(), {
    status: 503,
    code: 'unavailable',
    message: 'The mail server is unreachable: connect ECONNREFUSED 192.0.2.1:25',
  })
  failure = new Error('550 No such\r\nuser')
  t.deepEqual(await call(), { status: 502, code: 'mail-untaken', message: '550 No such user' })
})

test('without a mail plugin, the test reports that no mail was sent', async t => {
  const server = await bootForTest({ t })
  t.like(await ok(server.as(server.admin.key)('/api/admin/mail/test', test1)), { sent: false, to: server.admin.email })
})

test('users with mail disabled get none about spaces and mentions; others get at most five per mentioning user and hour', async t => {
  const [mailer, clock] = [new MemoryMailer(), new FixedClock()]
  const server = await bootForTest({ t, clock, overrides: { [Mailer]: mailer } })
  const [ann, bob, cem] = [await somebody(server, 'ann'), await somebody(server, 'bob'), await somebody(server, 'cem')]
  await server.get(Users).change(cem.id, { set: { notifications: 'none' } }, [])
  const space = await newSpace(ann, 'Talk')
  await letIn(ann, space, 'Viewer', bob, cem)
  const dataset = await newDataset(ann, { name: 'Talked of', space: [space] })
  const file = await upload(ann.call, dataset)
  const comment = (who: typeof ann, text: string) => who.post(`/api/files/${file}/comment`, { text })
  const mailsTo = async (email: string, about: RegExp) => {
    await server.drained()
    return mailer.sent.filter(({ to, subject }) => to.includes(email) && about.test(subject)).length
  }
  for (let at = 0; at < 8; at += 1) await comment(ann, `@${bob.email} @${cem.email} look ${at}`)
  t.is(await mailsTo(bob.email, /added you to the space/), 1)
  t.is(await mailsTo(bob.email, /mentioned you/), 5)
  t.is(await mailsTo(cem.email, /./), 0)
  await letIn(ann, space, 'Editor', cem)
  await comment(cem, `@${bob.email} me too`)
  t.is(await mailsTo(bob.email, /^cem .* mentioned you/), 1, 'the limit applies per author')
  clock.advance(hourMs + 1)
  await comment(ann, `@${bob.email} once more`)
  t.is(await mailsTo(bob.email, /^ann .* mentioned you/), 6)
  const feed = await bob.get('/api/events?limit=200')
  t.is(JSON.stringify(feed.body).split('mention_file_comment').length - 1, 10, 'the feed shows all mentions')
})
