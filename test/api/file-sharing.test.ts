import test from 'ava'
import { BlobStore, Files, Mailer, Users } from 'pounce/sdk'
import { bootForTest, FixedClock, MemoryMailer } from 'pounce/sdk/testing'
import { callsOf } from '../support/calls.ts'
import { newKey } from '../support/people.ts'
import { newDataset, upload } from '../support/scene.ts'
import { letIn, newSpace, somebody } from '../support/spaces-and-people.ts'
import { until } from '../support/until.ts'

const [clock, mailer] = [new FixedClock(), new MemoryMailer()]
const server = await bootForTest({ clock, overrides: { [Mailer]: mailer }, config: { access: { private: true } } })
const [ann, bob, eve] = [await somebody(server, 'ann'), await somebody(server, 'bob'), await somebody(server, 'eve')]
const space = await newSpace(ann)
await letIn(ann, space, 'Viewer', bob)
test.after.always(() => server.stop())
const files = server.get(Files)
const nobody = callsOf(server.as())
const unknownId = 'f'.repeat(24)
const limited = { licenseType: 'license1', rightsHolder: '', licenseText: 'All Rights Reserved', licenseUrl: '', allowDownload: 'false' }
/** A file of Ann's that Bob may view, in a dataset of the space. */
const newFile = async (text = 'leaf') => upload(ann.call, await newDataset(ann.call, { space: [space] }), text)

test('a license is accepted in the format of Clowder 1.x, with its abbreviations expanded', async t => {
  const id = await newFile()
  const path = `/api/files/${id}/license`
  const texts = {
    'by-nc-sa': 'Attribution-NonCommercial-ShareAlike',
    by: 'Attribution',
    'by-nd': 'Attribution-NoDerivs',
    'by the way': 'by the way',
  }
  for (const [licenseText, text] of Object.entries(texts)) {
    t.deepEqual((await ann.post(path, { ...limited, licenseType: 'license2', licenseText })).body, { status: 'success' })
    t.like((await files.get(id))?.license, { type: 'license2', text, allowDownload: false })
  }
  await server.drained(60_000)
  const before = await files.get(id)
  const { licenseUrl: _, ...incomplete } = limited
  for (const json of [
    incomplete,
    {},
    { ...limited, licenseType: 'x'.repeat(501) },
    { ...limited, licenseType: 3 },
    { ...limited, allowDownload: 'maybe' },
  ])
    t.is((await ann.post(path, json)).status, 400)
  t.is((await bob.post(path, limited)).status, 403)
  t.is((await nobody.post(path, limited)).status, 401)
  for (const id of ['nonsense', unknownId]) t.is((await ann.post(`/api/files/${id}/license`, limited)).status, 404)
  t.is((await eve.post(path, limited)).status, 404)
  t.deepEqual(await files.get(id), before)
})

test('a license can allow downloads to all who may view a file, and only to them', async t => {
  const id = await newFile()
  const path = `/api/files/${id}`
  const open = async (license: object): Promise<number> => {
    await ann.post(`${path}/license`, { ...limited, ...license })
    return (await bob.get(path)).status
  }
  t.is((await bob.get(path)).status, 403)
  t.is(await open({ allowDownload: 'true' }), 200)
  t.is(await open({}), 403)
  t.is(await open({ licenseType: 'license2' }), 200)
  t.is(await open({ licenseType: 'license3' }), 200)
  t.is(await open({ rightsHolder: 'Somebody Else' }), 403)
  t.is(await open({ licenseType: 'license3' }), 200)
  t.is((await bob.get(`${path}/blob`)).status, 200)
  await ann.post(`${path}/license`, { ...limited, licenseType: 'license3' })
  t.is((await eve.get(path)).status, 404)
  t.is((await nobody.get(path)).status, 401)
})

test('taking the name of the rights holder grants no right to download', async t => {
  const [own, carl] = [await newSpace(ann), await somebody(server, 'renamed')]
  await letIn(ann, own, 'Viewer', carl)
  const id = await upload(ann.call, await newDataset(ann.call, { space: [own] }))
  await ann.post(`/api/files/${id}/license`, { ...limited, rightsHolder: 'Grace Hopper' })
  t.is((await carl.post(`/api/users/${carl.id}/updateName?firstName=Grace&lastName=Hopper`)).status, 200)
  for (const path of [`/api/files/${id}`, `/api/files/${id}/blob`]) t.is((await carl.get(path)).status, 403, path)
  t.is((await ann.get(`/api/files/${id}`)).status, 200)
})

