import test from 'ava'
import { type AnyEvent, definePlugin, onBatch, Spaces } from 'pounce/sdk'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { feedEvents } from '../../plugins/resources/activity/feed.ts'
import { StoredActivity } from '../../plugins/resources/activity/stored-activity.ts'
import { callsOf, idOf } from '../support/calls.ts'
import { newFolder, ok, unknownId, upload } from '../support/scene.ts'
import {
  letIn,
  newCollection,
  newDataset,
  newSpace,
  publish,
  recordPlugins,
  type Somebody,
  somebody,
} from '../support/spaces-and-people.ts'

interface Named {
  readonly id: string
  readonly fullName: string
  readonly avatarURL: string
  readonly email?: string
}
interface Line {
  readonly id: string
  readonly event_type: string
  readonly user: Named
  readonly targetuser?: Named
  readonly object_id?: string
  readonly object_name?: string
  readonly source_id?: string
  readonly source_name?: string
  readonly created: string
}

const received: AnyEvent[] = []
class Listen {
  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    received.push(...events)
  }
}
const listener = definePlugin({
  id: 'test.listener',
  summary: 'Receives the events of the feed.',
  handlers: [onBatch(feedEvents, Listen, 'listen')],
})
const plugins = [...recordPlugins, 'resources.sections', 'resources.tags', 'resources.comments', 'resources.activity']
const server = await bootForTest({ plugins, also: [listener], config: { access: { private: true } } })
test.after.always(() => server.stop())

const feedOf = async (who: Somebody, query = '', at: TestServer = server): Promise<Line[]> => {
  await at.drained()
  return ok<Line[]>(who.call(`/api/events?limit=200${query}`))
}
const summaryOf = (lines: readonly Line[]) =>
  lines.map(({ event_type, object_name, source_name }) => [event_type, object_name, ...(source_name === undefined ? [] : [source_name])])

test('the feed lists the caller’s own actions, newest first, with the event types of Clowder 1.x', async t => {
  const bob = await somebody(server, 'bob')
  const [space, collection] = [await newSpace(bob, 'Lab'), await newCollection(bob, { name: 'Series' })]
  const dataset = await newDataset(bob, { name: 'Plots' })
  const path = `/api/datasets/${dataset}`
  const folder = await newFolder(bob.call, dataset, 'raw')
  const file = await upload(bob.call, dataset)
  await upload(bob.call, dataset, 'x', 'inside.txt', { query: `extract=false&folder_id=${folder}` })
  await bob.post(`${path}/addFileEvent?inFolder=true&fileCount=3`)
  await bob.post(`/api/files/${file}/tags`, { tags: ['x'] })
  await bob.post(`${path}/comment`, { text: 'well done' })
  await bob.post(`${path}/metadata.jsonld`, {
    content: { a: 1 },
    agent: { '@type': 'cat:user', user_id: `${server.url}/api/users/${bob.id}` },
  })
  await bob.post(`/api/spaces/${space}/addDatasetToSpace/${dataset}`)
  await bob.post(`/api/collections/${collection}/datasets/${dataset}`)
  await bob.post(`${path}/follow`)
  await bob.remove(`/api/files/${file}`)
  const lines = await feedOf(bob)
  t.deepEqual(summaryOf(lines), [
    ['delete_file', 'hello.txt'],
    ['follow_dataset', 'Plots'],
    ['attach_dataset_collection', 'Plots', 'Series'],
    ['add_dataset_space', 'Plots', 'Lab'],
    ['addMetadata_dataset', 'Plots'],
    ['add_comment_dataset', 'well done', 'Plots'],
    ['add_tags_file', 'hello.txt'],
    ['add_file_folder_3', 'Plots'],
    ['add_file_folder', 'Plots'],
    ['add_file', 'Plots'],
    ['added_folder', 'Plots'],
    ['create_dataset', 'Plots'],
    ['create_collection', 'Series'],
    ['add_user_to_space', 'Lab'],
    ['create_space', 'Lab'],
  ])
  for (const { user, created } of lines) {
    t.like(user, { id: bob.id, email: bob.email })
    t.regex(user.avatarURL, /\/api\/avatars\/[^/]+-\d+$/)
    t.regex(created, / UTC \d{4}$/)
  }
  const eve = await somebody(server, 'eve')
  t.deepEqual(await feedOf(eve), [])
})

