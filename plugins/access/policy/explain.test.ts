import test from 'ava'
import type { Ref } from 'pounce/sdk'
import { cast, idOf, member, policyOn, someone, sourcesOf } from './testing-fixtures/cast.ts'

const file: Ref = { kind: 'file', id: idOf('file') }
const dataset: Ref = { kind: 'dataset', id: idOf('data') }
const policy = policyOn(
  sourcesOf({
    'file:file': { author: idOf('uploader'), parents: [dataset] },
    'file:orphan': { parents: [{ kind: 'dataset', id: idOf('gone') }] },
    'file:binned': { parents: [{ kind: 'dataset', id: idOf('bin') }] },
    'dataset:data': { spaces: [idOf('lab')] },
    'dataset:bin': { spaces: [idOf('lab')], state: 'trashed' },
  }),
  { isPrivate: true },
)

test('a right inherited from a parent is explained step by step', async t => {
  t.deepEqual(await policy.explain(cast['editor']!, 'EditFile', file), {
    verdict: 'yes',
    because: [`file ${file.id} inherits rights from dataset ${dataset.id}`, `role Editor in space ${idOf('lab')} grants EditFile`],
  })
})

test('a refusal lists why no rule grants the permission, and whether the resource is visible', async t => {
  t.deepEqual(await policy.explain(cast['viewer']!, 'EditFile', file), {
    verdict: 'no',
    because: [
      `the caller did not create file ${file.id}`,
      `file ${file.id} inherits rights from dataset ${dataset.id}`,
      `the caller did not create dataset ${dataset.id}`,
      `role Viewer in space ${idOf('lab')} does not grant EditFile`,
      `the caller holds ViewFile, so file ${file.id} is visible`,
    ],
  })
  const bin = { kind: 'dataset', id: idOf('bin') } as const
  t.deepEqual(await policy.explain(cast['viewer']!, 'ViewDataset', bin), {
    verdict: 'unseen',
    because: [
      `the caller did not create dataset ${bin.id}`,
      `dataset ${bin.id} is in the trash, where roles only grant restoring it and deleting it permanently`,
      `role Viewer in space ${idOf('lab')} grants ViewDataset`,
      `the caller does not hold ViewDataset, so dataset ${bin.id} appears not to exist`,
    ],
  })
  t.deepEqual((await policy.explain(cast['stranger']!, 'ViewDataset', dataset)).because, [
    `the caller did not create dataset ${dataset.id}`,
    `the caller has no role in a space that dataset ${dataset.id} is in`,
    `dataset ${dataset.id} is not public, and the server is private`,
    `the caller does not hold ViewDataset, so dataset ${dataset.id} appears not to exist`,
  ])
})

test('a resource frozen in the trash is explained with the right that would apply outside the trash', async t => {
  const bin = { kind: 'dataset', id: idOf('bin') } as const
  t.deepEqual(await policy.explain(cast['author']!, 'EditDataset', bin), {
    verdict: 'frozen',
    because: [`the caller created dataset ${bin.id}`, `dataset ${bin.id} is in the trash and cannot be changed: restore it first`],
  })
  const binned = { kind: 'file', id: idOf('binned') } as const
  t.is(
    (await policy.explain(cast['superAdmin']!, 'DeleteFile', binned)).because.at(-1),
    `file ${binned.id} is in the trash and cannot be changed: restore its parent first`,
  )
})

test('the explanation of a role held through a group names the group', async t => {
  const [held] = [member('lab', 'Editor')]
  const grouped = someone('grouped', [{ ...held!, group: idOf('soil') }])
  t.is(
    (await policy.explain(grouped, 'EditDataset', dataset)).because.at(-1),
    `role Editor in space ${idOf('lab')} through group ${idOf('soil')} grants EditDataset`,
  )
})

test('a parent that the reader may not view is not named', async t => {
  const both = policyOn(
    sourcesOf({
      'file:file': { author: idOf('uploader'), parents: [dataset, { kind: 'dataset', id: idOf('hidden') }] },
      'dataset:data': { spaces: [idOf('lab')] },
      'dataset:hidden': { spaces: [idOf('secret')] },
    }),
    { isPrivate: true },
  )
  const explained = await both.explain(cast['viewer']!, 'EditFile', file)
  t.is(explained.verdict, 'no')
  t.false(explained.because.join(' ').includes(idOf('hidden')))
  t.true((await both.explain(cast['viewer']!, 'EditFile', file, cast['superAdmin']!)).because.join(' ').includes(idOf('hidden')))
})

