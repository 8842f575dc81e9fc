import test from 'ava'
import { collection, DocumentStore, Mailer, Site, Unavailable, Users } from 'pounce/sdk'
import { acceptsTerms } from 'pounce/sdk/kit'
import { bootForTest, FixedClock, MemoryMailer, type TestFetch, type TestServer } from 'pounce/sdk/testing'
import { newKey, newPerson, type Person } from '../support/people.ts'
import { ok, refusal } from '../support/scene.ts'

let server: TestServer
let admin: TestFetch
let ann: Person
const mailer = new MemoryMailer()

test.before(async () => {
  server = await bootForTest({ overrides: { [Mailer]: mailer }, config: { access: { private: true } } })
  admin = server.as(server.admin.key)
  ann = await newPerson(server, 'ann')
})
test.after.always(() => server?.stop())

type Shown = Readonly<Record<string, unknown>>
const shown = (call: TestFetch = server.as()) => ok<Shown>(call('/api/configuration'))
const post = (path: string, json: unknown, call = admin) => call(path, { method: 'POST', json })

test.serial('a new installation has default settings, readable by all callers', async t => {
  const settings = await shown()
  t.like(settings, { displayName: 'Pounce', theme: 'simplex.min.css', sensors: 'Sensors', tosText: '', tosHtml: false, tosChanged: null })
  t.deepEqual(await ok(ann.call('/api/admin/configuration')), settings)
  t.deepEqual(await ok(server.as()('/api/sensors/config')), {
    sensors: 'Sensors',
    sensor: 'Sensor',
    parameters: 'Parameters',
    parameter: 'Parameter',
  })
})

test.serial('changing some settings leaves the others unchanged', async t => {
  const welcomeMessage = '<b>Hello</b>\n"you" 😀'
  t.deepEqual(await ok(post('/api/admin/configuration', { displayName: 'Field', welcomeMessage, tosHtml: true, other: 1 })), {
    status: 'success',
  })
  t.like(await shown(), { displayName: 'Field', welcomeMessage, tosHtml: true, sensors: 'Sensors' })
  await ok(post('/api/admin/configuration', { googleAnalytics: 'G-1', amplitudeApikey: 'A' }))
  t.like(await shown(), { displayName: 'Field', welcomeMessage, googleAnalytics: 'G-1', amplitudeApikey: 'A', tosHtml: false })
  t.false('other' in (await shown()))
  await ok(post('/api/admin/configuration', { googleAnalytics: 'G-2', displayName: null, theme: null, tosText: null, tosHtml: null }))
  t.like(await shown(), { displayName: 'Field', googleAnalytics: 'G-2', tosText: '', tosHtml: false, tosChanged: null })
  await ok(post('/api/changeAppearance', { theme: 'bootstrap.min.css', displayName: 'Lab', welcomeMessage: '', googleAnalytics: '' }))
  await ok(post('/api/sensors/config', { sensors: 'Wells', sensor: 'Well', parameters: 'Values', parameter: 'Value' }))
  t.like(await shown(), {
    theme: 'bootstrap.min.css',
    displayName: 'Lab',
    welcomeMessage: '',
    sensors: 'Wells',
    parameter: 'Value',
    amplitudeApikey: 'A',
  })
  await server.restart()
  t.like(await shown(), { displayName: 'Lab', sensor: 'Well' })
})

test.serial('an invalid request is refused and changes nothing', async t => {
  const before = await shown()
  t.like(await refusal(post('/api/admin/configuration', { theme: 'none.css', displayName: 'X' })), {
    status: 400,
    code: 'invalid',
    message: 'Unknown theme none.css; available: simplex.min.css, bootstrap.min.css',
  })
  const wrong: readonly (readonly [string, unknown])[] = [
    ['/api/admin/configuration', { displayName: 1 }],
    ['/api/admin/configuration', { tosHtml: 'yes' }],
    ['/api/admin/configuration', { displayName: 'x'.repeat(201) }],
    ['/api/admin/configuration', { welcomeMessage: 'a\u0000b' }],
    ['/api/admin/configuration', []],
    ['/api/changeAppearance', { theme: 'simplex.min.css', displayName: 'X' }],
    ['/api/changeAppearance', { theme: 'none.css', displayName: 'X', welcomeMessage: '', googleAnalytics: '' }],
    ['/api/sensors/config', { sensors: 'X' }],
  ]
  for (const [path, json] of wrong) t.is((await post(path, json)).status, 400, JSON.stringify(json))
  for (const path of ['/api/admin/configuration', '/api/changeAppearance', '/api/sensors/config']) {
    const whole = {
      theme: 'simplex.min.css',
      displayName: 'X',
      welcomeMessage: '',
      googleAnalytics: '',
      sensors: '',
      sensor: '',
      parameters: '',
      parameter: '',
    }
    t.is((await post(path, whole, ann.call)).status, 403, path)
    t.is((await post(path, whole, server.as())).status, 401, path)
  }
  t.deepEqual(await shown(), before)
})

