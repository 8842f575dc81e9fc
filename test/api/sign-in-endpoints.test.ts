import { get, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import test, { type ExecutionContext } from 'ava'
import { Users } from 'pounce/sdk'
import { bootForTest, type TestServer, timingDifference } from 'pounce/sdk/testing'
import { basic, byCookie, newPerson, type Person, refusal, signIn } from '../support/people.ts'
import { newDataset, recordPlugins, somebody } from '../support/spaces-and-people.ts'

const plugins = ['documents.sqlite', 'access.policy', 'auth.local', 'resources.users']
let server: TestServer
let ann: Person
test.before(async () => {
  server = await bootForTest({ plugins, config: { http: { trustedProxies: 1 } } })
  ann = await newPerson(server, 'ann')
})
test.after.always(() => server?.stop())

let networks = 0
/** A separate client network per test, as reported by our proxy. */
const fromElsewhere = (): { readonly 'x-forwarded-for': string } => {
  networks += 1
  return { 'x-forwarded-for': `198.51.100.${networks}` }
}

type Knock = (at: number, headers: Record<string, string>) => Promise<Response>
const login = (email: string, password: string, headers: Record<string, string> = {}, on = server) =>
  on.as()('/api/login', { method: 'POST', json: { email, password }, headers })
const me = (headers: Record<string, string>) => server.as()('/api/me', { headers })

/** Every way to sign in, each time with a different wrong credential. */
const endpoints: Readonly<Record<string, Knock>> = {
  'a password at /api/login': (at, headers) => login(ann.email, `wrong password ${at}`, headers),
  'a password of an unknown account': (at, headers) => login('nobody@example.org', `wrong password ${at}`, headers),
  'a password in Basic authentication': (at, headers) => me({ ...headers, authorization: basic(ann.email, `wrong password ${at}`) }),
  'an address in many spellings': (at, headers) => login(at % 2 ? ann.email.toUpperCase() : ` ${ann.email}\u200b`, `wrong ${at}`, headers),
  'a key in the header': (at, headers) => me({ ...headers, 'x-api-key': `wrong key ${at}` }),
  'a key in the query': (at, headers) => server.as()(`/api/me?key=wrong${at}`, { headers }),
  'a token': (at, headers) => me({ ...headers, authorization: `Bearer wrong${at}` }),
  'a set-up link': (at, headers) => server.as()(`/setup?token=wrong${at}`, { headers }),
  'setting up': (at, headers) => {
    const json = { token: `wrong${at}`, email: 'me@example.org', password: 'a good password', firstName: 'A', lastName: 'B' }
    return server.as()('/setup', { method: 'POST', json, headers })
  },
}

for (const [name, knock] of Object.entries(endpoints))
  test(`${name}: after twenty failures from one network further attempts get 429 with Retry-After`, async t => {
    const headers = fromElsewhere()
    const statuses: number[] = []
    for (let at = 0; at < 20; at += 1) statuses.push((await knock(at, headers)).status)
    t.true(
      statuses.every(status => status === 401 || status === 403),
      String(statuses),
    )
    const shut = await knock(20, headers)
    t.is(shut.status, 429)
    t.is(((await shut.json()) as { code: string }).code, 'too-many-requests')
    const seconds = Number(shut.headers.get('retry-after'))
    t.true(seconds > 600 && seconds <= 900, String(seconds))
    t.not((await knock(21, fromElsewhere())).status, 429)
    t.is((await server.as(ann.key)('/api/me', { headers })).status, 200, 'a valid key is still accepted')
  })

test('an invalid key on a public route is ignored, but counted', async t => {
  const headers = fromElsewhere()
  const look = (at: number) => server.as()(`/api/users/${ann.id}?key=wrong${at}`, { headers })
  for (let at = 0; at < 20; at += 1) t.is((await look(at)).status, 200)
  t.is((await me({ ...headers, 'x-api-key': 'wrong' })).status, 429)
  t.is((await look(20)).status, 200)
})

test('the network is the one that our proxy reports, not those that the client sends', async t => {
  const network = fromElsewhere()['x-forwarded-for']
  const statuses: number[] = []
  for (let at = 0; at < 22; at += 1)
    statuses.push((await me({ 'x-api-key': `wrong${at}`, 'x-forwarded-for': `203.0.113.${at}, ${network}` })).status)
  t.deepEqual(statuses.slice(20), [429, 429])
  for (let at = 0; at < 22; at += 1)
    statuses.push((await me({ 'x-api-key': `wrong${at}`, 'x-forwarded-for': `2001:db8:5:5::${at.toString(16)}` })).status)
  t.deepEqual(statuses.slice(42), [429, 429])
})

test('without a trusted proxy clients cannot choose their network', async t => {
  const bare = await bootForTest({ t, plugins, config: { resources: { users: { wrongKeysPerAddress: 3 } } } })
  const statuses: number[] = []
  for (let at = 0; at < 4; at += 1) {
    const headers = { 'x-forwarded-for': `203.0.113.${at}`, forwarded: `for=203.0.113.${at}`, 'x-real-ip': `203.0.113.${at}` }
    statuses.push((await bare.as(`wrong${at}`)('/api/me', { headers })).status)
  }
  t.deepEqual(statuses, [401, 401, 401, 429])
})

test('an attack on an account does not lock its owner out permanently or on other networks', async t => {
  const owner = await newPerson(server, 'attacked')
  const attacker = fromElsewhere()
  for (let at = 0; at < 21; at += 1) await login(owner.email, `guess ${at}`, attacker)
  t.is((await login(owner.email, owner.password, attacker)).status, 429)
  t.is((await login(owner.email, owner.password, fromElsewhere())).status, 200)
})

const signedInCookie = (answer: Response): string | null => answer.headers.get('set-cookie')

test('a cross-site page cannot sign users in or out, whatever the media type of its form', async t => {
  const body = JSON.stringify({ email: ann.email, password: ann.password })
  const kinds = ['application/json', 'text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']
  const foreign: readonly Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { referer: 'https://evil.example/page' },
  ]
  for (const headers of foreign)
    for (const kind of kinds) {
      const answer = await server.as()('/api/login', { method: 'POST', body, headers: { ...headers, 'content-type': kind } })
      t.is(answer.status, 403)
      t.is(((await answer.json()) as { code: string }).code, 'cross-origin')
      t.is(signedInCookie(answer), null)
    }
  const cookie = await signIn(server, ann.email, ann.password)
  for (const headers of foreign) t.is((await server.as()('/api/logout', { method: 'POST', headers: { ...headers, cookie } })).status, 403)
  t.is((await byCookie(server, cookie)('/api/me')).status, 200)
  const own = { origin: server.url, 'content-type': 'application/json' }
  t.is((await server.as()('/api/login', { method: 'POST', body, headers: own })).status, 200)
})

