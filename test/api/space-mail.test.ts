import test from 'ava'
import { Mailer, Problem, Unavailable } from 'pounce/sdk'
import { bootForTest, MemoryMailer } from 'pounce/sdk/testing'
import { letIn, meet, newSpace, publish, somebody } from '../support/spaces-and-people.ts'
import { until } from '../support/until.ts'

/** Fails for some addresses. */
class PickyMailer extends MemoryMailer {
  readonly failing = new Map<string, Error>()

  override async send(mail: Parameters<Mailer['send']>[0]): Promise<void> {
    const error = mail.to.map(address => this.failing.get(address)).find(found => found !== undefined)
    if (error) throw error
    await super.send(mail)
  }
}

const mailer = new PickyMailer()
const server = await bootForTest({ overrides: { [Mailer]: mailer }, config: { access: { private: true } } })
test.after.always(() => server.stop())

/** Three admins of a public space, and Dan, who requests to join it. */
const scene = async () => {
  const [ann, bob, cat, dan] = await Promise.all(['Ann', 'Bob', 'Cat', 'Dan'].map(name => somebody(server, name)))
  if (!ann || !bob || !cat || !dan) throw new Error('unreachable')
  await meet(server, ann, bob, cat, dan)
  const space = await newSpace(ann)
  await letIn(ann, space, 'Admin', ann, bob, cat)
  await publish(server, ann, space)
  await server.drained()
  const admins = [ann, bob, cat].map(({ email }) => email.toLowerCase())
  const mailed = () =>
    mailer.sent
      .filter(({ subject }) => subject.startsWith(`Dan Number`))
      .flatMap(({ to }) => to.filter(address => admins.includes(address)))
  const request = async () => (await dan.post(`/api/spaces/${space}/request`)).status
  return { admins, mailed, request }
}

test('a refused address keeps no other admin of a space from an email', async t => {
  const { admins, mailed, request } = await scene()
  mailer.failing.set(admins[1] ?? '', new Problem(502, 'mail-refused', 'No such user'))
  t.is(await request(), 200)
  await server.drained()
  t.deepEqual(mailed().toSorted(), [admins[0], admins[2]].toSorted())
})

test('while the mail server defers an address, the other admins of a space get one email', async t => {
  const { admins, mailed, request } = await scene()
  mailer.failing.set(admins[1] ?? '', new Unavailable('Greylisted'))
  t.is(await request(), 200)
  await until(
    'the others to be mailed',
    async () => mailed().length,
    count => count === 2,
  )
  mailer.failing.delete(admins[1] ?? '')
  await until(
    'all to be mailed',
    async () => mailed().length,
    count => count >= 3,
  )
  await server.drained()
  t.deepEqual(mailed().toSorted(), admins.toSorted())
})