test('a permission that parents grant only together is explained for each of them', async t => {
  const editors: Ref = { kind: 'dataset', id: idOf('editors') }
  const world = {
    'file:file': { author: idOf('uploader'), parents: [dataset, editors] },
    'dataset:data': { spaces: [idOf('lab')] },
    'dataset:editors': { author: idOf('editor'), spaces: [idOf('elsewhere')] },
  }
  const shared = policyOn(sourcesOf(world), { isPrivate: true })
  t.deepEqual((await shared.explain(cast['editor']!, 'EditFile', file)).because, [
    `file ${file.id} inherits rights from dataset ${dataset.id}`,
    `role Editor in space ${idOf('lab')} grants EditFile`,
  ])
  t.deepEqual(await shared.explain(cast['editor']!, 'DeleteFile', file), {
    verdict: 'no',
    because: [
      `DeleteFile is required on all parents of file ${file.id}`,
      `the caller did not create file ${file.id}`,
      `file ${file.id} inherits rights from dataset ${dataset.id}`,
      `the caller did not create dataset ${dataset.id}`,
      `role Editor in space ${idOf('lab')} does not grant DeleteFile`,
      `the caller holds ViewFile, so file ${file.id} is visible`,
    ],
  })
  const both = someone('both', [member('lab', 'Admin'), member('elsewhere', 'Admin')])
  t.deepEqual(await shared.explain(both, 'DeleteFile', file), {
    verdict: 'yes',
    because: [
      `file ${file.id} inherits rights from dataset ${dataset.id}`,
      `role Admin in space ${idOf('lab')} grants DeleteFile`,
      `file ${file.id} inherits rights from dataset ${editors.id}`,
      `role Admin in space ${idOf('elsewhere')} grants DeleteFile`,
    ],
  })
})

test('restrictions of the account or key are listed first', async t => {
  const because = async (caller: string) => (await policy.explain(cast[caller]!, 'DeleteDataset', dataset)).because[0]
  t.is(await because('readOnlyAdmin'), 'Account is ReadOnly')
  t.is(await because('inactiveAuthor'), 'Account is not activated')
  t.is(await because('authorsExtractor'), 'An extraction key does not hold DeleteDataset')
})

test('a missing resource and one whose parents are deleted have different explanations', async t => {
  const missing = { kind: 'dataset', id: idOf('nothing') } as const
  t.deepEqual(await policy.explain(cast['superAdmin']!, 'ViewDataset', missing), {
    verdict: 'unseen',
    because: [`dataset ${missing.id} does not exist`],
  })
  const orphan = { kind: 'file', id: idOf('orphan') } as const
  t.deepEqual((await policy.explain(cast['superAdmin']!, 'ViewFile', orphan)).because, [`the parents of file ${orphan.id} no longer exist`])
})

test('every rule that grants a permission has an explanation', async t => {
  const last = async (caller: string, permission: 'ViewDataset', ref: Ref = dataset) =>
    (await policy.explain(cast[caller]!, permission, ref)).because.at(-1)
  t.is(await last('superAdmin', 'ViewDataset'), 'superadmin mode is on')
  t.is(await last('author', 'ViewDataset'), `the caller created dataset ${dataset.id}`)
  t.is(await last('service', 'ViewDataset'), 'the communication key holds ViewDataset on everything outside the trash')
  const open = policyOn(sourcesOf({ 'dataset:data': {}, 'user:u': {} }))
  t.deepEqual((await open.explain(cast['anonymous']!, 'ViewDataset', dataset)).because, ['on a public server everyone holds ViewDataset'])
  t.deepEqual((await open.explain(cast['serverAdmin']!, 'EditUser', { kind: 'user', id: idOf('u') })).because, [
    'the caller is a server admin',
  ])
  const shown = policyOn(sourcesOf({ 'dataset:data': { isPublic: true } }), { isPrivate: true })
  t.deepEqual((await shown.explain(cast['anonymous']!, 'ViewDataset', dataset)).because, [`dataset ${dataset.id} is public`])
})

test('a check without a resource is explained in one sentence', async t => {
  t.deepEqual(await policy.explain(cast['anonymous']!, 'CreateSpace'), {
    verdict: 'no',
    because: ['anonymous callers do not hold CreateSpace'],
  })
  t.deepEqual(await policy.explain(cast['viewer']!, 'CreateSpace'), {
    verdict: 'yes',
    because: ['every active account holds CreateSpace if no resource is named'],
  })
})