test('the users of a file or dataset are the members of its spaces, each once', async t => {
  const [first, other, hidden] = [await newSpace(ann), await newSpace(ann), await newSpace(eve)]
  await letIn(ann, first, 'Viewer', bob)
  await letIn(ann, other, 'Viewer', bob, eve)
  const dataset = await newDataset(ann.call, { space: [first, other] })
  const id = await upload(ann.call, dataset)
  for (const path of [`/api/files/${id}/users`, `/api/datasets/${dataset}/users`]) {
    const people = (await bob.get(path)).body as readonly { id: string; email: string | null; fullName: string; identityProvider: string }[]
    t.deepEqual(people.map(one => one.id).toSorted(), [ann.id, bob.id, eve.id].toSorted(), path)
    const me = people.find(one => one.id === bob.id)
    t.like(me, { email: bob.email })
    t.is(me?.identityProvider, `${me?.fullName} (${bob.email}) [Local Account]`)
    t.is((await nobody.get(path)).status, 401)
  }
  const alone = await newDataset(ann.call)
  t.deepEqual((await ann.get(`/api/datasets/${alone}/users`)).body, [])
  t.is((await eve.get(`/api/datasets/${alone}/users`)).status, 404)
  t.truthy(hidden)
})

test('deleting many files at once reports the outcome of each', async t => {
  const [mine, seen, kept] = [await newFile(), await newFile(), await newFile()]
  const hidden = await upload(eve.call, await newDataset(eve.call))
  const blob = (await files.get(mine))?.blob ?? ''
  const none = { deleted: [], 'not found': [], 'error deleting': [], 'no permission': [] }
  t.deepEqual((await bob.post('/api/files/bulkRemove', { fileIds: [seen, hidden, unknownId] })).body, {
    ...none,
    'not found': [hidden, unknownId],
    'no permission': [seen],
  })
  const requested = [mine, mine, 'nonsense', hidden]
  t.deepEqual((await ann.post('/api/files/bulkRemove', { fileIds: requested })).body, {
    ...none,
    deleted: [mine],
    'not found': ['nonsense', hidden],
  })
  await server.drained(60_000)
  t.is((await ann.get(`/api/files/${mine}`)).status, 404)
  t.is(await server.get(BlobStore).stat(blob), undefined)
  t.is((await ann.get(`/api/files/${kept}`)).status, 200)
  for (const json of [{}, { fileIds: [] }, { fileIds: null }])
    t.like(await ann.post('/api/files/bulkRemove', json), { status: 404, body: { code: 'no-files' } })
  for (const json of [{ fileIds: mine }, { fileIds: [4] }]) t.is((await ann.post('/api/files/bulkRemove', json)).status, 400)
  t.is((await nobody.post('/api/files/bulkRemove', { fileIds: [kept] })).status, 401)
})

test('deleting by GET requires a key: a cookie and a password are refused, and HEAD deletes nothing', async t => {
  const [one, two] = [await newFile(), await newFile()]
  const path = `/api/files/bulkRemove?fileIds=${one},${two}`
  const login = await server.as()('/api/login', { method: 'POST', json: { email: ann.email, password: ann.password } })
  const cookie = login.headers
    .getSetCookie()
    .map(each => each.split(';')[0])
    .join('; ')
  t.not(cookie, '')
  t.true([401, 403].includes((await server.as()(path, { headers: { cookie } })).status))
  const authorization = `Basic ${Buffer.from(`${ann.email}:${ann.password}`).toString('base64')}`
  t.like(await callsOf((url, init) => server.as()(url, { ...init, headers: { authorization } })).get(path), {
    status: 403,
    body: { code: 'forbidden', message: 'Passwords are not accepted here: send an API key' },
  })
  t.not((await ann.call(path, { method: 'HEAD' })).status, 200)
  t.truthy(await files.get(one))
  t.is((await nobody.get(path)).status, 401)
  t.like((await ann.get(path)).body, { deleted: [one, two], 'not found': [] })
  t.like((await ann.get(`/api/files/bulkRemove?fileIds=${one}&fileIds=${two}`)).body, { deleted: [], 'not found': [one, two] })
  for (const query of ['', '?fileIds=', '?fileIds=,']) t.is((await ann.get(`/api/files/bulkRemove${query}`)).status, 404, query)
})

