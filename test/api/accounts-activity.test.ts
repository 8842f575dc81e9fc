import test from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { nextOf } from '../support/calls.ts'
import { ok, unknownId } from '../support/scene.ts'
import { letIn, newDataset, newSpace, recordPlugins, type Somebody, somebody } from '../support/spaces-and-people.ts'

interface Line {
  readonly event_type: string
  readonly object_name?: string
  readonly source_name?: string
  readonly user: { readonly id: string }
}
const plugins = [...recordPlugins, 'resources.sections', 'resources.comments', 'resources.activity']
const server = await bootForTest({ plugins, config: { access: { private: true } } })
test.after.always(() => server.stop())

const actionsOf = async (who: Pick<Somebody, 'call'>, id: string, query = '', at: TestServer = server): Promise<Line[]> => {
  await at.drained()
  return ok<Line[]>(who.call(`/api/users/${id}/activity?${query}`))
}
const summaryOf = (lines: readonly Line[]) => lines.map(({ event_type, object_name }) => `${event_type} ${object_name}`)

test('activity of an account is visible to callers who may view its object', async t => {
  const [ann, bob, eve] = [await somebody(server, 'ann'), await somebody(server, 'bob'), await somebody(server, 'eve')]
  const space = await newSpace(ann, 'Lab')
  await newDataset(ann, { name: 'Shared', space: [space] })
  await newDataset(ann, { name: 'Secret' })
  await letIn(ann, space, 'Viewer', bob)
  t.deepEqual(
    summaryOf(await actionsOf(ann, ann.id)).filter(line => line.startsWith('create')),
    ['create_dataset Secret', 'create_dataset Shared', 'create_space Lab'],
  )
  const seen = await actionsOf(bob, ann.id)
  t.deepEqual(
    summaryOf(seen).filter(line => line.startsWith('create')),
    ['create_dataset Shared', 'create_space Lab'],
  )
  t.true(seen.every(({ user }) => user.id === ann.id))
  t.false(JSON.stringify(seen).includes('Secret'))
  t.is((await eve.call(`/api/users/${ann.id}/activity`)).status, 404)
  for (const id of [unknownId, 'nonsense']) t.is((await ann.call(`/api/users/${id}/activity`)).status, 404)
  t.is((await server.as()(`/api/users/${ann.id}/activity`)).status, 401)
})

test('notifications to a user are not part of their activity', async t => {
  const [cat, dan] = [await somebody(server, 'cat'), await somebody(server, 'dan')]
  const space = await newSpace(cat, 'Room')
  await letIn(cat, space, 'Editor', dan)
  const dataset = await newDataset(cat, { name: 'Talk', space: [space] })
  t.true((await cat.call(`/api/datasets/${dataset}/comment`, { method: 'POST', json: { text: `@${dan.email} look` } })).ok)
  await server.drained()
  t.true(summaryOf(await ok<Line[]>(dan.call('/api/events'))).some(line => line.startsWith('mention_dataset')))
  t.false(summaryOf(await actionsOf(cat, dan.id)).some(line => line.startsWith('mention')))
})

test('entries of a user about a deleted resource do not show names that it got when the user could no longer view it', async t => {
  const [ann, bob] = [await somebody(server, 'ann'), await somebody(server, 'bob')]
  const space = await newSpace(ann, 'Lab')
  const dataset = await newDataset(ann, { name: 'Known', space: [space] })
  await letIn(ann, space, 'Editor', bob)
  await bob.post(`/api/datasets/${dataset}/follow`)
  await bob.post(`/api/datasets/${dataset}/comment`, { text: 'well done' })
  await server.drained()
  await letIn(ann, space, 'Editor')
  for (const name of ['Hidden', 'Concealed']) {
    await ann.put(`/api/datasets/${dataset}/title`, { name })
    await server.drained()
  }
  for (let times = 0; times < 2; times++) await ann.remove(`/api/datasets/${dataset}`)
  const lines = await actionsOf(bob, bob.id)
  t.deepEqual(summaryOf(lines), ['add_comment_dataset well done', 'follow_dataset Known'])
  t.is(lines[0]?.source_name, 'Known')
  t.notRegex(JSON.stringify(await ok(bob.call('/api/events'))), /Hidden|Concealed/)
  t.deepEqual(
    summaryOf(await actionsOf(ann, ann.id)).filter(line => /Known|Hidden|Concealed/.test(line)),
    [
      'delete_dataset Concealed',
      'move_dataset_trash Concealed',
      'update_dataset_information Concealed',
      'update_dataset_information Hidden',
      'add_dataset_space Known',
      'create_dataset Known',
    ],
  )
})

test('pages of activity neither skip nor repeat entries', async t => {
  const fay = await somebody(server, 'fay')
  for (let at = 0; at < 5; at += 1) await newDataset(fay, { name: `Set ${at}` })
  await server.drained()
  const seen: string[] = []
  for (let path: string | undefined = `/api/users/${fay.id}/activity?limit=2`; path; ) {
    const answer: Response = await fay.call(path)
    t.is(answer.status, 200)
    const lines = (await answer.json()) as Line[]
    t.true(lines.length <= 2)
    seen.push(...summaryOf(lines))
    path = nextOf({ status: 200, body: lines, headers: answer.headers })
  }
  t.deepEqual(
    seen,
    [4, 3, 2, 1, 0].map(at => `create_dataset Set ${at}`),
  )
  t.is((await fay.call(`/api/users/${fay.id}/activity?after=junk`)).status, 400)
})

test('with the feed disabled, activity is 404', async t => {
  const hidden = await bootForTest({ t, plugins, config: { resources: { activity: { disableEvents: true } } } })
  t.is((await hidden.as(hidden.admin.key)(`/api/users/${hidden.admin.id}/activity`)).status, 404)
})