test('the feed shows the name of a file that is deleted before its events are processed', async t => {
  const bob = await somebody(server, 'bob')
  const dataset = await newDataset(bob, { name: 'Short' })
  const events = [
    { type: 'tags.added', subject: { kind: 'file', id: 'a'.repeat(24) }, data: { tags: ['x'] }, id: '1'.repeat(24) },
    {
      type: 'file.removed',
      subject: { kind: 'file', id: 'a'.repeat(24) },
      data: { datasets: [dataset], name: 'gone.txt' },
      id: '2'.repeat(24),
    },
    { type: 'tags.removed', subject: { kind: 'file', id: 'a'.repeat(24) }, data: { tags: ['x'] }, id: '3'.repeat(24) },
  ].map((event, at) => ({ ...event, actor: bob.id, at: new Date(Date.now() + at).toISOString() }) as AnyEvent)
  const activity = server.get(StoredActivity)
  await activity.handleAll(events.slice(0, 1))
  t.false(
    (await feedOf(bob)).some(line => line.event_type === 'add_tags_file'),
    'an entry without a name is not shown',
  )
  await activity.handleAll(events.slice(1, 2))
  await activity.handleAll(events.slice(2))
  t.deepEqual(summaryOf(await feedOf(bob)).slice(0, 3), [
    ['remove_tags_file', 'gone.txt'],
    ['delete_file', 'gone.txt'],
    ['add_tags_file', 'gone.txt'],
  ])
})

test('events delivered again, in any order, leave the feed unchanged', async t => {
  const bob = await somebody(server, 'bob')
  const dataset = await newDataset(bob, { name: 'Twice' })
  await bob.put(`/api/datasets/${dataset}/title`, { name: 'Once' })
  await bob.remove(`/api/files/${await upload(bob.call, dataset)}`)
  const before = await feedOf(bob)
  const own = received.filter(({ actor }) => actor === bob.id)
  await server.get(StoredActivity).handleAll(own.toReversed())
  for (const event of own) await server.get(StoredActivity).handleAll([event])
  t.deepEqual(await feedOf(bob), before)
})

test('entries show the current name of a resource', async t => {
  const bob = await somebody(server, 'bob')
  const space = await newSpace(bob, 'Old space')
  const dataset = await newDataset(bob, { name: 'Old', space: [space] })
  await feedOf(bob)
  await bob.put(`/api/datasets/${dataset}/title`, { name: 'New' })
  await bob.post(`/api/spaces/${space}/update`, { name: 'New space', description: '', timetolive: '720', enabled: false })
  t.deepEqual(summaryOf(await feedOf(bob)), [
    ['update_space_information', 'New space'],
    ['update_dataset_information', 'New'],
    ['add_dataset_space', 'New', 'New space'],
    ['create_dataset', 'New'],
    ['add_user_to_space', 'New space'],
    ['create_space', 'New space'],
  ])
})

test('followers see entries about a resource only while they may view it', async t => {
  const [ann, cem] = [await somebody(server, 'ann'), await somebody(server, 'cem')]
  const space = await newSpace(ann, 'Shared')
  const dataset = await newDataset(ann, { name: 'Followed', space: [space] })
  await letIn(ann, space, 'Viewer', cem)
  await cem.post(`/api/datasets/${dataset}/follow`)
  await ann.put(`/api/datasets/${dataset}/title`, { name: 'Followed on' })
  const [line] = (await feedOf(cem)).filter(({ event_type }) => event_type === 'update_dataset_information')
  t.like(line, { object_name: 'Followed on', user: { id: ann.id, email: ann.email } })
  await letIn(ann, space, 'Viewer')
  t.deepEqual(await feedOf(cem), [], 'their own entry is hidden too, since it contains the name')
})

test('the feed of a follower does not show that a dataset was added to an invisible space', async t => {
  const [ann, cem] = [await somebody(server, 'ann'), await somebody(server, 'cem')]
  const [open, secret] = [await newSpace(ann, 'Open'), await newSpace(ann, 'Secret')]
  const dataset = await newDataset(ann, { name: 'Both', space: [open] })
  await letIn(ann, open, 'Viewer', cem)
  await cem.post(`/api/datasets/${dataset}/follow`)
  await ann.post(`/api/spaces/${secret}/addDatasetToSpace/${dataset}`)
  t.true(summaryOf(await feedOf(ann)).some(([type, , source]) => type === 'add_dataset_space' && source === 'Secret'))
  const lines = await feedOf(cem)
  t.true(lines.some(({ event_type }) => event_type === 'add_dataset_space'))
  t.false(JSON.stringify(lines).includes('Secret'))
})

