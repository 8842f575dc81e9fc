import test from 'ava'
import type { AccessDecision, Caller, Kind, Permission, Ref } from 'pounce/sdk'
import { cast, idOf, member, policyOn, resourceOf, someone, sourcesOf, type World } from './testing-fixtures/cast.ts'

const lab = [idOf('lab')]
const dataset = (name: string): Ref => ({ kind: 'dataset', id: idOf(name) })

const world: World = {
  'space:lab': { spaces: lab },
  'space:public': { spaces: [idOf('public')], isPublic: true },
  'dataset:plain': { spaces: lab },
  'dataset:shown': { spaces: lab, isPublic: true },
  'dataset:homeless': {},
  'dataset:editors': { author: idOf('editor'), spaces: [idOf('elsewhere')] },
  'dataset:trashed': { spaces: lab, isPublic: true, state: 'trashed' },
  'dataset:building': { spaces: lab, isPublic: true, state: 'importing' },
  'file:inPlain': { author: idOf('uploader'), parents: [dataset('plain')] },
  'file:inTrash': { author: idOf('uploader'), parents: [dataset('trashed')] },
  'file:alsoInTrash': { author: idOf('uploader'), parents: [dataset('trashed'), dataset('removed')] },
  'preview:inTrash': { author: '', parents: [{ kind: 'file', id: idOf('inTrash') }] },
  'comment:inTrash': { author: idOf('stranger'), parents: [dataset('trashed')] },
  'collection:trashed': { spaces: lab, state: 'trashed' },
  'file:inBoth': { author: idOf('uploader'), parents: [dataset('trashed'), dataset('plain')] },
  'file:shared': { author: idOf('uploader'), parents: [dataset('plain'), dataset('editors')] },
  'file:sharedInTrash': { author: idOf('uploader'), parents: [dataset('trashed'), dataset('editors')] },
  'file:orphan': { author: idOf('author'), parents: [dataset('removed')] },
  'file:alone': { author: idOf('author'), parents: [] },
  'preview:ofShared': { author: '', parents: [{ kind: 'file', id: idOf('shared') }] },
  'preview:ofPlain': { author: idOf('uploader'), parents: [{ kind: 'file', id: idOf('inPlain') }] },
  'preview:ofOrphan': { author: idOf('uploader'), parents: [{ kind: 'file', id: idOf('orphan') }] },
  'user:author': { author: idOf('author'), spaces: lab },
}

/** y: allowed, n: visible but not allowed, u: invisible, f: frozen in the trash. One column for each caller of `cast`, in that order. */
type Row = readonly [mode: 'public' | 'private', thing: string, permission: Permission, verdicts: string]

