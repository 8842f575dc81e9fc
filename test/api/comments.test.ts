import test from 'ava'
import { DocumentStore, Mailer, Unavailable } from 'pounce/sdk'
import { bootForTest, MemoryMailer } from 'pounce/sdk/testing'
import { comments, mentions } from '../../plugins/resources/comments/stored-comments.ts'
import { callsOf } from '../support/calls.ts'
import { say, sectionOf } from '../support/derived.ts'
import { unknownId, upload } from '../support/scene.ts'
import { letIn, newDataset, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'

interface Shown {
  readonly id: string
  readonly text: string
  readonly comment_id: string | null
  readonly author: { readonly id: string; readonly fullName: string; readonly avatarURL: string; readonly email?: string }
}

const mailer = new MemoryMailer()
const server = await bootForTest({ config: { access: { private: true } }, overrides: { [Mailer]: mailer } })
const ann = await somebody(server, 'ann')
const bob = await somebody(server, 'bob')
const eve = await somebody(server, 'eve')
const admin = callsOf(server.as(server.admin.key))
test.after.always(() => server.stop())

/** A dataset of Ann's in a space where Bob is an editor, with a file; Eve sees neither. */
const scene = async () => {
  const space = await newSpace(ann)
  await letIn(ann, space, 'Editor', bob)
  const dataset = await newDataset(ann, { name: 'Plots', space: [space] })
  const file = await upload(ann.call, dataset, 'words', 'plot.txt')
  return { space, dataset, file, path: `/api/files/${file}` }
}
const listed = async (who: Somebody, path: string): Promise<readonly Shown[]> => {
  const { status, body } = await who.get(`${path}/comments`)
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body as readonly Shown[]
}
const texts = async (who: Somebody, path: string) => (await listed(who, path)).map(({ text }) => text)
const feedOf = async (who: Somebody): Promise<readonly { event_type: string; object_name: string; user: { id: string } }[]> => {
  await server.drained(60_000)
  return (await who.get('/api/events?limit=200')).body as never
}
const storedOf = async (target: string) => {
  const { items } = await server.get(DocumentStore).find(comments, { using: 'byTarget', limit: 1000 })
  return items.filter(each => each.target.id === target)
}

test('comments are returned with their authors, and replies with their parents', async t => {
  const { path, file, dataset } = await scene()
  const first = await say(ann, `${path}/comment`, 'first')
  const reply = await say(bob, `/api/comment/${first}`, ' reply ')
  const deeper = await say(ann, `/api/comment/${reply}`, 'deeper')
  const all = (await bob.get(`${path}/comments`)).body as Shown[]
  t.deepEqual(
    all.map(({ id, text, comment_id }) => [id, text, comment_id]),
    [
      [first, 'first', null],
      [reply, 'reply', first],
      [deeper, 'deeper', reply],
    ],
  )
  t.like(all[0], { file_id: file, author: { id: ann.id, email: ann.email } })
  t.regex(all[0]?.author.fullName ?? '', /^ann Number \d+$/)
  const on = await say(bob, `/api/datasets/${dataset}/comment`, 'on the dataset')
  t.like((await ann.get(`/api/datasets/${dataset}/comments`)).body as Shown[], [{ id: on, dataset_id: dataset }])
  const section = await sectionOf(ann, file)
  const there = await say(bob, `/api/sections/${section}/comments`, 'on the section')
  const answer = await say(ann, `/api/comment/${there}`, 'so it is')
  t.like((await bob.get(`/api/sections/${section}/comments`)).body as Shown[], [
    { id: there, section_id: section },
    { id: answer, section_id: section, comment_id: there },
  ])
})

test('email addresses, and avatars that reveal them, are shown only to callers who may view the account', async t => {
  const { dataset, file, path } = await scene()
  await say(ann, `${path}/comment`, 'seen by all')
  await ann.put(`/api/datasets/${dataset}/access?access=PUBLIC`)
  const [seen] = await listed(await somebody(server, 'fay'), `/api/files/${file}`)
  t.is(seen?.author.email, undefined)
  t.regex(seen?.author.avatarURL ?? '', /\/api\/avatars\/-/)
  t.true(seen?.author.fullName.startsWith('ann'))
})

test('without the right to view a resource, its comments cannot be read, replied to or changed', async t => {
  const { path, space } = await scene()
  const comment = await say(bob, `${path}/comment`, 'mine')
  t.is((await eve.get(`${path}/comments`)).status, 404)
  t.is((await eve.post(`${path}/comment`, { text: 'x' })).status, 404)
  const tries = async (who: Somebody) => [
    (await who.post(`/api/comment/${comment}`, { text: 'x' })).status,
    (await who.post(`/api/comment/${comment}/editComment`, { commentText: 'x' })).status,
    (await who.call(`/api/comment/${comment}/removeComment`, { method: 'DELETE', json: {} })).status,
  ]
  t.deepEqual(await tries(eve), [404, 404, 404])
  await letIn(ann, space, 'Editor')
  t.deepEqual(await tries(bob), [404, 404, 404], 'not even by the author, who may no longer view the resource')
  t.deepEqual(await texts(ann, path), ['mine'])
})

test('only its author can edit or delete a comment', async t => {
  const { path } = await scene()
  const comment = await say(bob, `${path}/comment`, 'before')
  const edit = (who: Pick<Somebody, 'post'>, query = '') =>
    who.post(`/api/comment/${comment}/editComment${query}`, { commentText: 'after' })
  const remove = (who: Pick<Somebody, 'call'>, query = '') =>
    who.call(`/api/comment/${comment}/removeComment${query}`, { method: 'DELETE', json: {} })
  t.is((await edit(ann)).status, 403)
  t.is((await edit(admin, '?superAdmin=true')).status, 403)
  t.is((await remove(ann)).status, 403)
  t.is((await remove({ call: server.as(server.admin.key) }, '?superAdmin=true')).status, 403)
  t.is((await server.as()(`/api/comment/${comment}/removeComment`, { method: 'DELETE', json: {} })).status, 401)
  t.deepEqual(await texts(ann, path), ['before'])
  t.deepEqual((await edit(bob)).body, { status: 'success' })
  t.is((await bob.post(`/api/comment/${comment}/editComment`, { commentText: '  ' })).status, 400)
  t.is((await bob.post(`/api/comment/${comment}/editComment`, { text: 'x' })).status, 400)
  t.deepEqual(await texts(ann, path), ['after'])
  t.is((await remove(bob)).status, 200)
  t.is((await remove(bob)).status, 404)
  t.deepEqual(await texts(ann, path), [])
  t.is((await bob.remove(`/api/comment/${unknownId}/removeComment`)).status, 404)
})

test('an invalid comment is refused', async t => {
  const { path, dataset, file } = await scene()
  const section = await sectionOf(ann, file)
  const comment = await say(ann, `${path}/comment`, 'there')
  t.is((await ann.post(`${path}/comment`, {})).status, 404)
  t.is((await ann.post(`/api/datasets/${dataset}/comment`, { text: ' ' })).status, 400)
  t.is((await ann.post(`/api/sections/${section}/comments`, {})).status, 400)
  for (const wrong of [{}, { text: '' }, { text: 5 }, { text: 'x'.repeat(10_001) }, { text: 'a\u0000b' }])
    t.is((await ann.post(`/api/comment/${comment}`, wrong)).status, 400, JSON.stringify(wrong).slice(0, 40))
  t.is((await ann.post(`/api/comment/${unknownId}`, { text: 'x' })).status, 404)
  t.deepEqual(await texts(ann, path), ['there'])
})

test('deleting a comment hides all replies at once and deletes them soon after', async t => {
  const { path, file } = await scene()
  const top = await say(ann, `${path}/comment`, 'top')
  await say(ann, `${path}/comment`, 'stays')
  let last = top
  for (let deep = 0; deep < 5; deep += 1) last = await say(bob, `/api/comment/${last}`, `deep ${deep}`)
  await ann.call(`/api/comment/${top}/removeComment`, { method: 'DELETE' })
  t.deepEqual(await texts(bob, path), ['stays'])
  t.is((await bob.post(`/api/comment/${last}`, { text: 'x' })).status, 404)
  t.is((await bob.post(`/api/comment/${last}/editComment`, { commentText: 'x' })).status, 404)
  await server.drained(60_000)
  t.is((await storedOf(file)).length, 1)
})

test('replies posted while a comment is being deleted are deleted with it', async t => {
  const { path, file } = await scene()
  for (let round = 0; round < 5; round += 1) {
    const top = await say(ann, `${path}/comment`, 'top')
    const replies = [bob, ann, bob, ann].map(who => who.post(`/api/comment/${top}`, { text: 'quick' }))
    const gone = ann.call(`/api/comment/${top}/removeComment`, { method: 'DELETE', json: {} })
    for (const { status } of await Promise.all(replies)) t.true([200, 404].includes(status), String(status))
    t.is((await gone).status, 200)
    t.deepEqual(await texts(ann, path), [])
    await server.drained(60_000)
    t.deepEqual(await storedOf(file), [])
  }
})

test('replies are nested at most 20 deep', async t => {
  const { path } = await scene()
  let last = await say(ann, `${path}/comment`, 'top')
  for (let deep = 0; deep < 20; deep += 1) last = await say(ann, `/api/comment/${last}`, 'deeper')
  t.is((await ann.post(`/api/comment/${last}`, { text: 'too deep' })).status, 400)
})

test('comments and replies are deleted with their file, including those posted concurrently', async t => {
  const { path, file } = await scene()
  const top = await say(ann, `${path}/comment`, 'top')
  const writing = [bob, ann, bob].map(who => who.post(`${path}/comment`, { text: 'quick' }))
  const answering = bob.post(`/api/comment/${top}`, { text: 'quick reply' })
  await ann.remove(path)
  await Promise.all([...writing, answering])
  t.is((await ann.get(`${path}/comments`)).status, 404)
  await server.drained(60_000)
  t.deepEqual(await storedOf(file), [])
})

const nameOf = async (who: Somebody): Promise<string> => {
  const { body } = await who.get('/api/me')
  return (body as { fullName: string }).fullName
}
const mailsTo = (who: Somebody) => mailer.sent.filter(({ to }) => to.includes(who.email))
const mentioned = async (who: Somebody) =>
  (await feedOf(who)).filter(({ event_type }) => event_type.startsWith('mention_')).filter(({ user }) => user.id === who.id).length

test.serial('a user mentioned in a comment is notified once, in their feed and by mail', async t => {
  const { path } = await scene()
  const [before, mails] = [await mentioned(bob), mailsTo(bob).length]
  const comment = await say(ann, `${path}/comment`, `Look, @${await nameOf(bob)}, and @${bob.email}: here`)
  const [line] = (await feedOf(bob)).filter(({ event_type }) => event_type === 'mention_file_comment')
  t.like(line, { object_name: 'plot.txt', targetuser: { id: ann.id } })
  t.is(await mentioned(bob), before + 1)
  const [mail, ...others] = mailsTo(bob).slice(mails)
  t.deepEqual(others, [])
  t.regex(mail?.subject ?? '', /^ann Number \d+ mentioned you in a comment on the file plot\.txt$/)
  t.true(mail?.text.includes('and @'), 'quotes the comment')
  await ann.post(`/api/comment/${comment}/editComment`, { commentText: `Look again, @${bob.email}` })
  t.is(await mentioned(bob), before + 1)
  t.is(mailsTo(bob).length, mails + 1)
})

test.serial('an edit notifies new mentions, and only users who may view the resource', async t => {
  const { path, dataset } = await scene()
  const [toBob, toEve, toAnn] = [await mentioned(bob), await mentioned(eve), await mentioned(ann)]
  const mails = mailer.sent.length
  const comment = await say(ann, `/api/datasets/${dataset}/comment`, `write to ${bob.email} or @nobody, @ Bob, @${eve.email} @${ann.email}`)
  t.is(await mentioned(bob), toBob, 'an address without @ before it is no mention')
  await ann.post(`/api/comment/${comment}/editComment`, { commentText: `@${await nameOf(bob)}! @${await nameOf(eve)}` })
  t.is(await mentioned(bob), toBob + 1)
  t.deepEqual([await mentioned(eve), await mentioned(ann)], [toEve, toAnn])
  t.is(mailer.sent.length, mails + 1)
  t.is(mailsTo(eve).length, 0)
  t.is((await eve.get(`${path}/comments`)).status, 404)
})

test.serial('a mention in a comment on a section refers to its file', async t => {
  const { file } = await scene()
  const before = await mentioned(bob)
  await say(ann, `/api/sections/${await sectionOf(ann, file)}/comments`, `@${bob.email} here`)
  const [line] = (await feedOf(bob)).filter(({ event_type }) => event_type.startsWith('mention_'))
  t.like(line, { event_type: 'mention_file_comment', object_name: 'plot.txt' })
  t.is(await mentioned(bob), before + 1)
})

test.serial('a client that handles mentions by itself causes no second notification', async t => {
  const { file, path } = await scene()
  const ask = (who: Somebody, user: string, more = '', by = who.id) =>
    who.post(`/api/comment/mention?userID=${user}&resourceID=${file}&resourceType=file&commenterId=${by}${more}`)
  const [before, mails] = [await mentioned(bob), mailsTo(bob).length]
  await say(ann, `${path}/comment`, `@${bob.email} look`)
  t.deepEqual((await ask(ann, bob.id, '&resourceName=forged')).body, `Mention event added to user id ${bob.id}'s feed`)
  await ask(ann, bob.id)
  t.is(await mentioned(bob), before + 1)
  t.is(mailsTo(bob).length, mails + 1)
  await say(ann, `${path}/comment`, 'found by the page alone')
  await ask(ann, bob.id)
  t.is(await mentioned(bob), before + 2)
  t.is((await ask(ann, eve.id)).status, 404, 'Eve is invisible to Ann')
  await letIn(ann, await newSpace(ann), 'Viewer', eve)
  t.is((await ask(ann, eve.id)).status, 400, 'Eve is visible to Ann, but may not view the file')
  t.is((await ask(ann, bob.id, '', bob.id)).status, 400)
  t.is((await ask(eve, bob.id)).status, 404)
  await ann.remove(path)
  await server.drained(60_000)
  const { items } = await server.get(DocumentStore).find(mentions, { using: 'byTarget', limit: 1000 })
  t.deepEqual(
    items.filter(({ target }) => target.id === file),
    [],
  )
})

test('a comment stored by a version without replies is shown and can be replied to', async t => {
  const { path, file } = await scene()
  const old = '00000000000000000000000c'
  const written = {
    target: { kind: 'file', id: file } as const,
    parent: null,
    author: ann.id,
    text: 'old',
    posted: '2026-11-01T00:00:00.000Z',
  }
  await server.get(DocumentStore).commit({ insert: { id: old, ...written }, into: comments })
  await say(bob, `/api/comment/${old}`, 'new')
  t.deepEqual(await texts(ann, path), ['old', 'new'])
})

test.serial('a mail that could not be sent is sent once the mail server is available again', async t => {
  const { path } = await scene()
  await server.drained()
  const mails = mailsTo(bob).length
  const { send } = mailer
  let refused = 0
  mailer.send = async () => {
    refused += 1
    mailer.send = send
    throw new Unavailable('The mail server is unavailable')
  }
  await say(ann, `${path}/comment`, `@${bob.email} wait for it`)
  await server.drained(60_000)
  t.is(refused, 1)
  t.is(mailsTo(bob).length, mails + 1)
})