test.serial('a link gives access to a file without an account for seven days', async t => {
  const id = await newFile('by link')
  const { status, body } = await ann.post(`/files/${id}/links`)
  t.is(status, 200)
  const { link, expire } = body as { link: string; expire: string }
  t.is(Date.parse(expire), clock.now().getTime() + 7 * 86_400_000)
  const { pathname } = new URL(link)
  const answer = await server.as()(pathname)
  t.deepEqual([answer.status, await answer.text()], [200, 'by link'])
  t.is((await server.as('wrong key')(pathname)).status, 200)
  const part = await server.as()(pathname, { headers: { range: 'bytes=3-' } })
  t.deepEqual([part.status, await part.text()], [206, 'link'])
  t.is((await server.as()(pathname, { method: 'HEAD' })).status, 200)
  await until('the downloads to be counted', async () => (await files.get(id))?.statistics.downloads === 2)
  for (const wrong of ['nonsense', `${pathname.split('/').at(-1)}x`, id]) t.is((await nobody.get(`/files/links/${wrong}`)).status, 404)
  clock.advance(7 * 86_400_000)
  t.is((await nobody.get(pathname)).status, 404)
  await server.runPeriodic('resources.files/ended-links')
})

test('a link requires the rights to edit and download, and ends with them', async t => {
  const id = await newFile()
  t.is((await bob.post(`/files/${id}/links`)).status, 403)
  t.is((await eve.post(`/files/${id}/links`)).status, 404)
  t.is((await nobody.post(`/files/${id}/links`)).status, 401)
  t.is((await ann.post(`/files/${unknownId}/links`)).status, 404)
  const key = await newKey(server, ann.email, ann.password, 'name=extractor&scope=extraction')
  t.is((await server.as(key)(`/files/${id}/links`, { method: 'POST' })).status, 403)

  const carl = await somebody(server, 'carl')
  await letIn(ann, space, 'Editor', carl)
  const linkOf = async () => new URL(((await carl.post(`/files/${id}/links`)).body as { link: string }).link).pathname
  const first = await linkOf()
  t.is((await nobody.get(first)).status, 200)
  await server.get(Users).change(carl.id, { set: { status: 'Inactive' } }, [])
  t.is((await nobody.get(first)).status, 404)
  await server.get(Users).change(carl.id, { set: { status: 'Active' } }, [])
  t.is((await nobody.get(first)).status, 200)
  await ann.post(`/api/spaces/${space}/removeUser?removeUser=${carl.id}`)
  t.is((await nobody.get(first)).status, 404)
  await letIn(ann, space, 'Editor', carl)
  const second = await linkOf()
  await ann.remove(`/api/files/${id}`)
  t.is((await nobody.get(second)).status, 404)
})

test.serial('an archived file is delivered while its bytes exist, and an admin gets one mail a day about requests for it', async t => {
  const id = await newFile('cold')
  const subjects = () => mailer.sent.filter(mail => mail.text.includes(id))
  t.is((await ann.get(`/api/files/${id}`)).status, 200)
  await files.change(id, { set: { status: 'ARCHIVED' } }, [])
  await ann.call(`/api/files/${id}`, { method: 'HEAD' })
  await server.drained(60_000)
  t.is(subjects().length, 0)
  for (let n = 0; n < 3; n++) t.is((await ann.get(`/api/files/${id}`)).status, 200)
  await until('the mail', () => subjects().length === 1)
  await server.drained(60_000)
  t.deepEqual(
    subjects().map(mail => mail.to),
    [[server.admin.email]],
  )
  t.regex(subjects()[0]?.text ?? '', new RegExp(`${ann.email}.* hello\\.txt`))
  clock.advance(86_400_000)
  t.is((await ann.get(`/api/files/${id}`)).status, 200)
  await until('the next mail', () => subjects().length === 2)
})