//  anonymous stranger viewer editor | spaceAdmin author readOnly inactive | serverAdmin superAdmin authorsExtractor service
const table: readonly Row[] = [
  ['private', 'dataset:plain', 'ViewDataset', 'uuyy yyyu uyyy'],
  ['private', 'dataset:plain', 'DownloadFiles', 'uuny yyyu uyyy'],
  ['private', 'dataset:plain', 'EditDataset', 'uuny yynu uyyy'],
  ['private', 'dataset:plain', 'DeleteDataset', 'uunn yynu uynn'],
  ['private', 'dataset:plain', 'AddFile', 'uuny yynu uyyy'],
  ['private', 'dataset:shown', 'ViewDataset', 'yyyy yyyn yyyy'],
  ['private', 'dataset:shown', 'DownloadFiles', 'nnny yyyn nyyy'],
  ['private', 'dataset:shown', 'EditDataset', 'nnny yynn nyyy'],
  ['private', 'dataset:shown', 'DeleteDataset', 'nnnn yynn nynn'],
  ['private', 'dataset:homeless', 'ViewDataset', 'uuuu uyuu uyyy'],
  ['private', 'dataset:homeless', 'DeleteDataset', 'uuuu uyuu uynn'],
  ['private', 'dataset:trashed', 'ViewDataset', 'uuuu uyuu uyyu'],
  ['private', 'dataset:trashed', 'EditDataset', 'uuuu ufuu uffu'],
  ['private', 'dataset:trashed', 'DeleteTag', 'uuuu ufuu ufnu'],
  ['private', 'dataset:trashed', 'DownloadFiles', 'uuuu uyuu uyyu'],
  ['private', 'collection:trashed', 'DeleteCollection', 'uuuu yyuu uynu'],
  ['private', 'collection:trashed', 'DeleteDataset', 'uuuu ufuu ufnu'],
  ['private', 'dataset:trashed', 'DeleteDataset', 'uuuu yyuu uynu'],
  ['private', 'dataset:building', 'ViewDataset', 'uuuu uyuu uyyu'],
  ['private', 'dataset:building', 'DeleteDataset', 'uuuu uyuu uynu'],
  ['private', 'dataset:removed', 'ViewDataset', 'uuuu uuuu uuuu'],
  ['private', 'file:inPlain', 'ViewFile', 'uuyy yyyu uyyy'],
  ['private', 'file:inPlain', 'DeleteFile', 'uunn yynu uynn'],
  ['private', 'file:inTrash', 'ViewFile', 'uuuu uyuu uyyu'],
  ['private', 'file:inTrash', 'DeleteFile', 'uuuu ufuu ufnu'],
  ['private', 'file:inTrash', 'DeleteDataset', 'uuuu ufuu ufnu'],
  ['private', 'file:inTrash', 'DownloadFiles', 'uuuu uyuu uyyu'],
  ['private', 'file:alsoInTrash', 'EditFile', 'uuuu ufuu uffu'],
  ['private', 'preview:inTrash', 'DeleteFile', 'uuuu ufuu ufnu'],
  ['private', 'comment:inTrash', 'ViewComments', 'uyuu uyuu uyyu'],
  ['private', 'comment:inTrash', 'EditComment', 'ufuu ufuu ufnu'],
  ['private', 'file:inBoth', 'EditFile', 'uuny yynu uyyy'],
  ['private', 'file:inBoth', 'ViewFile', 'uuyy yyyu uyyy'],
  ['private', 'file:inBoth', 'DeleteFile', 'uunn yynu uynn'],
  ['private', 'file:shared', 'EditFile', 'uyny yynu uyyy'],
  ['private', 'file:shared', 'DeleteFile', 'unnn nnnu uynn'],
  ['private', 'file:shared', 'ArchiveFile', 'unnn nnnu uynn'],
  ['private', 'file:sharedInTrash', 'DeleteFile', 'unun unuu uynn'],
  ['private', 'preview:ofShared', 'DeleteFile', 'unnn nnnu uynn'],
  ['private', 'file:orphan', 'ViewFile', 'uuuu uuuu uuuu'],
  ['private', 'file:alone', 'ViewFile', 'uuuu uyuu uyyy'],
  ['private', 'preview:ofPlain', 'ViewFile', 'uuyy yyyu uyyy'],
  ['private', 'preview:ofOrphan', 'ViewFile', 'uuuu uuuu uuuu'],
  ['private', 'space:lab', 'ViewSpace', 'uuyy yyyu uyyy'],
  ['private', 'space:lab', 'EditSpace', 'uunn yynu uynn'],
  ['private', 'space:lab', 'AddResourceToSpace', 'uuny yynu uyyy'],
  ['private', 'space:public', 'ViewSpace', 'yyyy yyyn yyyy'],
  ['private', 'user:author', 'ViewUser', 'uuyy yyyu yyyy'],
  ['private', 'user:author', 'EditUser', 'uunn nynu yynn'],

  ['public', 'dataset:plain', 'ViewDataset', 'yyyy yyyn yyyy'],
  ['public', 'dataset:plain', 'DownloadFiles', 'nnny yyyn nyyy'],
  ['public', 'dataset:plain', 'EditDataset', 'nnny yynn nyyy'],
  ['public', 'dataset:plain', 'DeleteDataset', 'nnnn yynn nynn'],
  ['public', 'dataset:trashed', 'ViewDataset', 'uuuu uyuu uyyu'],
  ['public', 'dataset:trashed', 'DeleteDataset', 'uuuu yyuu uynu'],
  ['public', 'dataset:building', 'ViewDataset', 'uuuu uyuu uyyu'],
  ['public', 'dataset:removed', 'ViewDataset', 'uuuu uuuu uuuu'],
  ['public', 'file:inPlain', 'ViewFile', 'yyyy yyyn yyyy'],
  ['public', 'file:inPlain', 'EditFile', 'nnny yynn nyyy'],
  ['public', 'file:inTrash', 'ViewFile', 'uuuu uyuu uyyu'],
  ['public', 'file:inBoth', 'ViewFile', 'yyyy yyyn yyyy'],
  ['public', 'file:orphan', 'ViewFile', 'uuuu uuuu uuuu'],
  ['public', 'file:alone', 'ViewFile', 'uuuu uyuu uyyy'],
  ['public', 'file:alone', 'EditFile', 'uuuu uyuu uyyy'],
  ['public', 'preview:ofOrphan', 'ViewFile', 'uuuu uuuu uuuu'],
  ['public', 'space:lab', 'EditSpace', 'nnnn yynn nynn'],
  ['public', 'user:author', 'ViewUser', 'yyyy yyyn yyyy'],
  ['public', 'user:author', 'EditUser', 'nnnn nynn yynn'],
]

