import test from 'ava'
import { Mailer, PersonalDataSources, Users } from 'pounce/sdk'
import { bootForTest, MemoryMailer, type TestServer } from 'pounce/sdk/testing'
import { bytesOf, unzip } from '../support/archives.ts'
import { newPerson, type Person, signIn } from '../support/people.ts'
import { newDataset, newFolder, ok, refusal, upload } from '../support/scene.ts'
import { declaredCollections, storedTexts } from '../support/stored-documents.ts'

/** Collections without personal data, with the reason. */
const impersonal: Readonly<Record<string, string>> = {
  'access.reading': 'whether reading requires sign-in',
  roles: 'names of permissions',
  'users.tries': 'counts under digests, for minutes',
  entries: 'names, sizes and dates of folders and files',
  'entry-indexes': 'ids of datasets',
  'entry-totals': 'counts and sizes of what lies in datasets and folders',
  'users.settings': 'secrets of the installation',
  site: 'texts of the installation',
  institutions: 'a shared list of names of institutions',
  projects: 'a shared list of names of projects',
  counters: 'totals',
  'blobs.sweep': 'when the records began',
  'audit.chains': 'hash chains',
  'extractor-choices': 'names of extractors',
  'extractor-labels': 'names of extractors',
  'bulk-chunks': 'resources and what came of them',
  'upload-batch-files': 'files that came together',
  'files.damaged': 'files',
  'used-file-ids': 'ids of deleted files',
  'files.quarantine': 'files and names of malware',
  'files.scrub': 'how far a check has come',
  'geo-numbers': 'the next number',
  'geo-answers': 'computed answers about sensors',
  'in-place-files': 'paths on the server',
  'search.reindexing': 'the state of the index',
  'transport.jobs': 'jobs that wait, by account id',
}

const post = (json: unknown) => ({ method: 'POST', json })
const boot = async (t: Parameters<typeof bootForTest>[0]) =>
  bootForTest({ ...t, overrides: { [Mailer]: new MemoryMailer() }, config: { resources: { spaces: {} } } })

interface Traces {
  readonly person: Person
  readonly space: string
  readonly dataset: string
  readonly file: string
  /** Unique words in names and texts that the person wrote. */
  readonly tokens: readonly string[]
}

const roleOf = async (server: TestServer, name: string): Promise<string> =>
  (await server.get(Users).roles()).find(role => role.name === name)?.id ?? ''

/** Creates a user and, on their behalf, writes a unique word wherever possible. */
const leaveTraces = async (server: TestServer, name: string): Promise<Traces> => {
  const person = await newPerson(server, name)
  const { call, id } = person
  const used: string[] = []
  const word = (place: string): string => {
    const token = `${name}${place}token`
    used.push(token)
    return token
  }
  const admin = server.as(server.admin.key)
  await done(call(`/api/users/${id}/updateName?firstName=${word('first')}&lastName=${word('last')}`, { method: 'POST' }))
  await done(
    call(`/api/users/${id}`, {
      method: 'PUT',
      json: { biography: word('biography'), position: word('position'), notifications: 'daily' },
    }),
  )
  const space = (await ok<{ id: string }>(call('/api/spaces', post({ name: word('space'), description: '' })))).id
  await server.get(Users).setMembership(server.admin.id, space, await roleOf(server, 'Admin'))
  await done(call('/api/collections', post({ name: word('collection'), description: '', space })))
  const dataset = await newDataset(call, { name: word('dataset'), space: [space] })
  await newFolder(call, dataset, word('folder'))
  const file = await upload(call, dataset, 'bytes', `${word('file')}.txt`)
  await done(call(`/api/datasets/${dataset}/tags`, post({ tags: [word('tag')] })))
  await done(call(`/api/datasets/${dataset}/comment`, post({ text: word('comment') })))
  const agent = { '@type': 'cat:user', user_id: `${server.url}/api/users/${id}` }
  await done(call(`/api/datasets/${dataset}/metadata.jsonld`, post({ '@context': {}, agent, content: { about: word('metadata') } })))
  await done(call('/api/selected', post({ dataset })))
  await done(call('/api/me/preferences', { method: 'PUT', json: { views: [word('preference')] } }))
  await done(call('/api/me/searches', post({ name: word('search'), query: word('query') })))
  await done(call(`/api/spaces/${space}/follow`, { method: 'POST' }))
  await done(call(`/api/users/keys?name=${word('key')}`, { method: 'POST' }))
  await signIn(server, person.email, person.password)
  await done(call('/api/admin/mail', post({ subject: word('subject'), body: word('letter') })))
  const metadata = Buffer.from(`${word('upload')}.bin`).toString('base64')
  const headers = { 'tus-resumable': '1.0.0', 'upload-length': '9', 'upload-metadata': `filename ${metadata}` }
  const begun = await call('/api/uploads', { method: 'POST', headers })
  if (begun.status !== 201) throw new Error(await begun.text())
  await done(admin(`/api/users/${id}/updateName?firstName=${name}firsttoken&lastName=${name}lasttoken`, { method: 'POST' }))
  await server.drained()
  return { person, space, dataset, file, tokens: used }
}

