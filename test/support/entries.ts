import type { ExecutionContext, TestFn } from 'ava'
import { Folders } from 'pounce/sdk'
import type { TestServer } from 'pounce/sdk/testing'
import { EntryIndex } from '../../plugins/resources/entries/entry-index.ts'
import { bagZip, importBag } from './bags.ts'
import { type Answer, type Calls, nextOf } from './calls.ts'
import { newFolder, unknownId, upload } from './scene.ts'
import { seededRandom as diceOf } from './seeded-random.ts'
import { somebody as anybody, newDataset as anyDataset, newSpace, recordPlugins, type Somebody } from './spaces-and-people.ts'

export interface Entry {
  readonly id: string
  readonly kind: 'folder' | 'file'
  readonly name: string
  readonly size: number | null
  readonly type: string | null
  readonly status: string | null
  readonly thumbnail: string | null
  readonly created: string
  readonly author: { readonly id: string; readonly fullName: string }
  readonly folder: string | null
  readonly entries: number | null
  readonly path?: readonly string[]
}

export interface EntryPage {
  readonly entries: readonly Entry[]
  readonly total: number | null
  readonly totalBytes: number | null
}

/** The plugins, except the document store. */
export const entryPlugins: readonly string[] = [
  ...recordPlugins.filter(plugin => plugin !== 'documents.sqlite'),
  'resources.relations',
  'resources.entries',
]

const address = (dataset: string, query: Readonly<Record<string, string>> = {}): string =>
  `/api/datasets/${dataset}/entries?${new URLSearchParams(query)}`

const pageOf = ({ status, body }: Answer): EntryPage => {
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body as EntryPage
}

/** Every entry of a list, read in pages of the given size. */
export const allEntries = async (
  get: Calls['get'],
  dataset: string,
  query: Readonly<Record<string, string>> = {},
): Promise<readonly Entry[]> => {
  const entries: Entry[] = []
  for (let next: string | undefined = address(dataset, { limit: '1000', ...query }); next !== undefined; ) {
    const answer: Answer = await get(next)
    entries.push(...pageOf(answer).entries)
    next = nextOf(answer)
  }
  return entries
}

const names = (entries: readonly { readonly name: string }[]): readonly string[] => entries.map(({ name }) => name)
const sumOf = (entries: readonly Entry[]): number => entries.reduce((sum, { size }) => sum + (size ?? 0), 0)

/** Compares the totals of a list with its pages: undefined if they match, otherwise the mismatch. */
const isCounted = async (get: Calls['get'], dataset: string, query: Readonly<Record<string, string>>): Promise<unknown> => {
  const { total, totalBytes } = pageOf(await get(address(dataset, { limit: '1', ...query })))
  const entries = await allEntries(get, dataset, query)
  const found = { total: entries.length, totalBytes: sumOf(entries) }
  return total === found.total && totalBytes === found.totalBytes ? undefined : { query, total, totalBytes, found }
}

/**
 * Tests of the list of entries on any document store. `indexed`: with the index of large datasets, which is updated asynchronously and is awaited
 * before reads.
 */
