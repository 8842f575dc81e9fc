import test from 'ava'
import { Spaces, Users } from 'pounce/sdk'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { ok, upload } from '../support/scene.ts'
import { letIn, meet, newCollection, newDataset, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'

/** All types of the reference (api-platform §6, "Activity feed"). */
const reference: readonly string[] = [
  ...['user', 'file', 'dataset', 'collection', 'space'].flatMap(kind => [`follow_${kind}`, `unfollow_${kind}`]),
  ...['space', 'collection', 'dataset'].flatMap(kind => [`create_${kind}`, `delete_${kind}`, `update_${kind}_information`]),
  ...['collection', 'dataset'].flatMap(kind => [
    `move_${kind}_trash`,
    `restore_${kind}_trash`,
    `add_${kind}_space`,
    `remove_${kind}_space`,
  ]),
  ...['dataset', 'file'].flatMap(kind => [`add_tags_${kind}`, `remove_tags_${kind}`, `addMetadata_${kind}`]),
  ...['add_file', 'add_file_1', 'add_file_2', 'add_file_3', 'add_file_folder', 'delete_file', 'download_file', 'set_note_file'],
  ...['attach_dataset_collection', 'remove_dataset_collection', 'add_sub_collection', 'remove_subcollection'],
  ...['comment_file', 'add_comment_dataset', 'edit_comment', 'edit_profile', 'tos_update'],
  ...['add_user_to_space', 'remove_user_from_space', 'acceptrequest_space', 'rejectrequest_space'],
]

/** Types that no route produces, with the reason. */
const withoutRoute: Readonly<Record<string, string>> = {
  set_note_file: 'v1 sets notes on a web page alone; no route of the reference does',
  download_file:
    'a download is counted on the file and told to the event sink: a line for each would double what it writes (decision 0040)',
}

let server: TestServer
let ann: Somebody
let bob: Somebody

test.before(async () => {
  server = await bootForTest({ config: { access: { private: true } } })
  ;[ann, bob] = [await somebody(server, 'ann'), await somebody(server, 'bob')]
  await meet(server, ann, bob)
})
test.after.always(() => server?.stop())

type Line = Readonly<Record<'event_type' | 'id', string>>
const linesOf = async (): Promise<readonly Line[]> => {
  await server.drained()
  return ok<Line[]>(ann.call('/api/events?limit=200'))
}

/** Types of the lines that `work` adds to the caller's feed. */
const addedBy = async (work: () => Promise<unknown>): Promise<readonly string[]> => {
  const known = new Set((await linesOf()).map(({ id }) => id))
  await work()
  return (await linesOf()).filter(({ id }) => !known.has(id)).map(line => line.event_type)
}

const must = async (answer: Promise<{ readonly status: number; readonly body: unknown }>): Promise<void> => {
  const { status, body } = await answer
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
}

interface Scene {
  readonly space: string
  readonly collection: string
  readonly child: string
  readonly dataset: string
  readonly file: string
}
const scene = async (): Promise<Scene> => {
  const [space, collection] = [await newSpace(ann), await newCollection(ann)]
  const [child, dataset] = [await newCollection(ann), await newDataset(ann)]
  return { space, collection, child, dataset, file: await upload(ann.call, dataset) }
}

type Action = (things: Scene) => Promise<unknown>
const context = { '@context': { k: 'http://example.org/k' }, content: { k: 1 } }
const agent = (): object => ({ agent: { '@type': 'cat:user', user_id: `${server.url}/api/users/${ann.id}` } })
const requested = async (space: string): Promise<void> => {
  await server.get(Spaces).change(space, { set: { requests: [{ user: bob.id, at: '2026-01-01T00:00:00.000Z' }] } }, [])
}
const update = { name: 'renamed', description: '', timetolive: '24', enabled: false }

/** One change of each kind; `first` is a preparation whose lines are not compared. */
const actions: Readonly<Record<string, { readonly first?: Action; readonly now: Action }>> = {
  create_space: { now: () => newSpace(ann) },
  update_space_information: { now: ({ space }) => must(ann.post(`/api/spaces/${space}/update`, update)) },
  delete_space: { now: ({ space }) => must(ann.remove(`/api/spaces/${space}`)) },
  add_user_to_space: { now: ({ space }) => letIn(ann, space, 'Viewer', bob) },
  remove_user_from_space: {
    first: ({ space }) => letIn(ann, space, 'Viewer', bob),
    now: ({ space }) => must(ann.post(`/api/spaces/${space}/removeUser?removeUser=${bob.id}`)),
  },
  acceptrequest_space: {
    first: ({ space }) => requested(space),
    now: ({ space }) => must(ann.post(`/api/spaces/${space}/acceptRequest?user=${bob.id}&role=Viewer`)),
  },
  rejectrequest_space: {
    first: ({ space }) => requested(space),
    now: ({ space }) => must(ann.post(`/api/spaces/${space}/rejectRequest?user=${bob.id}`)),
  },
  create_collection: { now: () => newCollection(ann) },
  update_collection_information: { now: ({ collection }) => must(ann.put(`/api/collections/${collection}/title`, { name: 'new' })) },
  move_collection_trash: { now: ({ collection }) => must(ann.remove(`/api/collections/${collection}`)) },
  restore_collection_trash: {
    first: ({ collection }) => must(ann.remove(`/api/collections/${collection}`)),
    now: ({ collection }) => must(ann.put(`/api/collections/restore/${collection}`)),
  },
  delete_collection: {
    first: ({ collection }) => must(ann.remove(`/api/collections/${collection}`)),
    now: ({ collection }) => must(ann.remove(`/api/collections/${collection}`)),
  },
  add_collection_space: { now: ({ space, collection }) => must(ann.post(`/api/spaces/${space}/addCollectionToSpace/${collection}`)) },
  remove_collection_space: {
    first: ({ space, collection }) => must(ann.post(`/api/spaces/${space}/addCollectionToSpace/${collection}`)),
    now: ({ space, collection }) => must(ann.post(`/api/spaces/${space}/removeCollection/${collection}?removeDatasets=false`)),
  },
  add_sub_collection: { now: ({ collection, child }) => must(ann.post(`/api/collections/${collection}/addSubCollection/${child}`)) },
  remove_subcollection: {
    first: ({ collection, child }) => must(ann.post(`/api/collections/${collection}/addSubCollection/${child}`)),
    now: ({ collection, child }) => must(ann.post(`/api/collections/${collection}/removeSubCollection/${child}`)),
  },
  create_dataset: { now: () => newDataset(ann) },
  update_dataset_information: { now: ({ dataset }) => must(ann.put(`/api/datasets/${dataset}/title`, { name: 'new' })) },
  move_dataset_trash: { now: ({ dataset }) => must(ann.remove(`/api/datasets/${dataset}`)) },
  restore_dataset_trash: {
    first: ({ dataset }) => must(ann.remove(`/api/datasets/${dataset}`)),
    now: ({ dataset }) => must(ann.put(`/api/datasets/restore/${dataset}`)),
  },
  delete_dataset: {
    first: ({ dataset }) => must(ann.remove(`/api/datasets/${dataset}`)),
    now: ({ dataset }) => must(ann.remove(`/api/datasets/${dataset}`)),
  },
  add_dataset_space: { now: ({ space, dataset }) => must(ann.post(`/api/spaces/${space}/addDatasetToSpace/${dataset}`)) },
  remove_dataset_space: {
    first: ({ space, dataset }) => must(ann.post(`/api/spaces/${space}/addDatasetToSpace/${dataset}`)),
    now: ({ space, dataset }) => must(ann.post(`/api/spaces/${space}/removeDataset/${dataset}`)),
  },
  attach_dataset_collection: { now: ({ collection, dataset }) => must(ann.post(`/api/collections/${collection}/datasets/${dataset}`)) },
  remove_dataset_collection: {
    first: ({ collection, dataset }) => must(ann.post(`/api/collections/${collection}/datasets/${dataset}`)),
    now: ({ collection, dataset }) => must(ann.remove(`/api/collections/${collection}/datasets/${dataset}`)),
  },
  add_file: { now: ({ dataset }) => upload(ann.call, dataset) },
  add_file_folder: {
    now: async ({ dataset }) => {
      const { body } = await ann.post(`/api/datasets/${dataset}/newFolder`, { name: 'f', parentId: dataset, parentType: 'dataset' })
      await upload(ann.call, dataset, 'x', 'x.txt', { query: `extract=false&folder_id=${(body as { id: string }).id}` })
    },
  },
  ...Object.fromEntries(
    [1, 2, 3].map(n => [
      `add_file_${n}`,
      { now: ({ dataset }: Scene) => must(ann.post(`/api/datasets/${dataset}/addFileEvent?inFolder=false&fileCount=${n}`)) },
    ]),
  ),
  delete_file: { now: ({ file }) => must(ann.remove(`/api/files/${file}`)) },
  comment_file: { now: ({ file }) => must(ann.post(`/api/files/${file}/comment`, { text: 'well' })) },
  add_comment_dataset: { now: ({ dataset }) => must(ann.post(`/api/datasets/${dataset}/comment`, { text: 'well' })) },
  edit_comment: {
    now: async ({ dataset }) => {
      const { body } = await ann.post(`/api/datasets/${dataset}/comment`, { text: 'well' })
      await must(ann.post(`/api/comment/${String(body)}/editComment`, { commentText: 'better' }))
    },
  },
  tos_update: {
    first: () => server.get(Users).change(ann.id, { set: { status: 'Admin' } }, []),
    now: async () => {
      await must(ann.post('/api/admin/configuration', { tosText: 'Other terms' }))
      await server.get(Users).change(ann.id, { set: { status: 'Active' } }, [])
    },
  },
  edit_profile: { now: () => must(ann.post(`/api/users/${ann.id}/updateName?firstName=Ann&lastName=Other`)) },
  follow_user: { now: () => must(ann.post(`/api/users/follow?followeeUUID=${bob.id}`)) },
  unfollow_user: {
    first: () => must(ann.post(`/api/users/follow?followeeUUID=${bob.id}`)),
    now: () => must(ann.post(`/api/users/unfollow?followeeUUID=${bob.id}`)),
  },
  ...Object.fromEntries(
    (['file', 'dataset', 'collection', 'space'] as const).flatMap(kind => {
      const path = (things: Scene): string => `/api/${kind}s/${things[kind]}`
      const follow: Action = things => must(ann.post(`${path(things)}/follow`))
      return [
        [`follow_${kind}`, { now: follow }],
        [`unfollow_${kind}`, { first: follow, now: (things: Scene) => must(ann.post(`${path(things)}/unfollow`)) }],
      ]
    }),
  ),
  ...Object.fromEntries(
    (['file', 'dataset'] as const).flatMap(kind => {
      const path = (things: Scene): string => `/api/${kind}s/${things[kind]}`
      const tag: Action = things => must(ann.post(`${path(things)}/tags`, { tags: ['x'] }))
      const untag: Action = things => must(ann.remove(`${path(things)}/tags`, { tags: ['x'] }))
      const describe: Action = things => must(ann.post(`${path(things)}/metadata.jsonld`, { ...context, ...agent() }))
      return [
        [`add_tags_${kind}`, { now: tag }],
        [`remove_tags_${kind}`, { first: tag, now: untag }],
        [`addMetadata_${kind}`, { now: describe }],
      ]
    }),
  ),
}

for (const [type, { first, now }] of Object.entries(actions))
  test.serial(`one change over HTTP adds one ${type} entry to the feed`, async t => {
    const things = await scene()
    await first?.(things)
    const added = await addedBy(() => now(things))
    t.is(added.filter(each => each === type).length, 1, `${type}: had ${added.join(', ') || 'nothing'}`)
  })

test('every type of the reference is covered above or has a reason not to be', t => {
  t.deepEqual(
    reference.filter(type => !(type in actions) && !(type in withoutRoute)),
    [],
  )
  t.deepEqual(
    [...Object.keys(actions), ...Object.keys(withoutRoute)].filter(type => !reference.includes(type)),
    [],
  )
})