test('followers see the deletion of a resource only if they may still view its container', async t => {
  const [ann, cem, dan] = [await somebody(server, 'ann'), await somebody(server, 'cem'), await somebody(server, 'dan')]
  const space = await newSpace(ann, 'Ends')
  const dataset = await newDataset(ann, { name: 'Ending', space: [space] })
  const file = await upload(ann.call, dataset, 'x', 'ending.txt')
  await letIn(ann, space, 'Viewer', cem, dan)
  for (const who of [cem, dan]) {
    await who.post(`/api/datasets/${dataset}/follow`)
    await who.post(`/api/files/${file}/follow`)
  }
  await ann.remove(`/api/files/${file}`)
  const ends = async (who: Somebody) => summaryOf(await feedOf(who)).filter(([type]) => type?.startsWith('delete_'))
  t.deepEqual(await ends(cem), [['delete_file', 'ending.txt']])
  await ann.remove(`/api/datasets/${dataset}`)
  await ann.remove(`/api/datasets/${dataset}`)
  t.deepEqual(await ends(cem), [['delete_dataset', 'Ending']])
  await letIn(ann, space, 'Viewer', cem)
  t.deepEqual(await ends(dan), [])
})

test('followers of a user do not see deletions of what they could not view in a space that they may view', async t => {
  const [ann, dan, eve] = [await somebody(server, 'ann'), await somebody(server, 'dan'), await somebody(server, 'eve')]
  const admin = callsOf(server.as(server.admin.key))
  await idOf(admin.post('/api/roles', { name: 'Outline', permissions: ['ViewSpace', 'ViewUser'] }))
  const [space, shared] = [await newSpace(ann, 'Open'), await newSpace(ann)]
  await letIn(ann, shared, 'Viewer', dan)
  await letIn(ann, space, 'Outline', eve)
  await publish(server, ann, space)
  const dataset = await newDataset(ann, { name: 'Secret', space: [space] })
  const collection = await newCollection(ann, { name: 'Private', space })
  t.is((await ann.put(`/api/datasets/${dataset}/access?access=PRIVATE`)).status, 200)
  for (const who of [dan, eve]) {
    t.is((await who.post(`/api/users/follow?followeeUUID=${ann.id}`)).status, 200)
    t.is((await who.get(`/api/datasets/${dataset}`)).status, 404)
  }
  for (const path of [`/api/datasets/${dataset}`, `/api/collections/${collection}`]) for (let n = 0; n < 2; n++) await ann.remove(path)
  for (const who of [dan, eve]) {
    t.false(JSON.stringify(await feedOf(who)).includes('delete_'))
    t.false(JSON.stringify((await who.get(`/api/users/${ann.id}/activity`)).body).includes('Secret'))
  }
  const names = summaryOf(await feedOf(ann)).filter(([type]) => type?.startsWith('delete_'))
  t.deepEqual(names, [
    ['delete_collection', 'Private'],
    ['delete_dataset', 'Secret'],
  ])
})

test('an edited comment is shown with its new text', async t => {
  const [ann, bob] = [await somebody(server, 'ann'), await somebody(server, 'bob')]
  const space = await newSpace(ann, 'Said')
  const dataset = await newDataset(ann, { name: 'Spoken', space: [space] })
  await letIn(ann, space, 'Editor', bob)
  const { body: comment } = await ann.post(`/api/datasets/${dataset}/comment`, { text: 'frist' })
  const path = `/api/comment/${comment}/editComment`
  t.like(await ann.post(path, { commentText: 'first' }), { status: 200, body: { status: 'success' } })
  t.deepEqual(summaryOf(await feedOf(ann)).slice(0, 2), [
    ['edit_comment', 'first'],
    ['add_comment_dataset', 'first', 'Spoken'],
  ])
  t.is((await ann.post(path, { commentText: ' ' })).status, 400)
  t.is((await bob.post(path, { commentText: 'mine' })).status, 403, 'only the author can edit')
  t.is((await (await somebody(server, 'eve')).post(path, { commentText: 'x' })).status, 404)
  t.is((await ann.post(`/api/comment/${unknownId}/editComment`, { commentText: 'x' })).status, 404)
})

