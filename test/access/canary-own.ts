import { createHash } from 'node:crypto'
import { BlobStore, Datasets, Files, Folders, MetadataDocuments } from 'pounce/sdk'
import type { TestFetch, TestServer } from 'pounce/sdk/testing'
import { extractorInfo } from '../support/extractor-info.ts'
import type { FakeBus } from '../support/fake-bus.ts'
import { newKey, newPerson, type Person } from '../support/people.ts'
import { ok } from '../support/scene.ts'
import type { Ids } from './canary-things.ts'
import { classes, type Tokens } from './canary-tokens.ts'

export const names = ['ann', 'pam', 'viewer', 'editor', 'stranger', 'other', 'readOnly', 'former'] as const
export type Name = (typeof names)[number]

/** Accounts that are visible to members only. */
export const known: readonly Name[] = ['ann', 'viewer', 'editor']

/** Creates users. Names and mail addresses of users who are visible to members only contain words too. */
export const makePeople = async (server: TestServer, tokens: Tokens): Promise<Readonly<Record<Name, Person>>> => {
  const made = await Promise.all(
    names.map(async name => {
      const person = await newPerson(server, known.includes(name) ? tokens.mint(`person ${name}`, 'person') : name)
      if (known.includes(name)) {
        tokens.watch(createHash('md5').update(person.email).digest('hex'), `hash of the address of ${name}`, 'person')
        tokens.watch(person.id, `id of ${name}`, 'person')
      }
      return [name, person] as const
    }),
  )
  return Object.fromEntries(made) as Record<Name, Person>
}

export const post = (call: TestFetch, path: string, json?: unknown, method = 'POST'): Promise<Response> =>
  call(path, { method, ...(json === undefined ? {} : { json }) }).then(async answer => {
    if (!answer.ok) throw new Error(`${answer.status} ${path} ${await answer.text()}`)
    return answer
  })

/** The input of planting. */
export interface Parts {
  readonly server: TestServer
  readonly tokens: Tokens
  readonly people: Readonly<Record<Name, Person>>
  readonly bus: FakeBus
}