export const entryTests = (base: TestFn, serverOf: () => TestServer, how: 'sorted' | 'indexed'): void => {
  const isIndexed = how === 'indexed'
  const test = (title: string, implementation: (t: ExecutionContext) => Promise<void>): void => {
    base(`${how}: ${title}`, implementation)
  }
  const somebody = async (server: TestServer): Promise<Somebody> => {
    const person = await anybody(server)
    const get: Somebody['get'] = async (...requested) => {
      if (isIndexed) await server.drained()
      return person.get(...requested)
    }
    return { ...person, get }
  }
  const newDataset: typeof anyDataset = async (by, body) => {
    const id = await anyDataset(by, body)
    if (isIndexed) await serverOf().get(EntryIndex).request(id)
    return id
  }

  /** A dataset with two top-level folders, a subfolder in the first one, and files in all of them. */
  const scene = async (ann: Somebody) => {
    const dataset = await newDataset(ann)
    const [late, early] = [await newFolder(ann.call, dataset, 'run 10'), await newFolder(ann.call, dataset, 'run 9')]
    const deep = await newFolder(ann.call, dataset, 'Deep', late)
    const put = (name: string, bytes: string, type = 'text/plain', folder?: string) =>
      upload(ann.call, dataset, bytes, name, { type, query: `extract=false${folder ? `&folder_id=${folder}` : ''}` })
    const files = {
      ten: await put('table 10.csv', '1234567890', 'text/csv'),
      two: await put('Table 2.csv', '12', 'text/csv'),
      note: await put('a note.txt', '123'),
      inLate: await put('inside 1.txt', '1234', 'text/plain', late),
      inDeep: await put('deepest table.txt', '12345', 'text/plain', deep),
    }
    return { dataset, late, early, deep, files, put }
  }

  test('folders come first, and names in natural order', async t => {
    const ann = await somebody(serverOf())
    const { dataset, late, files } = await scene(ann)
    const answer = await ann.get(address(dataset))
    const { entries } = pageOf(answer)
    t.deepEqual(names(entries), ['run 9', 'run 10', 'a note.txt', 'Table 2.csv', 'table 10.csv'])
    t.is(nextOf(answer), undefined)
    const created = entries[1]?.created ?? ''
    t.regex(created, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const author = { id: ann.id, fullName: entries[0]?.author.fullName ?? '' }
    t.truthy(author.fullName)
    const none = { size: null, type: null, status: null, thumbnail: null }
    t.deepEqual(entries[1], { id: late, kind: 'folder', name: 'run 10', ...none, created, author, folder: null, entries: 2 })
    const file = { size: 10, type: 'text/csv', status: 'PROCESSED', thumbnail: null }
    t.like(entries[4], { id: files.ten, kind: 'file', name: 'table 10.csv', ...file, author, folder: null })
    t.deepEqual(names(await allEntries(ann.get, dataset, { folder: late })), ['Deep', 'inside 1.txt'])
  })

  test('entries are sorted by size, type and time of creation, in either order', async t => {
    const ann = await somebody(serverOf())
    const { dataset } = await scene(ann)
    const sorted = async (sort: string, order: string) => names(await allEntries(ann.get, dataset, { sort, order }))
    const folders = ['run 9', 'run 10']
    const expected = {
      name: ['a note.txt', 'Table 2.csv', 'table 10.csv'],
      size: ['Table 2.csv', 'a note.txt', 'table 10.csv'],
      type: ['Table 2.csv', 'table 10.csv', 'a note.txt'],
    }
    for (const [sort, files] of Object.entries(expected)) {
      t.deepEqual(await sorted(sort, 'ascending'), [...folders, ...files], sort)
      t.deepEqual(await sorted(sort, 'descending'), [...folders.toReversed(), ...files.toReversed()], sort)
    }
    t.deepEqual(await sorted('created', 'ascending'), ['run 10', 'run 9', 'table 10.csv', 'Table 2.csv', 'a note.txt'])
    t.deepEqual(await sorted('created', 'descending'), ['run 9', 'run 10', 'a note.txt', 'Table 2.csv', 'table 10.csv'])
  })

  test('small pages return the same list as a large one, in every order', async t => {
    const ann = await somebody(serverOf())
    const { dataset, late, put } = await scene(ann)
    // Equal in all sort keys.
    for (let n = 0; n < 3; n++) await put('same.txt', 'same')
    for (const sort of ['name', 'size', 'type', 'created'])
      for (const order of ['ascending', 'descending'])
        for (const more of [{}, { recursive: 'true' }, { recursive: 'true', folder: late }, { filter: 'T' }]) {
          const query = { sort, order, ...more }
          const whole = await allEntries(ann.get, dataset, query)
          for (const limit of ['1', '2', '5'])
            t.deepEqual(await allEntries(ann.get, dataset, { ...query, limit }), whole, JSON.stringify(query))
        }
  })

  test('a recursive list contains the entries of all subfolders with their paths', async t => {
    const ann = await somebody(serverOf())
    const { dataset, late, deep, early } = await scene(ann)
    const shown = (entries: readonly Entry[]) => entries.map(({ name, path = [], folder }) => [[...path, name].join('/'), folder])
    const recursive = 'true'
    t.deepEqual(shown(await allEntries(ann.get, dataset, { recursive })), [
      ['run 10/Deep', late],
      ['run 9', null],
      ['run 10', null],
      ['a note.txt', null],
      ['run 10/Deep/deepest table.txt', deep],
      ['run 10/inside 1.txt', late],
      ['Table 2.csv', null],
      ['table 10.csv', null],
    ])
    t.deepEqual(shown(await allEntries(ann.get, dataset, { recursive, folder: late })), [
      ['Deep', late],
      ['Deep/deepest table.txt', deep],
      ['inside 1.txt', late],
    ])
    t.deepEqual(await allEntries(ann.get, dataset, { recursive, folder: early }), [])
  })

  test('a filter matches names that contain a string, ignoring case, in a folder or below it', async t => {
    const ann = await somebody(serverOf())
    const { dataset, late } = await scene(ann)
    const found = async (query: Readonly<Record<string, string>>) => names(await allEntries(ann.get, dataset, query))
    t.deepEqual(await found({ filter: 'TABLE' }), ['Table 2.csv', 'table 10.csv'])
    t.deepEqual(await found({ filter: 'table', recursive: 'true' }), ['deepest table.txt', 'Table 2.csv', 'table 10.csv'])
    t.deepEqual(await found({ filter: 'deep', recursive: 'true', folder: late }), ['Deep', 'deepest table.txt'])
    t.deepEqual(await found({ filter: 'nowhere' }), [])
    t.deepEqual(await found({ filter: '.*' }), [])
    const { total, totalBytes } = pageOf(await ann.get(address(dataset, { filter: 'table' })))
    t.deepEqual([total, totalBytes], isIndexed ? [null, null] : [2, 12])
  })

  test('a renamed file or folder is sorted by its new name', async t => {
    const ann = await somebody(serverOf())
    const { dataset, early, files } = await scene(ann)
    await ann.put(`/api/files/${files.note}/filename`, { name: 'table 3.csv' })
    await ann.put(`/api/datasets/${dataset}/updateName/${early}`, { name: 'run 11' })
    const expected = ['run 10', 'run 11', 'Table 2.csv', 'table 3.csv', 'table 10.csv']
    t.deepEqual(names(await allEntries(ann.get, dataset)), expected)
    t.deepEqual(names(await allEntries(ann.get, dataset, { sort: 'type' })), [
      'run 10',
      'run 11',
      'Table 2.csv',
      'table 10.csv',
      'table 3.csv',
    ])
  })

  test('the contents of a deleted folder are not listed after the response', async t => {
    const ann = await somebody(serverOf())
    const { dataset, late, deep } = await scene(ann)
    await ann.remove(`/api/datasets/${dataset}/deleteFolder/${late}`)
    t.deepEqual(names(await allEntries(ann.get, dataset, { recursive: 'true' })), ['run 9', 'a note.txt', 'Table 2.csv', 'table 10.csv'])
    for (const folder of [late, deep]) t.is((await ann.get(address(dataset, { folder }))).status, 404)
  })

  test('a file in two folders is one entry of a recursive list and counts once', async t => {
    const ann = await somebody(serverOf())
    const { dataset, late, files } = await scene(ann)
    await ann.post(`/api/datasets/${dataset}/files/${files.inLate}`)
    const all = await allEntries(ann.get, dataset, { recursive: 'true' })
    t.is(all.filter(({ id }) => id === files.inLate).length, 1)
    t.true(names(await allEntries(ann.get, dataset)).includes('inside 1.txt'))
    t.true(names(await allEntries(ann.get, dataset, { folder: late })).includes('inside 1.txt'))
    await serverOf().drained()
    for (const query of [{}, { folder: late }, { recursive: 'true' }]) t.is(await isCounted(ann.get, dataset, query), undefined)
  })

  test('totals match the pages after any changes of files and folders', async t => {
    const server = serverOf()
    const ann = await somebody(server)
    const space = await newSpace(ann)
    const seededRandom = diceOf()
    const datasets = [await newDataset(ann, { space: [space] }), await newDataset(ann)]
    const folders = new Map<string, string>()
    const anyDataset = () => seededRandom.pick(datasets)
    const placeIn = (dataset: string) => seededRandom.pick([undefined, ...[...folders].flatMap(([id, of]) => (of === dataset ? [id] : []))])
    t.log(`seed ${seededRandom.seed}`)
    const actions: readonly (() => Promise<unknown>)[] = [
      async () => {
        const dataset = anyDataset()
        const parent = placeIn(dataset)
        folders.set(await newFolder(ann.call, dataset, `f${seededRandom.int(5)}`, parent ?? dataset), dataset)
      },
      ...Array.from({ length: 3 }, () => async () => {
        const dataset = anyDataset()
        const folder = placeIn(dataset)
        await upload(ann.call, dataset, 'x'.repeat(seededRandom.int(50)), 'x.txt', {
          query: `extract=false${folder ? `&folder_id=${folder}` : ''}`,
        })
      }),
      async () => {
        const [from, to] = [anyDataset(), anyDataset()]
        const file = seededRandom.pick((await allEntries(ann.get, from)).filter(({ kind }) => kind === 'file'))
        const folder = placeIn(to)
        if (file) await ann.post(`/api/datasets/${from}/moveBetweenDatasets/${to}/${file.id}${folder ? `?toFolder=${folder}` : ''}`)
      },
      async () => {
        const [dataset, other] = [anyDataset(), anyDataset()]
        const file = seededRandom.pick((await allEntries(ann.get, dataset, { recursive: 'true' })).filter(({ kind }) => kind === 'file'))
        if (file) await (seededRandom.int(2) ? ann.post(`/api/datasets/${other}/files/${file.id}`) : ann.remove(`/api/files/${file.id}`))
      },
      async () => {
        const [from, to] = [anyDataset(), anyDataset()]
        const [folder, into] = [placeIn(from), placeIn(to)]
        if (!folder) return
        await ann.post(`/api/datasets/${from}/moveFolder/${folder}?to=${to}${into ? `&into=${into}` : ''}`)
        await server.drained()
        for (const id of folders.keys()) {
          const now = await server.get(Folders).get(id)
          if (now) folders.set(id, now.dataset)
          else folders.delete(id)
        }
      },
      async () => {
        const dataset = anyDataset()
        const folder = placeIn(dataset)
        if (!folder || seededRandom.int(2)) return
        await ann.remove(`/api/datasets/${dataset}/deleteFolder/${folder}`)
        await server.drained()
        for (const id of folders.keys()) if (!(await server.get(Folders).get(id))) folders.delete(id)
      },
    ]
    for (let n = 0; n < 80; n++) await seededRandom.pick(actions)?.()
    const copied = (await ann.post(`/api/datasets/${datasets[0]}/copyDatasetToSpace/${space}`)).body as { newDatasetId: string }
    const imported = await importBag(ann, bagZip({ 'a.txt': 'one', 'deep/b.txt': 'three', 'deep/er/c.txt': 'seven' }))
    await server.drained()
    const wrong: unknown[] = []
    for (const dataset of [...datasets, copied.newDatasetId, imported.id]) {
      const entries = await allEntries(ann.get, dataset, { recursive: 'true' })
      const below = entries.flatMap(({ kind, id }) => (kind === 'folder' ? [id] : []))
      t.true(entries.length > 0)
      for (const folder of [undefined, ...below])
        for (const recursive of ['true', 'false'])
          wrong.push(await isCounted(ann.get, dataset, { recursive, ...(folder ? { folder } : {}) }))
    }
    t.deepEqual(
      wrong.filter(each => each !== undefined),
      [],
    )
  })

  test('the list below 1000 folders is the same at any page size, without totals', async t => {
    const server = serverOf()
    const ann = await somebody(server)
    const { dataset, late, early, put } = await scene(ann)
    const many = Array.from({ length: 1000 }, (_, n) => ({
      name: `many ${n}`,
      dataset,
      parent: { kind: 'folder' as const, id: early },
      author: ann.id,
    }))
    for (let at = 0; at < many.length; at += 100) await Promise.all(many.slice(at, at + 100).map(each => server.get(Folders).create(each)))
    await put('in early.txt', 'xyz', 'text/plain', early)
    const query = { recursive: 'true', folder: early }
    const entries = await allEntries(ann.get, dataset, query)
    t.deepEqual(names(entries), [...many.map(({ name }) => name), 'in early.txt'])
    t.deepEqual(await allEntries(ann.get, dataset, { ...query, limit: '300' }), entries)
    await server.drained()
    t.deepEqual(await allEntries(ann.get, dataset, query), entries)
    const { total, totalBytes } = pageOf(await ann.get(address(dataset, query)))
    t.deepEqual([total, totalBytes], [null, null])
    t.is((await ann.get(address(dataset, { ...query, skip: '5' }))).status, 400)
    t.is((await allEntries(ann.get, dataset, { recursive: 'true', folder: late })).length, 3)
    t.is(await isCounted(ann.get, dataset, { recursive: 'true' }), undefined)
  })

  test('a page starts after the number of skipped entries', async t => {
    const ann = await somebody(serverOf())
    const { dataset, late } = await scene(ann)
    for (const sort of ['name', 'size', 'type', 'created'])
      for (const order of ['ascending', 'descending'])
        for (const more of [{}, { recursive: 'true' }, { recursive: 'true', folder: late }]) {
          const query = { sort, order, ...more }
          const whole = await allEntries(ann.get, dataset, query)
          for (const skip of [0, 1, 2, 3, whole.length - 1, whole.length, whole.length + 1]) {
            const rest = await allEntries(ann.get, dataset, { ...query, skip: `${skip}`, limit: '2' })
            t.deepEqual(names(rest), names(whole.slice(skip)), JSON.stringify({ ...query, skip }))
          }
        }
    const first = await ann.get(address(dataset, { limit: '1' }))
    t.is((await ann.get(`${nextOf(first)}&skip=1`)).status, 400)
    t.is((await ann.get(address(dataset, { skip: '-1' }))).status, 400)
  })

  test('entries are listed only to callers who may view the dataset, and folders of another dataset are not found', async t => {
    const [ann, bob] = [await somebody(serverOf()), await somebody(serverOf())]
    const [{ dataset, late }, other] = [await scene(ann), await newDataset(bob)]
    for (const id of [dataset, unknownId, 'nonsense']) t.is((await bob.get(address(id))).status, 404, id)
    for (const folder of [late, unknownId, 'nonsense']) t.is((await bob.get(address(other, { folder }))).status, 404, folder)
    for (const query of [
      { after: 'nonsense' },
      { sort: 'color' },
      { limit: '0' },
      { limit: '1001' },
      { filter: '' },
      { filter: 'x'.repeat(201) },
    ])
      t.is((await ann.get(address(dataset, query as Record<string, string>))).status, 400, JSON.stringify(query))
  })
}