const letters: Readonly<Record<string, AccessDecision>> = { y: 'yes', n: 'no', u: 'unseen', f: 'frozen' }
const refOf = (thing: string): Ref => {
  const [kind = '', name = ''] = thing.split(':')
  return { kind: kind as Kind, id: idOf(name) }
}

for (const [mode, thing, permission, verdicts] of table)
  test(`${permission} on ${thing} of a ${mode} server`, async t => {
    const policy = policyOn(sourcesOf(world), { isPrivate: mode === 'private' })
    const expected = verdicts.replaceAll(' ', '').split('')
    const names = Object.keys(cast)
    t.is(expected.length, names.length)
    const actual: string[] = []
    for (const name of names) actual.push(`${name} ${await policy.canOn(cast[name]!, permission, refOf(thing))}`)
    t.deepEqual(
      actual,
      names.map((name, at) => `${name} ${letters[expected[at]!]}`),
    )
  })

const everywhere: readonly (readonly ['public' | 'private', Permission, string])[] = [
  ['public', 'ViewDataset', 'yyyy yyyn yyyy'],
  ['public', 'CreateDataset', 'nyyy yynn yyyy'],
  ['public', 'CreateSpace', 'nyyy yynn yynn'],
  ['public', 'DownloadFiles', 'nyyy yyyn yyyy'],
  ['private', 'ViewDataset', 'nyyy yyyn yyyy'],
  ['private', 'ViewGeoStream', 'yyyy yyyn yyyy'],
  ['private', 'CreateDataset', 'nyyy yynn yyyy'],
]
for (const [mode, permission, verdicts] of everywhere)
  test(`${permission} without a resource on a ${mode} server`, t => {
    const policy = policyOn(sourcesOf(world), { isPrivate: mode === 'private' })
    const given = Object.values(cast).map(caller => policy.can(caller, permission)[0])
    t.is(given.join(''), verdicts.replaceAll(' ', ''))
  })

test('the caller of the policy can specify, for any permission, whether an operation changes a resource in the trash', async t => {
  const policy = policyOn(sourcesOf(world), { isPrivate: true })
  const requested = (caller: string, permission: Permission, trash: 'readable' | 'frozen') =>
    policy.canOn(cast[caller]!, permission, dataset('trashed'), trash)
  t.is(await requested('author', 'EditDataset', 'readable'), 'yes')
  t.is(await requested('author', 'ViewDataset', 'frozen'), 'frozen')
  t.is(await requested('author', 'DeleteDataset', 'frozen'), 'frozen')
  t.is(await requested('spaceAdmin', 'DeleteDataset', 'frozen'), 'unseen')
  t.is(await requested('spaceAdmin', 'EditDataset', 'readable'), 'unseen')
  const author = cast['author']!
  const both = [idOf('plain'), idOf('trashed')]
  t.deepEqual([...(await policy.allowed(author, 'ViewDataset', 'dataset', both))], both)
  t.deepEqual([...(await policy.allowed(author, 'ViewDataset', 'dataset', both, 'frozen'))], [idOf('plain')])
})