test.serial('changed terms must be accepted again by everyone but their author', async t => {
  const users = server.get(Users)
  const accepts = async (id: string) => {
    await server.drained()
    const user = await users.get(id)
    return user !== undefined && acceptsTerms(user, await server.get(Site).settings())
  }
  t.true(await accepts(ann.id))
  await ok(post('/api/admin/configuration', { tosText: 'Be kind.' }))
  t.deepEqual([await accepts(ann.id), await accepts(server.admin.id)], [false, true])
  await users.change(ann.id, { set: { termsAccepted: new Date().toISOString() } }, [])
  await ok(post('/api/admin/configuration', { tosText: 'Be kind.', displayName: 'Again' }))
  t.true(await accepts(ann.id))
  await ok(post('/api/admin/configuration', { tosText: 'Be kinder.' }))
  t.deepEqual([await accepts(ann.id), await accepts(server.admin.id)], [false, true])
  await ok(post('/api/admin/configuration', { tosText: '' }))
  t.true(await accepts(ann.id))
})

test.serial('concurrent changes of settings are all kept', async t => {
  const names = ['displayName', 'welcomeMessage', 'googleAnalytics', 'amplitudeApikey', 'sensors', 'sensor', 'parameters', 'parameter']
  await Promise.all(names.map(name => ok(post('/api/admin/configuration', { [name]: `all at once ${name}` }))))
  t.like(await shown(), Object.fromEntries(names.map(name => [name, `all at once ${name}`])))
})

test.serial('a message to the admins is mailed to all of them and names its author', async t => {
  const other = await newPerson(server, 'admin')
  await server.get(Users).change(other.id, { set: { status: 'Admin' } }, [])
  t.deepEqual(await ok(post('/api/admin/mail', { subject: 'Help', body: 'Please\nhelp' }, ann.call)), { status: 'success' })
  await ok(post('/api/admin/mail', { subject: null, body: null }, ann.call))
  await server.drained()
  t.deepEqual(
    mailer.sent.map(({ to }) => [...to].sort()),
    Array(2).fill([server.admin.email, other.email].sort()),
  )
  t.like(mailer.sent[0], { subject: '[all at once displayName] Help' })
  t.regex(mailer.sent[0]?.text ?? '', new RegExp(`ann .*\\(${ann.email}\\) wrote at [^\\n]*\\n\\nPlease\\nhelp\\n`))
})

test.serial('messages to the admins require a full user account and are limited to 5 an hour', async t => {
  t.is((await post('/api/admin/mail', { subject: 'x' }, server.as())).status, 401)
  const extraction = await newKey(server, ann.email, ann.password, 'name=extractor&scope=extraction')
  t.is((await post('/api/admin/mail', { subject: 'x' }, server.as(extraction))).status, 403)
  for (const json of [{ subject: 'a\r\nBcc: b@example.org' }, { subject: 1 }, { body: 'x'.repeat(20_001) }])
    t.is((await post('/api/admin/mail', json, ann.call)).status, 400)
  const eve = await newPerson(server, 'eve')
  const statuses = await Promise.all(
    Array.from({ length: 20 }, async () => (await post('/api/admin/mail', { subject: 'spam' }, eve.call)).status),
  )
  t.deepEqual(statuses.toSorted(), [...Array(5).fill(200), ...Array(15).fill(429)])
  const answer = await post('/api/admin/mail', { subject: 'spam' }, eve.call)
  t.true(Number(answer.headers.get('retry-after')) > 0)
  await server.drained()
  t.is(mailer.sent.filter(({ subject }) => subject.includes('spam')).length, 5)
})

test('a message to the admins is retried while the mail server is unavailable', async t => {
  const tried: string[] = []
  const flaky: Mailer = {
    send: async ({ subject }) => {
      tried.push(subject)
      if (tried.length === 1) throw new Unavailable('The mail server is unavailable')
    },
  }
  const other = await bootForTest({ t, overrides: { [Mailer]: flaky } })
  const bob = await newPerson(other, 'bob')
  await ok(post('/api/admin/mail', { subject: 'once' }, bob.call))
  await other.drained(30_000)
  t.deepEqual(tried, ['[Pounce] once', '[Pounce] once'])
})

test('messages to the admins are deleted after a day', async t => {
  const clock = new FixedClock()
  const other = await bootForTest({ t, clock })
  const bob = await newPerson(other, 'bob')
  const kept = async () => {
    const all: unknown[] = []
    for await (const letter of other.get(DocumentStore).walk(collection<object>()('admin.letters'))) all.push(letter)
    return all.length
  }
  await ok(post('/api/admin/mail', { subject: 'old' }, bob.call))
  clock.advance(23 * 3_600_000)
  await ok(post('/api/admin/mail', { subject: 'new' }, bob.call))
  await other.runPeriodic('resources.admin/forget-letters')
  t.is(await kept(), 2)
  clock.advance(2 * 3_600_000)
  await other.runPeriodic('resources.admin/forget-letters')
  t.is(await kept(), 1)
})