/** Throws unless the response is a success. */
const done = async (answer: Promise<Response>): Promise<void> => {
  const response = await answer
  if (!response.ok) throw new Error(`${response.status} ${response.url}: ${await response.text()}`)
}

const exported = async (call: Person['call'], id: string) => {
  const response = await call(`/api/users/${id}/export`, { method: 'POST' })
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
  return unzip(await bytesOf(response))
}

test('every collection is covered by a personal data source, or contains no personal data', async t => {
  const server = await boot({ t })
  const answered = new Set(
    server
      .get(PersonalDataSources)
      .all()
      .flatMap(({ collections }) => collections),
  )
  const declared = (await declaredCollections()).map(({ name }) => name)
  t.deepEqual(
    declared.filter(name => !answered.has(name) && !(name in impersonal)),
    [],
  )
  t.deepEqual(
    Object.keys(impersonal).filter(name => answered.has(name) || !declared.includes(name)),
    [],
  )
})

test('an export contains every word of the user, no secrets and no word of another user', async t => {
  const server = await boot({ t })
  const [ada, bob] = [await leaveTraces(server, 'ada'), await leaveTraces(server, 'bob')]
  const files = await exported(ada.person.call, ada.person.id)
  const all = [...files.values()].join('\n')
  for (const token of ada.tokens) t.true(all.includes(token), token)
  for (const word of [...bob.tokens, bob.person.email, bob.person.id, bob.dataset]) t.false(all.includes(word), word)
  for (const secret of [ada.person.key, ada.person.password, '$scrypt', '$argon2', 'passwordHash', '"hash"', '"stamp"'])
    t.false(all.includes(secret), secret)
  for (const [path, bytes] of files) if (path.endsWith('.json')) t.true(Array.isArray(JSON.parse(String(bytes))), path)
  const readme = String(files.get('README.txt'))
  for (const path of files.keys()) t.true(path === 'README.txt' || readme.includes(path), path)
  await server.drained()
  const lines = await ok<{ type: string }[]>(server.as(server.admin.key)(`/api/admin/audit?user=${ada.person.id}`))
  t.true(lines.some(({ type }) => type === 'user.exported'))
  t.true((await exported(server.as(server.admin.key), ada.person.id)).has('profile.json'))
  t.is((await refusal(bob.person.call(`/api/users/${ada.person.id}/export`, { method: 'POST' }))).status, 403)
  t.is((await refusal(server.as()(`/api/users/${ada.person.id}/export`, { method: 'POST' }))).status, 401)
})

test('an erasure removes every name, address and credential, and keeps what others rely on', async t => {
  const server = await boot({ t })
  const [ada, bob] = [await leaveTraces(server, 'ada'), await leaveTraces(server, 'bob')]
  const { id, email, password, call } = ada.person
  await ok(
    bob.person
      .call(`/api/users/follow?followeeUUID=${id}`, { method: 'POST' })
      .then(async answer => (answer.status === 404 ? Response.json({}) : answer)),
  )
  const answered = new Set(
    server
      .get(PersonalDataSources)
      .all()
      .flatMap(({ collections }) => collections),
  )
  for (const { collection, text } of await storedTexts(server))
    if (text.includes(id) || text.includes(email) || text.includes('adafirsttoken'))
      t.true(answered.has(collection) || collection in impersonal, collection)
  t.is((await call(`/api/users/${id}`, { method: 'DELETE' })).status, 202)
  t.is((await call('/api/me')).status, 401)
  await server.drained()
  const personal = [
    email,
    'adafirsttoken',
    'adalasttoken',
    'adabiographytoken',
    'adainstitutiontoken',
    'adakeytoken',
    'adalettertoken',
    'adauploadtoken',
  ]
  for (const { collection, text } of await storedTexts(server)) {
    if (collection === 'audit') continue
    for (const word of personal) t.false(text.includes(word), `${word} in ${collection}: ${text}`)
  }
  t.is((await server.as()('/api/login', post({ email, password }))).status, 401)
  const admin = server.as(server.admin.key)
  t.like(await ok(admin(`/api/users/${id}`)), { fullName: 'Deleted User', profile: {} })
  t.like(await ok(admin(`/api/datasets/${ada.dataset}?superAdmin=true`)), { name: 'adadatasettoken', authorId: id })
  const documents = JSON.stringify(await ok(admin(`/api/datasets/${ada.dataset}/metadata.jsonld?superAdmin=true`)))
  t.regex(documents, /adametadatatoken/)
  t.regex(documents, /Deleted User/)
  t.true(JSON.stringify(await ok(admin(`/api/datasets/${ada.dataset}/comments?superAdmin=true`))).includes('adacommenttoken'))
  const found = await ok<{ results: unknown[] }>(admin('/api/search?query=adalasttoken&superAdmin=true'))
  t.deepEqual(found.results, [])
  const lines = await ok<{ type: string }[]>(admin(`/api/admin/audit?user=${id}`))
  t.true(lines.some(({ type }) => type === 'user.erased'))
  const again = { email, password: 'a long password', firstName: 'A', lastName: 'B' }
  t.is((await admin('/api/users', post(again))).status, 200, 'the email address can be used again')
  t.like(await refusal(admin(`/api/users/${id}`, { method: 'DELETE' })), { status: 409 })
  t.is((await bob.person.call(`/api/datasets/${bob.dataset}`)).status, 200)
  t.true([...(await exported(bob.person.call, bob.person.id)).values()].join('').includes('bobcommenttoken'))
})

