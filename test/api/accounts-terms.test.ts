import test from 'ava'
import { Mailer, Policy, Users } from 'pounce/sdk'
import { bootForTest, MemoryMailer, type TestFetch, type TestServer } from 'pounce/sdk/testing'
import { lastToken } from '../support/mails.ts'
import { basic, byCookie, newKey, newPerson, type Person, signIn } from '../support/people.ts'
import { newDataset, ok, refusal } from '../support/scene.ts'

const mailer = new MemoryMailer()
let server: TestServer
let admin: TestFetch
let ann: Person
let otherAdmin: Person
let dataset: string

const setTerms = (tosText: string, call = admin) => ok(call('/api/admin/configuration', { method: 'POST', json: { tosText } }))
const isPending = async (answer: Promise<Response>): Promise<boolean> => {
  const { status, code, message } = await refusal(answer)
  return status === 403 && code === 'terms-not-accepted' && message === 'Terms of Service not accepted'
}

test.before(async () => {
  server = await bootForTest({ overrides: { [Mailer]: mailer } })
  admin = server.as(server.admin.key)
  ann = await newPerson(server, 'ann')
  otherAdmin = await newPerson(server, 'chief')
  await server.get(Users).change(otherAdmin.id, { set: { status: 'Admin' } }, [])
  dataset = await newDataset(ann.call)
})
test.after.always(() => server?.stop())
test.afterEach.always(() => setTerms(''))

interface Operation {
  readonly tags?: readonly string[]
  readonly security?: readonly object[]
  readonly responses: Readonly<Record<string, unknown>>
  readonly 'x-before-terms'?: true
  readonly 'x-internal'?: true
}
const operations = async () => {
  const { paths } = await ok<{ paths: Record<string, Record<string, Operation>> }>(server.as()('/openapi.json'))
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, ...operation })),
  )
}

test.serial('without terms of service, no acceptance is required', async t => {
  t.is((await ann.call(`/api/datasets/${dataset}`)).status, 200)
  t.false('termsPending' in (await ok<object>(ann.call('/api/me'))))
})

test.serial('before accepting the terms, every account is refused on all routes except those needed to accept', async t => {
  const session = byCookie(server, await signIn(server, ann.email, ann.password))
  const extractor = await newKey(server, ann.email, ann.password, 'name=extractor&scope=extraction')
  const limited = await newKey(server, ann.email, ann.password, 'name=reader&verbs=read')
  await setTerms('Be kind.')
  const callers: Record<string, TestFetch> = {
    key: ann.call,
    session,
    extractor: server.as(extractor),
    limited: server.as(limited),
    basic: (path, init) => server.as()(path, { ...init, headers: { authorization: basic(ann.email, ann.password) } }),
    admin: otherAdmin.call,
    superAdmin: (path, init) => otherAdmin.call(`${path}${path.includes('?') ? '&' : '?'}superAdmin=true`, init),
  }
  const all = (await operations()).filter(({ security, path }) => security?.length !== 0 && path !== '/readyz')
  t.true(all.length > 200)
  const [shut, open] = [all.filter(one => !one['x-before-terms']), all.filter(one => one['x-before-terms'])]
  for (const { path, responses, 'x-internal': relays } of shut) t.true(relays === true || '403' in responses, path)
  // Each route with two callers, and each caller with many routes.
  const requested = shut.flatMap(({ path, method }, at) =>
    Object.entries(callers)
      .filter((_, nth) => nth === at % 7 || nth === (at + 3) % 7)
      .map(([name, call]) => ({ name, call, method, address: path.replaceAll(/\{\w+\}/g, at % 2 ? dataset : 'nonsense') })),
  )
  for (let at = 0; at < requested.length; at += 16)
    await Promise.all(
      requested.slice(at, at + 16).map(async ({ name, call, method, address }) => {
        const answer = call(address, { method: method.toUpperCase(), ...(method === 'get' ? {} : { json: {} }) })
        t.true(await isPending(answer), `${name} ${method} ${address}`)
      }),
    )
  const isPage = ({ tags = [] }: Operation): boolean => tags.includes('web')
  t.false((await (await ann.call(`/datasets/${dataset}`)).text()).includes(dataset))
  t.deepEqual(
    open
      .filter(one => !isPage(one))
      .map(({ path, method }) => `${method} ${path}`)
      .toSorted(),
    ['get /api/admin/configuration', 'get /api/configuration', 'get /api/me', 'get /api/session', 'post /api/users/acceptTerms'],
  )
  for (const call of Object.values(callers)) t.is((await call('/api/configuration')).status, 200)
  t.like(await ok(ann.call('/api/me')), { id: ann.id, termsPending: true })
  t.like(await ok(server.as()('/api/login', { method: 'POST', json: { email: ann.email, password: ann.password } })), {
    termsPending: true,
  })
  t.is((await session('/api/logout', { method: 'POST' })).status, 200)
})

