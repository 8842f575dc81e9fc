import test from 'ava'
import { anonymous, type Collections, type Datasets, type Folders, type Policy, type Ref, type Spaces } from 'pounce/sdk'
import { PlacePaths } from './place-paths.ts'

const folder = (id: string): Ref => ({ kind: 'folder', id })

/** A space with a dataset; each folder (`f0` and up) is in the previous one. Counts the reads. */
const world = ({ hidden = [] as readonly string[] } = {}) => {
  let reads = 0
  const reading =
    <T>(one: (id: string) => T | undefined) =>
    (ids: readonly string[]) => {
      reads += 1
      return Promise.resolve(new Map(ids.flatMap(id => (one(id) ? [[id, one(id)] as const] : []))))
    }
  const folders = {
    getMany: reading(id => {
      const depth = Number(/^f(\d+)$/.exec(id)?.[1])
      if (Number.isNaN(depth)) return undefined
      const parent = depth === 0 ? { kind: 'dataset', id: 'd' } : { kind: 'folder', id: `f${depth - 1}` }
      return { displayName: `folder ${depth}`, parent }
    }),
  } as unknown as Folders
  const datasets = { getMany: reading(id => ({ name: `dataset ${id}`, spaces: ['s'], collections: ['c'] })) } as unknown as Datasets
  const spaces = { getMany: reading(id => ({ name: `space ${id}` })) } as unknown as Spaces
  const collections = { getMany: reading(id => ({ name: `collection ${id}` })) } as unknown as Collections
  const seen = (_caller: unknown, _kind: unknown, ids: readonly string[]) => {
    reads += 1
    return Promise.resolve(new Set(ids.filter(id => !hidden.includes(id))))
  }
  return { paths: new PlacePaths({ seen } as unknown as Policy, spaces, collections, datasets, folders), reads: () => reads }
}

const namesOf = async (containers: readonly Ref[], hidden: readonly string[] = []) => {
  const [path] = await world({ hidden }).paths.of([containers], anonymous)
  return path?.map(({ name }) => name)
}

test('a path leads from the space to the folder', async t => {
  t.deepEqual(await namesOf([folder('f1')]), ['space s', 'dataset d', 'folder 0', 'folder 1'])
})

test('hidden containers are omitted, as are folders of a hidden dataset', async t => {
  t.deepEqual(await namesOf([folder('f1')], ['s']), ['collection c', 'dataset d', 'folder 0', 'folder 1'])
  t.deepEqual(await namesOf([folder('f1')], ['s', 'c']), ['dataset d', 'folder 0', 'folder 1'])
  t.deepEqual(await namesOf([folder('f1')], ['d']), [])
  t.deepEqual(await namesOf([folder('f1'), { kind: 'dataset', id: 'e' }], ['d']), ['space s', 'dataset e'])
  t.deepEqual(await namesOf([]), [])
})

test('a page of many resources needs no more reads than one resource', async t => {
  const [one, many] = [world(), world()]
  await one.paths.of([[folder('f3')]], anonymous)
  const lists = Array.from({ length: 900 }, (_, n) => [n % 2 ? folder(`f${n % 4}`) : ({ kind: 'dataset', id: `d${n}` } as const)])
  t.is((await many.paths.of(lists, anonymous)).length, 900)
  t.true(many.reads() <= one.reads(), `${many.reads()} reads`)
})