test('with an heir, resources are transferred to the heir, and comments stay with the deleted user', async t => {
  const server = await boot({ t })
  const [ada, heir] = [await leaveTraces(server, 'ada'), await newPerson(server, 'heir')]
  await server.get(Users).setMembership(heir.id, ada.space, await roleOf(server, 'Viewer'))
  const admin = server.as(server.admin.key)
  for (const wrong of [ada.person.id])
    t.is((await refusal(admin(`/api/users/${ada.person.id}?heir=${wrong}`, { method: 'DELETE' }))).status, 400)
  t.is((await refusal(admin(`/api/users/${ada.person.id}?heir=${'f'.repeat(24)}`, { method: 'DELETE' }))).status, 404)
  t.is((await refusal(heir.call(`/api/users/${ada.person.id}`, { method: 'DELETE' }))).status, 403)
  t.is((await admin(`/api/users/${ada.person.id}?heir=${heir.id}`, { method: 'DELETE' })).status, 202)
  await server.drained()
  t.like(await ok(heir.call(`/api/datasets/${ada.dataset}`)), { authorId: heir.id })
  t.is((await heir.call(`/api/datasets/${ada.dataset}/title`, { method: 'PUT', json: { name: 'taken over' } })).status, 200)
  t.is((await heir.call(`/api/files/${ada.file}/blob`)).status, 200)
  const comments = JSON.stringify(await ok(heir.call(`/api/datasets/${ada.dataset}/comments`)))
  t.true(comments.includes(ada.person.id) && comments.includes('Deleted User'))
})

test('an erased account gets no status, role, group or name, and does not count as a server admin', async t => {
  const server = await boot({ t })
  const admin = server.as(server.admin.key)
  const [gone, other] = [await newPerson(server, 'gone'), await newPerson(server, 'other')]
  const { id: space } = await ok<{ id: string }>(admin('/api/spaces', post({ name: 'Plots', description: '' })))
  const { id: group } = await ok<{ id: string }>(admin('/api/groups', post({ name: 'Team' })))
  t.is((await admin(`/api/users/${gone.id}`, { method: 'DELETE' })).status, 202)
  await server.drained()
  const changes: Readonly<Record<string, () => Promise<Response>>> = {
    status: () => admin('/api/admin/users', post({ admin: [gone.id], inactive: [other.id] })),
    role: () => admin(`/api/spaces/${space}/members/${gone.id}`, { method: 'PUT', json: { role: 'Viewer' } }),
    roles: () => admin(`/api/spaces/${space}/updateUsers`, post({ rolesandusers: { Viewer: `${other.id},${gone.id}` } })),
    group: () => admin(`/api/groups/${group}/members`, post({ users: [other.id, gone.id] })),
    name: () => admin(`/api/users/${gone.id}/updateName?firstName=Not&lastName=Gone`, { method: 'POST' }),
    profile: () => admin(`/api/users/${gone.id}`, { method: 'PUT', json: { position: 'Lead' } }),
  }
  for (const [name, change] of Object.entries(changes)) t.true([400, 404].includes((await refusal(change())).status), name)
  t.like(await ok(admin(`/api/users/${gone.id}`)), { firstName: 'Deleted', lastName: 'User' })
  t.is((await other.call('/api/me')).status, 200)
  t.deepEqual(await ok(admin(`/api/groups/${group}/members`)), [])
  t.is((await refusal(admin(`/api/users/${server.admin.id}`, { method: 'DELETE' }))).status, 409)
})

test('the last server admin and the last user who can edit a space cannot be erased', async t => {
  const server = await boot({ t })
  const admin = server.as(server.admin.key)
  t.like(await refusal(admin(`/api/users/${server.admin.id}`, { method: 'DELETE' })), { status: 409 })
  const ada = await newPerson(server, 'ada')
  await ok(ada.call('/api/spaces', post({ name: 'Lonely', description: '' })))
  const refused = await refusal(ada.call(`/api/users/${ada.id}`, { method: 'DELETE' }))
  t.is(refused.status, 409)
  t.regex(refused.message, /Lonely/)
  t.is((await ada.call('/api/me')).status, 200)
})
