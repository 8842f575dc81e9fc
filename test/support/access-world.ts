import { Users } from 'pounce/sdk'
import { bootForTest, type TestFetch, type TestServer } from 'pounce/sdk/testing'
import { newKey, newPerson, type Person } from './people.ts'

/** The plugins whose routes read or change resources. Without extractors, which these tests do not need. */
export const accessPlugins: readonly string[] = [
  ...['documents.sqlite', 'blobs.disk', 'search.fts', 'transport.queue', 'auth.local', 'access.policy', 'previewers.basic'],
  ...[
    'users',
    'spaces',
    'collections',
    'datasets',
    'folders',
    'files',
    'uploads',
    'dataset-files',
    'downloads',
    'metadata',
    'sections',
    'tags',
    'comments',
    'previews',
  ]
    .concat('vocabularies', 'metadata-definitions', 'extractions', 'search', 'activity', 'status', 'tree')
    .map(name => `resources.${name}`),
]

/** A caller, and the query that is added to every path. */
export interface Actor {
  readonly call: TestFetch
  readonly query: string
}

/** A server with one resource of each kind, each with a distinct word in every field, and all relevant callers. */
export interface AccessWorld {
  readonly server: TestServer
  /** Ids by name: `space`, `dataset`, `shown` (public), `trashed`, `removed`, `file`, `trashedFile` … */
  readonly ids: Readonly<Record<string, string>>
  readonly actors: Readonly<Record<string, Actor>>
  readonly people: Readonly<Record<string, Person>>
}

/** A word in everything that belongs to the private dataset. */
export const privateWord = 'zebrafinch'
/** A word in everything in the trash. */
export const trashWord = 'mudskipper'
/** A word in everything public. */
export const publicWord = 'goldcrest'

const idIn = async (answer: Response): Promise<string> => {
  const text = await answer.text()
  const found = /"(?:id|newDatasetId)"\s*:\s*"([0-9a-f]{24})"|^"?([0-9a-f]{24})"?$/.exec(text)
  const id = found?.[1] ?? found?.[2]
  if (!answer.ok || id === undefined) throw new Error(`${answer.status} ${answer.url} ${text}`)
  return id
}
const post = async (call: TestFetch, path: string, json: unknown, method = 'POST'): Promise<Response> => {
  const answer = await call(path, { method, ...(json === undefined ? {} : { json }) })
  if (!answer.ok) throw new Error(`${answer.status} ${method} ${path} ${await answer.text()}`)
  return answer
}

const upload = (call: TestFetch, path: string, name: string, content: string, type = 'text/plain'): Promise<string> => {
  const body = new FormData()
  body.append('File', new Blob([content], { type }), name)
  return call(path, { method: 'POST', body }).then(idIn)
}

/** A dataset with a folder, a file, metadata, tags, comments and a preview, all of which hold the word. */
const furnish = async (call: TestFetch, word: string, space: readonly string[]): Promise<Record<string, string>> => {
  const dataset = await idIn(
    await post(call, '/api/datasets/createempty', { name: `${word} data`, description: `${word} described`, space }),
  )
  const folder = await idIn(
    await post(call, `/api/datasets/${dataset}/newFolder`, { name: `${word} folder`, parentId: dataset, parentType: 'dataset' }),
  )
  const file = await upload(call, `/api/uploadToDataset/${dataset}?extract=false&folder_id=${folder}`, `${word}.txt`, `${word} content`)
  const section = await idIn(await post(call, '/api/sections', { file_id: file, description: `${word} part`, [word]: word }))
  const preview = await upload(call, '/api/previews', `${word}-preview.txt`, `${word} preview`)
  const steps: [string, unknown][] = [[`/api/files/${file}/previews/${preview}`, { extractor_id: word }]]
  const ids: Record<string, string> = { dataset, folder, file, section, preview }
  for (const [kind, id] of [
    ['files', file],
    ['datasets', dataset],
  ] as const) {
    const context = { word: 'http://example.org/word' }
    steps.push([
      `/api/${kind}/${id}/metadata.jsonld`,
      {
        '@context': context,
        agent: { '@type': 'cat:extractor', name: 'x', extractor_id: 'https://example.org/extractors/x/1.0' },
        content: { word },
      },
    ])
    steps.push([`/api/${kind}/${id}/tags`, { tags: [`${word} tag`] }])
    ids[`${kind}Comment`] = await idIn(await post(call, `/api/${kind}/${id}/comment`, { text: `${word} comment` }))
  }
  steps.push([`/api/sections/${section}/tags`, { tags: [`${word} part`] }])
  ids['sectionsComment'] = await idIn(await post(call, `/api/sections/${section}/comments`, { text: `${word} comment` }))
  for (const [path, json] of steps) await post(call, path, json)
  return ids
}

