import test, { type ExecutionContext } from 'ava'
import {
  ContentCounts,
  collection,
  DocumentStore,
  definePlugin,
  defineResource,
  type EventType,
  eq,
  type Kind,
  type Person,
  PersonalDataSources,
  Policy,
  port,
  ReportSources,
  Resources,
  type Rights,
  type Tag,
  TreeBranches,
  wire,
} from 'pounce/sdk'
import { countIn, createdOrTaggedBy, type RightsSource } from 'pounce/sdk/kit'
import { bootForTest } from './testing/boot-for-test.ts'

interface Bookcase {
  readonly name: string
  readonly author: string
  readonly created: string
  readonly room: string
  readonly isHidden: boolean
  readonly tags: readonly Tag[]
}

/** Kinds that no bundled plugin declares. */
const [kind, partKind] = ['group', 'key'] as const satisfies readonly Kind[]
const shelves = collection<Bookcase>()('test.shelves', { byRoom: { on: ['room', 'name'] }, byCreated: { on: ['created'] } })
const [ann, bob] = ['a'.repeat(24), 'b'.repeat(24)]
const idOf = (n: number): string => String(n).padStart(24, '0')
const asAnn = { user: { id: ann } as never, via: 'session', scope: 'full', superAdmin: false } as const

class PartRights implements RightsSource {
  async rightsOf(ids: readonly string[]): Promise<ReadonlyMap<string, Rights>> {
    return new Map(ids.map(id => [id, { author: '', spaces: [], isPublic: false, state: 'live', parents: [{ kind, id }] }]))
  }
}
wire(PartRights)

const bookcase = defineResource<Bookcase>({
  kind,
  collection: shelves,
  view: 'ViewFile',
  rights: ({ author, isHidden }) => (isHidden ? undefined : { author, spaces: [], isPublic: false, state: 'live' }),
  follow: ({ name }) => (name.startsWith('secret') ? undefined : name),
  counts: { dataset: id => ({ using: 'byRoom', where: eq('room', id) }) },
  tree: { sort: { by: 'name', order: 'descending' }, node: ({ name, author }) => ({ name, data: { author } }), isLeaf: true },
  report: { inSpace: id => ({ using: 'byRoom', where: eq('room', id) }) },
  personalData: { name: 'shelves', summary: 'Shelves.', ...createdOrTaggedBy<Bookcase>('name', 'room') },
})
const part = defineResource({ kind: partKind, view: 'ViewSection', rightsSource: PartRights })
const plugin = definePlugin({ id: 'test.shelves', summary: 'Shelves.', resources: [bookcase, part] })

const booted = async (t: ExecutionContext) => {
  const server = await bootForTest({ t, also: [plugin], config: { access: { private: true } } })
  const documents = server.get(DocumentStore)
  const tag = (user: string): Tag => ({ id: idOf(9), name: 'oak', user, created: '2026-01-01T00:00:00.000Z' }) as Tag
  for (const [n, name, more] of [
    [1, 'apples', {}],
    [2, 'beans', { author: bob, tags: [tag(ann), tag(bob)] }],
    [3, 'secret', { isHidden: true }],
    [4, 'elsewhere', { room: 'other', author: bob }],
  ] as const) {
    const record = { name, author: ann, created: '2026-01-01T00:00:00.000Z', room: 'room', isHidden: false, tags: [], ...more }
    await documents.commit({ insert: { id: idOf(n), ...record }, into: shelves })
  }
  return server
}

test('a declaration provides its collection and one contribution for each member', t => {
  t.deepEqual(plugin.collections, [shelves])
  t.deepEqual(
    plugin.provides?.map(provision => provision.port),
    [Resources, ContentCounts, TreeBranches, ReportSources, PersonalDataSources, Resources],
  )
  const own = port<object>('test.own')
  const more = definePlugin({ id: 'test.more', summary: '', resources: [part], provides: [{ port: own, by: PartRights }] })
  t.deepEqual([more.provides?.map(({ port }) => port), more.collections], [[Resources, own], []])
  t.is(definePlugin({ id: 'test.none', summary: '' }).provides, undefined)
})