test('a job key gets `frozen` for a target in the trash, and reads nothing there that its owner may not read', async t => {
  const policy = policyOn(sourcesOf(world), { isPrivate: true })
  const target = { kind: 'file', id: idOf('inTrash') } as const
  const job = { id: 'job', target, dataset: idOf('trashed') }
  const late: Caller = { ...cast['editor']!, via: 'key', scope: 'extraction', limits: { job } as never }
  t.is(await policy.canOn(late, 'AddMetadata', target), 'frozen')
  t.is(await policy.canOn(late, 'ViewFile', target), 'unseen')
  t.is(await policy.canOn(late, 'DeleteFile', target), 'unseen')
  t.is(await policy.canOn(late, 'AddMetadata', { kind: 'collection', id: idOf('trashed') }), 'unseen')
})

test('a trashed resource is in the trash for all callers; one that also has a live parent is not', async t => {
  const policy = policyOn(sourcesOf(world))
  const isThere = (thing: string) => policy.isInTrash(refOf(thing))
  for (const thing of ['dataset:trashed', 'file:inTrash', 'file:alsoInTrash', 'preview:inTrash']) t.true(await isThere(thing), thing)
  for (const thing of ['dataset:plain', 'file:inBoth', 'file:alone', 'file:orphan', 'dataset:building', 'file:none']) {
    t.false(await isThere(thing), thing)
  }
})

test('a malformed id is treated like an unknown one and never reaches the store', async t => {
  const reads = { count: 0 }
  const policy = policyOn(sourcesOf(world, reads))
  for (const id of ['', 'x', '__proto__', '0'.repeat(5000), "' or 1=1"])
    t.is(await policy.canOn(cast['superAdmin']!, 'ViewDataset', { kind: 'dataset', id }), 'unseen')
  t.is(reads.count, 0)
})

test('a kind that no plugin declares is invisible', async t => {
  t.is(await policyOn(sourcesOf(world)).canOn(cast['superAdmin']!, 'ViewSection', { kind: 'section', id: idOf('a') }), 'unseen')
})

test('`allowAnonymousDownload` lets all callers download what they may view, and permits nothing else', async t => {
  const on = { isPrivate: true, allowAnonymousDownload: true }
  const policy = policyOn(sourcesOf(world), on)
  t.is(await policy.canOn(cast['anonymous']!, 'DownloadFiles', dataset('shown')), 'yes')
  t.is(await policy.canOn(cast['anonymous']!, 'DownloadFiles', dataset('plain')), 'unseen')
  t.is(await policy.canOn(cast['viewer']!, 'DownloadFiles', dataset('plain')), 'yes')
  t.is(await policy.canOn(cast['viewer']!, 'EditDataset', dataset('plain')), 'no')
})

test('a private server can be configured to hide geostreams from anonymous callers', t => {
  t.is(policyOn(sourcesOf(world), { isPrivate: true, makeGeostreamsPublicReadable: false }).can(cast['anonymous']!, 'ViewGeoStream'), 'no')
})

test('cyclic parents grant no right and cause no endless loop', async t => {
  const circle: World = {
    'collection:a': { parents: [{ kind: 'collection', id: idOf('b') }] },
    'collection:b': { parents: [{ kind: 'collection', id: idOf('a') }] },
    'collection:c': { parents: [{ kind: 'collection', id: idOf('d') }] },
    'collection:d': {
      parents: [
        { kind: 'collection', id: idOf('c') },
        { kind: 'collection', id: idOf('top') },
      ],
    },
    'collection:top': { spaces: lab },
  }
  const policy = policyOn(sourcesOf(circle), { isPrivate: true })
  t.is(await policy.canOn(cast['author']!, 'ViewCollection', { kind: 'collection', id: idOf('a') }), 'unseen')
  t.is(await policy.canOn(cast['viewer']!, 'ViewCollection', { kind: 'collection', id: idOf('c') }), 'yes')
})