test('a session is refused for requests of another site, even with superadmin mode in a cookie', async t => {
  const { email, password } = server.admin
  const cookie = `${await signIn(server, email, password)}; superAdmin=true`
  const rename = `/api/users/${ann.id}/updateName?firstName=Mallory&lastName=X`
  for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }, { origin: 'null' }, {}] as const)
    t.is((await server.as()(rename, { method: 'POST', headers: { ...headers, cookie } })).status, 403)
  t.is((await server.get(Users).get(ann.id))?.firstName, 'ann')
})

test('neither response nor time of a sign-in reveals whether an account exists', async t => {
  const suspended = await newPerson(server, 'suspended')
  await server.get(Users).change(suspended.id, { set: { status: 'Inactive' } }, [])
  const outside = await server.get(Users).create({ email: 'outside@example.org', firstName: 'O', lastName: 'S', status: 'Active' })
  const emails = [ann.email, 'unknown@example.org', suspended.email, outside.email, 'not an address']
  const answers = new Set<string>()
  const tries = async (email: string): Promise<void> => {
    const answer = await login(email, 'a wrong password', fromElsewhere())
    answers.add(JSON.stringify([await refusal(answer), answer.headers.get('set-cookie')]))
  }
  t.is(await timingDifference(Object.fromEntries(emails.map(email => [email, () => tries(email)]))), undefined)
  t.is(answers.size, 1, [...answers].join('\n'))
})

const download = (t: ExecutionContext, url: string, headers: Record<string, string>): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const sent = get(url, { headers, agent: false }, resolve)
    sent.on('error', reject)
    t.teardown(() => {
      sent.destroy()
    })
  })

test('a user suspended during a download gets the rest of it, and nothing after it', async t => {
  const own = await bootForTest({ t, plugins: recordPlugins, config: { access: { private: true } } })
  const person = await somebody(own, 'suspended')
  const dataset = await newDataset(person)
  const form = new FormData()
  const sizeBytes = 8 * 1024 * 1024
  form.append('File', new Blob([Buffer.alloc(sizeBytes, 'x')]), 'large.bin')
  const uploaded = await person.call(`/api/uploadToDataset/${dataset}?extract=false`, { method: 'POST', body: form })
  const { id } = (await uploaded.json()) as { id: string }
  const cookie = await signIn(own, person.email, person.password)
  const begun = await download(t, `${own.url}/api/files/${id}/blob`, { 'x-api-key': person.key })
  t.is(begun.statusCode, 200)
  const set = await own.as(own.admin.key)('/api/admin/users', { method: 'POST', json: { inactive: [person.id] } })
  t.is(set.status, 200)
  const range = { range: 'bytes=100-' }
  t.is((await person.call(`/api/files/${id}/blob`, { headers: range })).status, 401)
  t.is((await byCookie(own, cookie)(`/api/files/${id}/blob`, { headers: range })).status, 401)
  t.is((await byCookie(own, cookie)('/api/me')).status, 401)
  const authorization = basic(person.email, person.password)
  t.is((await own.as()(`/api/files/${id}/blob`, { headers: { ...range, authorization } })).status, 401)
  t.is((await buffer(begun)).length, sizeBytes)
})