test('policy, counts, tree, reports, recommendations and personal data read the declaration', async t => {
  const server = await booted(t)
  const found = server.get(Resources).all()
  const resource = found.find(one => one.kind === kind)
  t.deepEqual([resource?.view, resource?.isSearched], ['ViewFile', false])
  t.deepEqual(
    [...((await resource?.rightsOf([1, 3, 5].map(idOf))) ?? new Map()).keys()],
    [idOf(1)],
    'a resource without rights is treated as absent',
  )
  t.deepEqual([...((await resource?.namesOf?.([1, 3].map(idOf))) ?? [])], [[idOf(1), 'apples']])
  t.is(found.find(one => one.kind === partKind)?.namesOf, undefined)

  const policy = server.get(Policy)
  t.deepEqual([...(await policy.seen(asAnn, kind, [1, 2, 3, 4].map(idOf)))], [idOf(1)])
  t.deepEqual([...(await policy.seen(asAnn, partKind, [1, 2].map(idOf)))], [idOf(1)], 'a part has the rights of its parent')
  t.is((await policy.seen(asAnn, 'definition', [idOf(1)])).size, 0, 'resources of an undeclared kind are not visible')

  const counts = server.get(ContentCounts)
  t.deepEqual(
    await Promise.all([
      countIn(counts, kind, { kind: 'dataset', id: 'room' }),
      countIn(counts, kind, { kind: 'dataset', id: 'room' }, 2),
      countIn(counts, kind, { kind: 'space', id: 'room' }),
      countIn(counts, partKind, { kind: 'dataset', id: 'room' }),
    ]),
    [3, 2, 0, 0],
  )

  const branch = server
    .get(TreeBranches)
    .all()
    .find(one => one.kind === kind)
  const first = await branch?.below({ kind: 'dataset', id: 'room', mine: false }, asAnn, { limit: 2 })
  t.deepEqual(first?.items, [], 'permission to view the parent does not extend to its contents')
  const rest = await branch?.below({ kind: 'dataset', id: 'room', mine: false }, asAnn, { limit: 2, after: first?.next ?? [''] })
  t.deepEqual([rest?.items, rest?.next], [[{ kind, id: idOf(1), name: 'apples', hasChildren: false, data: { author: ann } }], undefined])
  for (const parent of [
    { kind: 'root', mine: false },
    { kind: 'space', id: 'room', mine: false },
  ] as const)
    t.deepEqual(await branch?.below(parent, asAnn, { limit: 2 }), { items: [] })

  const report = server
    .get(ReportSources)
    .all()
    .find(one => one.kind === kind)
  t.deepEqual([report?.records, report?.byCreated], [shelves, { using: 'byCreated', where: [] }])
  t.deepEqual(report?.inSpace?.('room'), { using: 'byRoom', where: eq('room', 'room') })

  const personal = server
    .get(PersonalDataSources)
    .all()
    .find(one => one.name === 'shelves')
  const shown = await Array.fromAsync(personal?.export({ id: ann } as Person) ?? [])
  const oak = { id: idOf(9), name: 'oak', created: '2026-01-01T00:00:00.000Z' }
  t.deepEqual(shown, [
    { id: idOf(1), name: 'apples', room: 'room', tags: [] },
    { id: idOf(2), tags: [oak] },
    { id: idOf(3), name: 'secret', room: 'room', tags: [] },
  ])
})

test('the event names of a kind start with the kind', t => {
  const about = { collection: shelves, view: 'ViewFile', rights: () => undefined, name: ({ name }: Bookcase) => name } as const
  t.throws(() => defineResource<Bookcase>({ ...about, kind: 'Kite' as Kind }), { message: /lower-case letters and hyphens/ })
  t.throws(() => defineResource<Bookcase>({ ...about, kind: 'kite' as Kind, events: ['dataset.created'] }), {
    message: /declares the event type dataset\.created, which must begin with "kite\."/,
  })
  const events = ['kite.created' as EventType]
  const { name: _unnamed, ...nameless } = about
  t.throws(() => defineResource<Bookcase>({ ...nameless, kind: 'kite' as Kind, events }), {
    message: /kite has events, so it needs a name/,
  })
  const declared = definePlugin({
    id: 'test.kites',
    summary: '',
    resources: [defineResource<Bookcase>({ ...about, kind: 'kite' as Kind, events })],
  })
  t.deepEqual(declared.events, events)
})