/** Resources of a single account: a file without a dataset, an unfinished upload, keys, a private extractor, a link. */
export const plantOwn = async (world: Parts, dataset: string, file: string): Promise<Ids> => {
  const { server, tokens, people } = world
  const { call, email, password, key } = people.ann
  const word = (field: string) => tokens.mint(`own ${field}`, 'own')
  const form = new FormData()
  form.append('File', new Blob(['x']), 'unplaced.txt')
  const unplaced = await ok<{ id: string }>(call('/api/files', { method: 'POST', body: form }))
  const agent = { '@type': 'cat:user', user_id: 'https://example.org/u', name: 'U' }
  await post(call, `/api/files/${unplaced.id}/metadata.jsonld`, { agent, content: { [word('file.field')]: word('file.value') } })
  await post(call, `/api/files/${unplaced.id}/tags`, { tags: [word('file.tag')] })
  const about = `filename ${btoa(`${word('upload.filename')}.txt`)},dataset ${btoa(dataset)}`
  const headers = { 'tus-resumable': '1.0.0', 'upload-length': '100', 'upload-metadata': about }
  const location = (await call('/api/uploads', { method: 'POST', headers })).headers.get('location') ?? ''
  tokens.watch(key, 'key', 'own')
  tokens.watch(await newKey(server, email, password, `name=${word('key.name')}`), 'named key', 'own')
  const signIn = { method: 'POST', json: { email, password }, headers: { 'user-agent': word('session.agent') } }
  const cookie = (await server.as()('/api/login', signIn)).headers.get('set-cookie') ?? ''
  tokens.watch(/=([^;]+)/.exec(cookie)?.[1] ?? '', 'session', 'secret')
  const [session] = await ok<readonly { id: string }[]>(call('/api/sessions'))
  const name = word('extractor.name')
  const info = extractorInfo(name, { description: word('extractor.description'), author: word('extractor.author'), unique_key: 'mine' })
  await post(call, `/api/extractors?extractor_key=${word('extractor.key')}&user=${encodeURIComponent(email)}`, info)
  await post(call, '/api/selected', { dataset })
  await post(call, '/api/me/searches', { name: word('search.name'), query: word('search.query') })
  const { link } = await ok<{ link: string }>(call(`/files/${file}/links`, { method: 'POST' }))
  tokens.watch(link.replace(/^.*\//, ''), 'file link', 'own')
  return { upload: location.replace(/^.*\//, ''), session: String(session?.id) }
}

/** Members, invited users and applicants of a space, with their profiles. */
export const plantMembers = async ({ server, tokens, people }: Parts, space: string, isPrivate: boolean): Promise<Ids> => {
  const { ann, viewer, other } = people
  const of = (field: string) => tokens.mint(`person ${field}`, 'person')
  const profile = { biography: of('biography'), position: of('position') }
  await post(ann.call, `/api/users/${ann.id}`, { ...profile, avatarUrl: `https://example.org/${of('avatar')}.png` }, 'PUT')
  const emails = [`${tokens.mint('own invitation.email', 'own')}@example.org`]
  await post(ann.call, `/api/spaces/${space}/invite`, { emails, message: 'come' })
  const [invitation] = await ok<readonly { id: string }[]>(ann.call(`/api/spaces/${space}/invitations`))
  if (!isPrivate) await post(other.call, `/api/spaces/${space}/request`, { message: tokens.mint('own request.message', 'own') })
  const group = await ok<{ id: string }>(server.as(server.admin.key)('/api/groups', { method: 'POST', json: { name: 'a group' } }))
  await post(server.as(server.admin.key), `/api/groups/${group.id}/members`, { users: [viewer.id] })
  await post(server.as(server.admin.key), `/api/spaces/${space}/groups/${group.id}?superAdmin=true`, { role: 'Viewer' }, 'PUT')
  return { invitation: String(invitation?.id) }
}

/** A key of the author that is limited to another of their spaces. */
export const narrowKey = async ({ server, people: { ann } }: Parts): Promise<string> => {
  const { id } = await ok<{ id: string }>(ann.call('/api/spaces', { method: 'POST', json: { name: 'narrow', description: '' } }))
  return newKey(server, ann.email, ann.password, `name=narrow&spaces=${id}`)
}

/** Extractors report their runs. */
export const plantMessages = async ({ tokens, bus }: Parts, sets: Readonly<Record<string, Ids>>): Promise<void> => {
  for (const [name, set] of Object.entries(sets)) {
    const job = bus.to('canary.any').find(({ id }) => id === set['job'])
    if (job) await bus.sendStatus(job, `PROCESSING ${tokens.mint(`${name} run.message`, classes[name] ?? 'shown')}`)
  }
}

/** A dataset during its import, like those of bags and copies. */
export const plantImport = async ({ server, tokens, people }: Parts, space: string): Promise<Ids> => {
  const word = (field: string) => tokens.mint(`importing ${field}`, 'pending')
  const [datasets, files, folders] = [server.get(Datasets), server.get(Files), server.get(Folders)]
  const about = { author: people.ann.id, isImporting: true } as const
  const dataset = await datasets.create({ ...about, name: word('dataset.name'), description: word('dataset.description'), spaces: [space] })
  const parent = { kind: 'dataset', id: dataset.id } as const
  const folder = await folders.create({ ...about, name: word('folder.name'), dataset: dataset.id, parent })
  const { key: blob, sizeBytes, sha256 } = await server.get(BlobStore).put(Buffer.from(word('file.bytes')))
  const file = await files.create({
    ...{ ...about, blob, sizeBytes, sha256, extract: false, contentType: 'text/plain' },
    ...{ name: `${word('file.name')}.txt`, description: word('file.description'), dataset: dataset.id, folder: folder.id },
  })
  const agent = { kind: 'user', name: 'Ann', extractorId: null, userId: people.ann.id } as const
  const content = { [word('file.metadata.key')]: word('file.metadata.value') }
  await server.get(MetadataDocuments).add({ ...about, target: { kind: 'file', id: file.id }, agent, content })
  return { dataset: dataset.id, folder: folder.id, file: file.id }
}