const prefixed = (prefix: string, ids: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(ids).map(([name, id]) => [`${prefix}${name.slice(0, 1).toUpperCase()}${name.slice(1)}`, id]))

const actor = (call: TestFetch, query = ''): Actor => ({ call, query })

/** Boots a server and fills it. */
export const makeAccessWorld = async (isPrivate: boolean): Promise<AccessWorld> => {
  const server = await bootForTest({
    plugins: accessPlugins,
    config: { access: { private: isPrivate }, resources: { users: { failuresPerAddress: 100_000, wrongKeysPerAddress: 100_000 } } },
  })
  const names = ['owner', 'stranger', 'viewer', 'editor', 'spaceAdmin', 'author', 'readOnlyAdmin'] as const
  const people = Object.fromEntries(await Promise.all(names.map(async name => [name, await newPerson(server, name)]))) as Record<
    string,
    Person
  >
  const person = (name: (typeof names)[number]): Person => people[name] as Person
  const id = (...who: (typeof names)[number][]): string => who.map(name => person(name).id).join(',')
  const { call } = person('author')

  const space = await idIn(await post(person('owner').call, '/api/spaces', { name: `${privateWord} space`, description: privateWord }))
  const rolesandusers = {
    Viewer: id('viewer'),
    Editor: id('editor', 'author'),
    Admin: id('owner', 'spaceAdmin', 'readOnlyAdmin'),
  }
  // On a private server the owner may not view these users yet, and therefore cannot add them by id.
  await post(server.as(server.admin.key), `/api/spaces/${space}/updateUsers?superAdmin=true`, { rolesandusers })
  const collection = await idIn(
    await post(call, '/api/collections', { name: `${privateWord} collection`, description: privateWord, space }),
  )
  const plain = await furnish(call, privateWord, [space])
  const shown = await furnish(call, publicWord, [space])
  const trashed = await furnish(call, trashWord, [space])
  const removed = await furnish(call, trashWord, [space])
  await post(call, `/api/datasets/${shown['dataset']}/access?access=PUBLIC`, undefined, 'PUT')
  for (const dataset of [trashed['dataset'], removed['dataset'], removed['dataset']])
    await post(call, `/api/datasets/${dataset}`, undefined, 'DELETE')

  const users = server.get(Users)
  // From here on the author has no rights as a member.
  await users.setMembership(person('author').id, space, undefined)
  await users.change(person('readOnlyAdmin').id, { set: { status: 'ReadOnly' } }, [])
  const { email, password } = person('author')
  const extractor = await newKey(server, email, password, 'name=extractor&scope=extraction')
  await server.drained()
  const asAdmin = server.as(server.admin.key)
  return {
    server,
    people,
    ids: { space, collection, ...plain, ...prefixed('shown', shown), ...prefixed('trashed', trashed), ...prefixed('removed', removed) },
    actors: {
      anonymous: actor(server.as()),
      ...Object.fromEntries(names.slice(1, 7).map(name => [name, actor(person(name).call)])),
      serverAdmin: actor(asAdmin),
      superAdmin: actor(asAdmin, 'superAdmin=true'),
      extractor: actor(server.as(extractor)),
    },
  }
}