test('a chain of parents longer than the limit grants no right', async t => {
  const chain: Record<string, World[string]> = { 'collection:n20': { spaces: lab } }
  for (let at = 0; at < 20; at += 1)
    chain[`collection:n${at}`] = { author: idOf('nobody'), parents: [{ kind: 'collection', id: idOf(`n${at + 1}`) }] }
  const policy = policyOn(sourcesOf(chain))
  t.is(await policy.canOn(cast['viewer']!, 'ViewCollection', { kind: 'collection', id: idOf('n0') }), 'unseen')
  t.is(await policy.canOn(cast['viewer']!, 'ViewCollection', { kind: 'collection', id: idOf('n14') }), 'yes')
})

test('rights on a thousand files of one dataset take one read of files and one of datasets', async t => {
  const many: Record<string, World[string]> = { 'dataset:plain': { spaces: lab } }
  for (let at = 0; at < 1000; at += 1) many[`file:f${at}`] = { author: idOf('uploader'), parents: [dataset('plain')] }
  const reads = { count: 0 }
  const ids = Object.keys(many)
    .slice(1)
    .map(key => idOf(key.slice(5)))
  const policy = policyOn(sourcesOf(many, reads), { isPrivate: true })
  t.is((await policy.allowed(cast['viewer']!, 'ViewFile', 'file', [...ids.slice(2), idOf('unknown'), 'malformed'])).size, 998)
  t.is(reads.count, 2)
  t.is((await policy.allowed(cast['stranger']!, 'ViewFile', 'file', ids)).size, 0)
  t.is((await policy.allowed(cast['viewer']!, 'ViewFile', 'file', [])).size, 0)
})

test('a membership without permissions grants no right', async t => {
  const policy = policyOn(sourcesOf(world), { isPrivate: true })
  t.is(await policy.canOn(someone('guest', [member('lab', [])]), 'ViewDataset', dataset('plain')), 'unseen')
})

test('a failing store is an error, not a refusal', async t => {
  const broken = resourceOf('dataset', () => Promise.reject(new Error('away')))
  await t.throwsAsync(policyOn({ all: () => [broken] }).canOn(cast['author']!, 'ViewDataset', dataset('plain')), { message: 'away' })
})

test('an access decision on a dataset reads it once, and nothing else', async t => {
  const rights = { author: idOf('author'), spaces: lab, isPublic: false, state: 'live' } as const
  const read: (readonly string[])[] = []
  const rightsOf = async (ids: readonly string[]) => {
    read.push(ids)
    return new Map([[ids[0]!, rights]])
  }
  const policy = policyOn({ all: () => [resourceOf('dataset', rightsOf)] }, { isPrivate: true })
  const busy = someone(
    'busy',
    Array.from({ length: 300 }, (_, at) => member(`s${at}`, 'Viewer')),
  )
  await policy.canOn(busy, 'ViewDataset', dataset('plain'))
  t.deepEqual(read, [[dataset('plain').id]])
})

test('callers see resources of a kind only with its view permission, and none of an undeclared kind', async t => {
  const policy = policyOn(sourcesOf(world), { isPrivate: true })
  const viewer = someone('viewer', [member('lab', ['ViewDataset'])])
  t.deepEqual([...(await policy.seen(viewer, 'dataset', [dataset('plain').id, idOf('gone')]))], [dataset('plain').id])
  const files = Object.keys(world).filter(key => key.startsWith('file:'))
  t.is(
    (
      await policy.seen(
        viewer,
        'file',
        files.map(key => idOf(key.slice('file:'.length))),
      )
    ).size,
    0,
  )
  t.is((await policy.seen(viewer, 'stream', [idOf('plain')])).size, 0)
})