test('only callers who may view a file can follow and unfollow it', async t => {
  const [ann, eve] = [await somebody(server, 'ann'), await somebody(server, 'eve')]
  const file = await upload(ann.call, await newDataset(ann, { name: 'Watched' }), 'x', 'watched.txt')
  for (const verb of ['follow', 'follow', 'unfollow', 'unfollow']) t.is((await ann.post(`/api/files/${file}/${verb}`)).status, 200)
  t.deepEqual(summaryOf(await feedOf(ann)).slice(0, 2), [
    ['unfollow_file', 'watched.txt'],
    ['follow_file', 'watched.txt'],
  ])
  const unfollowed = await ann.call(`/api/files/${file}/unfollow`, { method: 'POST' })
  t.deepEqual([unfollowed.status, await unfollowed.text()], [200, ''])
  for (const verb of ['follow', 'unfollow']) {
    t.is((await eve.post(`/api/files/${file}/${verb}`)).status, 404)
    t.is((await server.as()(`/api/files/${file}/${verb}`, { method: 'POST' })).status, 401)
  }
})

test('files deleted with their dataset have no entry of their own', async t => {
  const bob = await somebody(server, 'bob')
  const dataset = await newDataset(bob, { name: 'Full' })
  for (const name of ['a.txt', 'b.txt']) await upload(bob.call, dataset, 'x', name)
  await bob.remove(`/api/datasets/${dataset}`)
  await bob.remove(`/api/datasets/${dataset}`)
  t.deepEqual(
    summaryOf(await feedOf(bob)).filter(([type]) => type?.startsWith('delete_')),
    [['delete_dataset', 'Full']],
  )
})

test('an accepted request to join is in the feed of its sender, a rejected one is not', async t => {
  const [ann, bob, cid] = [await somebody(server, 'ann'), await somebody(server, 'bob'), await somebody(server, 'cid')]
  const space = await newSpace(ann, 'Club')
  const at = new Date().toISOString()
  await server.get(Spaces).change(space, { set: { requests: [bob, cid].map(({ id: user }) => ({ user, at })) } }, [])
  await ann.post(`/api/spaces/${space}/acceptRequest?user=${bob.id}&role=Viewer`)
  await ann.post(`/api/spaces/${space}/rejectRequest?user=${cid.id}`)
  const [line, ...others] = await feedOf(bob)
  t.deepEqual(others, [])
  t.like(line, { event_type: 'acceptrequest_space', object_name: 'Club', targetuser: { id: bob.id, email: bob.email } })
  t.deepEqual(await feedOf(cid), [], 'a rejected sender may view neither the space nor its name')
  t.deepEqual(
    summaryOf(await feedOf(ann))
      .slice(0, 2)
      .map(([type]) => type),
    ['rejectrequest_space', 'acceptrequest_space'],
  )
})

test('a mention is in the feed of the mentioned user as long as they may view the resource', async t => {
  const [ann, bob, eve] = [await somebody(server, 'ann'), await somebody(server, 'bob'), await somebody(server, 'eve')]
  const space = await newSpace(ann, 'Talk')
  const dataset = await newDataset(ann, { name: 'Talked of', space: [space] })
  await letIn(ann, space, 'Viewer', bob)
  const mention = (who: Somebody, by: string, whom: string, more = '') =>
    who.post(`/api/comment/mention?userID=${whom}&resourceID=${dataset}&resourceName=Forged&resourceType=dataset&commenterId=${by}${more}`)
  const { status, body } = await mention(ann, ann.id, bob.id)
  t.is(status, 200)
  t.is(body, `Mention event added to user id ${bob.id}'s feed`)
  const [line] = await feedOf(bob)
  t.like(line, { event_type: 'mention_dataset_comment', object_name: 'Talked of', user: { id: bob.id }, targetuser: { id: ann.id } })
  t.is((await mention(ann, bob.id, bob.id)).status, 400)
  t.is((await mention(ann, ann.id, eve.id)).status, 404, 'the mentioned user must be able to view the resource')
  t.is((await mention(bob, bob.id, ann.id)).status, 403, 'a viewer may not comment')
  t.is((await mention(eve, eve.id, eve.id)).status, 404)
  await letIn(ann, space, 'Viewer')
  t.false((await feedOf(bob)).some(({ event_type }) => event_type.startsWith('mention_')))
})