test.serial('after accepting, users have access until the terms change', async t => {
  await setTerms('Be kind.')
  t.true(await isPending(ann.call(`/api/datasets/${dataset}`)))
  t.deepEqual(await ok(ann.call('/api/users/acceptTerms', { method: 'POST' })), { status: 'success' })
  t.is((await ann.call(`/api/datasets/${dataset}`)).status, 200)
  t.is((await ann.call('/api/users/acceptTerms', { method: 'POST' })).status, 200)
  await ok(admin('/api/admin/configuration', { method: 'POST', json: { displayName: 'Another name' } }))
  t.is((await ann.call(`/api/datasets/${dataset}`)).status, 200)
  await setTerms('Be kinder.')
  t.true(await isPending(ann.call(`/api/datasets/${dataset}`)))
})

test.serial('the admin who changes the terms accepts them implicitly; other admins do not', async t => {
  await setTerms('Written by an admin.')
  t.is((await admin('/api/users')).status, 200)
  t.true(await isPending(otherAdmin.call('/api/users')))
  t.true(await isPending(otherAdmin.call('/api/admin/configuration', { method: 'POST', json: { tosText: '' } })))
})

test.serial('accepting an outdated version of the terms is refused with 409', async t => {
  const termsNow = () => ok<{ tosChanged: string }>(ann.call('/api/configuration'))
  await setTerms('The first draft.')
  const { tosChanged } = await termsNow()
  await setTerms('The second draft.')
  const accept = (json: object) => ann.call('/api/users/acceptTerms', { method: 'POST', json })
  t.like(await refusal(accept({ tosChanged })), { status: 409, code: 'conflict' })
  t.true(await isPending(ann.call('/api/spaces')))
  t.is((await accept({ tosChanged: 7 })).status, 400)
  t.is((await accept({ tosChanged: (await termsNow()).tosChanged })).status, 200)
  t.is((await ann.call('/api/spaces')).status, 200)
})

test.serial('terms cannot be accepted for another account, nor with a limited key', async t => {
  const extractor = await newKey(server, ann.email, ann.password, 'name=extractor2&scope=extraction')
  await setTerms('Again.')
  t.is((await server.as()('/api/users/acceptTerms', { method: 'POST' })).status, 401)
  t.is((await server.as(extractor)('/api/users/acceptTerms', { method: 'POST' })).status, 403)
  t.is((await otherAdmin.call('/api/users/acceptTerms', { method: 'POST', json: { id: ann.id, user: ann.id } })).status, 200)
  t.true(await isPending(ann.call(`/api/datasets/${dataset}`)))
})

test.serial('background operations on behalf of an account are stopped as well', async t => {
  const users = server.get(Users)
  const can = async () => {
    const user = await users.get(ann.id)
    return server.get(Policy).canOn(await users.callerOf(user!), 'EditDataset', { kind: 'dataset', id: dataset })
  }
  t.is(await can(), 'yes')
  await setTerms('No more.')
  t.not(await can(), 'yes')
  await ok(ann.call('/api/users/acceptTerms', { method: 'POST' }))
  t.is(await can(), 'yes')
})

test.serial('terms are accepted at sign-up or later', async t => {
  await setTerms('For newcomers.')
  for (const [email, acceptTerms] of [
    ['ready@example.org', true],
    ['later@example.org', false],
  ] as const) {
    await ok(server.as()('/api/signup', { method: 'POST', json: { email } }))
    const json = { token: await lastToken(server, mailer, email), firstName: 'N', lastName: 'C', password: 'a good password', acceptTerms }
    const { id } = await ok<{ id: string }>(server.as()('/api/signup/finish', { method: 'POST', json }))
    await ok(admin('/api/admin/users', { method: 'POST', json: { active: [id] } }))
    const call: TestFetch = (path, init) => server.as()(path, { ...init, headers: { authorization: basic(email, 'a good password') } })
    if (acceptTerms) t.is((await call('/api/spaces')).status, 200)
    else t.true(await isPending(call('/api/spaces')))
  }
})
