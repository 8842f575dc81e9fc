import test from 'ava'
import { Mailer } from 'pounce/sdk'
import { bootForTest, MemoryMailer } from 'pounce/sdk/testing'
import { callsOf } from '../support/calls.ts'
import { mailsTo, tokenIn } from '../support/mails.ts'
import { byCookie, newPerson } from '../support/people.ts'
import { newDataset, ok } from '../support/scene.ts'

const email = 'newcomer@example.org'
const password = 'a good password'

test('an account goes from invitation and sign-up to a role in a space, its removal and suspension, over HTTP alone', async t => {
  const mailer = new MemoryMailer()
  const server = await bootForTest({ t, overrides: { [Mailer]: mailer }, config: { access: { private: true } } })
  const [nobody, admin] = [callsOf(server.as()), callsOf(server.as(server.admin.key))]
  const person = await newPerson(server, 'owner')
  const owner = callsOf(person.call)
  t.is((await admin.post('/api/admin/configuration', { tosText: 'Share what you can.' })).status, 200)
  t.is((await owner.get('/api/spaces')).status, 403)
  t.is((await owner.post('/api/users/acceptTerms')).status, 200)
  const { id: space } = (await owner.post('/api/spaces', { name: 'Rivers', description: '' })).body as { id: string }
  const dataset = await newDataset(person.call, { name: 'Gauges', space: [space] })

  // Invited before the account exists.
  t.like(await owner.post(`/api/spaces/${space}/invite`, { emails: [email] }), { status: 200, body: [{ email, status: 'invited' }] })
  t.regex((await mailsTo(server, mailer, email)).at(-1)?.subject ?? '', /invites you to the space Rivers/)

  // Signs up and waits for approval.
  t.deepEqual((await nobody.post('/api/signup', { email })).body, { status: 'success' })
  const token = tokenIn((await mailsTo(server, mailer, email)).at(-1)!)
  const made = await nobody.post('/api/signup/finish', { token, firstName: 'New', lastName: 'Comer', password })
  t.like(made, { status: 200, body: { isActive: false } })
  const { id } = made.body as { id: string }
  const signIn = () => server.as()('/api/login', { method: 'POST', json: { email, password } })
  t.is((await signIn()).status, 401)
  t.true((await mailsTo(server, mailer, server.admin.email)).some(({ text }) => text.includes(id)))

  // Approved, notified, and signed in.
  t.is((await admin.post('/api/admin/users', { active: [id], readonly: null })).status, 200)
  t.is((await mailsTo(server, mailer, email)).at(-1)?.subject, '[Pounce] Your account is active')
  const signedIn = await signIn()
  t.like(await signedIn.json(), { id, email, termsPending: true })
  const session = byCookie(server, signedIn.headers.get('set-cookie')?.split(';')[0] ?? '')
  const me = callsOf(session)

  // Every request is refused until the terms are accepted.
  t.like(await me.get(`/api/datasets/${dataset}`), { status: 403, body: { code: 'terms-not-accepted' } })
  t.like(await nobody.get('/api/configuration'), { status: 200, body: { tosText: 'Share what you can.' } })
  t.is((await me.post('/api/users/acceptTerms')).status, 200)
  t.false('termsPending' in (await ok<object>(session('/api/me'))))

  // The invitation has made them a viewer.
  t.like(await me.get(`/api/datasets/${dataset}`), { status: 200, body: { name: 'Gauges' } })
  const rename = () => me.put(`/api/datasets/${dataset}/title`, { name: 'Gauges, again' })
  t.is((await rename()).status, 403)
  t.is((await me.post(`/api/spaces/${space}/invite`, { emails: ['other@example.org'] })).status, 403)

  // A changed role applies at the next request.
  t.is((await me.put(`/api/spaces/${space}/members/${id}`, { role: 'Editor' })).status, 403)
  t.is((await owner.put(`/api/spaces/${space}/members/${id}`, { role: 'Editor' })).status, 200)
  t.is((await rename()).status, 200)

  // So does its removal.
  t.is((await owner.remove(`/api/spaces/${space}/members/${id}`)).status, 200)
  for (const path of [`/api/datasets/${dataset}`, `/api/spaces/${space}`]) t.is((await me.get(path)).status, 404)
  t.is((await rename()).status, 404)
  await server.drained()
  const feed = (await owner.get('/api/events?limit=100')).body as readonly {
    readonly event_type: string
    readonly targetuser?: { readonly id: string }
  }[]
  const aboutThem = feed.filter(({ targetuser }) => targetuser?.id === id).map(({ event_type }) => event_type)
  t.true(aboutThem.includes('add_user_to_space') && aboutThem.includes('remove_user_from_space'), aboutThem.join(' '))

  // A suspension ends the session.
  t.is((await admin.post('/api/admin/users', { inactive: [id] })).status, 200)
  t.is((await me.get('/api/me')).status, 401)
})