test('callers with permission to add files can report several in one entry', async t => {
  const [ann, eve] = [await somebody(server, 'ann'), await somebody(server, 'eve')]
  const dataset = await newDataset(ann, { name: 'Filled' })
  t.like(await ann.post(`/api/datasets/${dataset}/addFileEvent?fileCount=12`), { status: 200, body: 'added new event' })
  t.deepEqual(summaryOf(await feedOf(ann))[0], ['add_file_12', 'Filled'])
  t.is((await ann.post(`/api/datasets/${dataset}/addFileEvent?fileCount=0`)).status, 400)
  t.is((await eve.post(`/api/datasets/${dataset}/addFileEvent?fileCount=1`)).status, 404)
  t.is((await ann.post(`/api/datasets/${unknownId}/addFileEvent?fileCount=1`)).status, 404)
})

test('an email address is shown only to callers who may view the account', async t => {
  const [ann, cem] = [await somebody(server, 'ann'), await somebody(server, 'cem')]
  const space = await newSpace(ann, 'Published')
  await publish(server, ann, space)
  const dataset = await newDataset(ann, { name: 'For all', space: [space], access: 'PUBLIC' })
  await server.drained()
  await cem.post(`/api/datasets/${dataset}/follow`)
  await ann.put(`/api/datasets/${dataset}/title`, { name: 'For everybody' })
  const line = (await feedOf(cem)).find(({ event_type }) => event_type === 'update_dataset_information')
  t.like(line?.user, { id: ann.id })
  t.false(JSON.stringify(line).includes(ann.email))
  const own = (await feedOf(ann)).find(({ event_type }) => event_type === 'update_dataset_information')
  t.not(own?.user.avatarURL, line?.user.avatarURL, 'callers who may not view the account get a generic picture')
})

test('pages of the feed neither skip nor repeat entries', async t => {
  const bob = await somebody(server, 'bob')
  const dataset = await newDataset(bob, { name: 'Long' })
  for (let at = 0; at < 7; at += 1) await bob.put(`/api/datasets/${dataset}/description`, { description: `${at}` })
  const whole = (await feedOf(bob)).map(({ id }) => id)
  const seen: string[] = []
  for (let path: string | undefined = '/api/events?limit=3'; path; ) {
    const page: Response = await bob.call(path)
    seen.push(...((await page.json()) as Line[]).map(({ id }) => id))
    path = /<[^>]*(\/api\/[^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1]
  }
  t.deepEqual(seen, whole)
  t.is(whole.length, 8)
  t.is((await bob.get('/api/events?after=forged')).status, 400)
  t.is((await server.as()('/api/events')).status, 401)
})

test('comments on own resources are in the feed if enabled', async t => {
  const other = await bootForTest({
    t,
    plugins,
    config: { access: { private: true }, resources: { activity: { showCommentOnHomepage: true } } },
  })
  const [ann, bob, eve] = [await somebody(other, 'ann'), await somebody(other, 'bob'), await somebody(other, 'eve')]
  const space = await newSpace(ann, 'Spoken')
  const dataset = await newDataset(ann, { name: 'Spoken of', space: [space] })
  await letIn(ann, space, 'Editor', bob)
  await letIn(ann, space, 'Viewer', eve)
  await other.drained()
  await bob.post(`/api/files/${await upload(ann.call, dataset)}/comment`, { text: 'looks good' })
  const comments = async (who: Somebody) => summaryOf(await feedOf(who, '', other)).filter(([type]) => type === 'comment_file')
  for (const who of [ann, bob, eve]) t.deepEqual(await comments(who), [['comment_file', 'looks good', 'hello.txt']])
  await letIn(ann, space, 'Viewer')
  t.deepEqual(await comments(eve), [])
})

test('requests to a disabled feed get 404', async t => {
  const other = await bootForTest({ t, plugins, config: { resources: { activity: { disableEvents: true } } } })
  t.is((await (await somebody(other)).get('/api/events')).status, 404)
})
