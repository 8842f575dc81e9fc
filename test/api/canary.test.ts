import test from 'ava'
import { isRoute, type Plugin, type Route, type s } from 'pounce/sdk'
import {
  type AccessWorld,
  type Actor,
  accessPlugins,
  makeAccessWorld,
  privateWord,
  publicWord,
  trashWord,
} from '../support/access-world.ts'

const worlds = { private: await makeAccessWorld(true), public: await makeAccessWorld(false) } as const
test.after.always(() => Promise.all(Object.values(worlds).map(({ server }) => server.stop())))

const loaded = await Promise.all(
  accessPlugins.map(
    id => import(new URL(`../../plugins/${id.replace('.', '/')}/index.ts`, import.meta.url).href) as Promise<{ plugin: Plugin }>,
  ),
)
const routes: readonly Route[] = loaded.flatMap(({ plugin }) => Object.values(plugin.routes ?? {}).filter(isRoute))
const paths = routes.flatMap(({ declaration: { method, path, aliases = [], query } }) =>
  [{ method, path }, ...aliases.map(alias => ({ method: alias.method ?? method, path: alias.path }))]
    .filter(each => each.method === 'GET')
    .map(each => ({ path: each.path, query: query as s.TSchema | undefined })),
)

/** What is asked for by id: enough of each kind in each state. */
const things = ['space', 'collection', 'shownDataset', 'shownFile'].concat([
  'dataset',
  'folder',
  'file',
  'section',
  'preview',
  'trashedDataset',
  'trashedFolder',
  'trashedFile',
  'trashedSection',
  'trashedPreview',
  'removedDataset',
  'removedFile',
])

/** What makes lists long, searches find and trees open. */
const asked: Readonly<Record<string, readonly string[]>> = {
  query: [privateWord, publicWord, trashWord],
  title: [trashWord.slice(0, 4), ''],
  limit: ['1000'],
  size: ['100'],
  nodeType: ['root', 'space', 'collection', 'dataset', 'folder'],
  showAll: ['true'],
  token: ['x'],
}

const fillings = (path: string, query: s.TSchema | undefined, ids: readonly string[]): string[] => {
  const members = Object.keys((query as { properties?: object } | undefined)?.properties ?? {})
  const filled = /:\w+/.test(path) ? ids.map(id => path.replace(/:\w+/g, id)) : [path]
  const queries = members.flatMap(name => (asked[name] ?? []).map(value => `${name}=${encodeURIComponent(value)}`))
  const withIds = members.filter(name => /id$/i.test(name)).flatMap(name => ids.map(id => `${name}=${id}`))
  const combined = members.includes('nodeType')
    ? (asked['nodeType'] ?? []).flatMap(type => ids.map(id => `nodeType=${type}&nodeId=${id}`))
    : withIds.map(one => [one, ...queries.slice(0, 1)].join('&'))
  return filled.flatMap(each => [each, ...[...queries, ...combined].map(one => `${each}?${one}`)])
}

/** Every answer to every way of looking at every thing, as far as one caller gets it. */
const lookEverywhere = async (world: AccessWorld, { call }: Actor): Promise<{ readonly all: string; readonly answered: number }> => {
  const ids = things.map(name => String(world.ids[name]))
  let all = ''
  let answered = 0
  for (const { path, query } of paths)
    for (const each of fillings(path, query, ids)) {
      const answer = await call(each)
      const text = `${each.split('?')[0]} ${[...answer.headers.values()].join(' ')} ${await answer.text()}`
      // A search repeats the words it was asked, in its links.
      if (answer.ok)
        all += `${text.replaceAll(encodeURIComponent(each.split('?')[1] ?? '\n'), '').replaceAll(/"(?:first|prev|next|last)":"[^"]*"/g, '')}\n`
      if (answer.ok) answered += 1
    }
  return { all, answered }
}

const linesWith = (text: string, word: string): string[] =>
  text
    .split('\n')
    .filter(line => line.includes(word))
    .map(line => line.slice(0, 300))

for (const who of ['anonymous', 'stranger', 'serverAdmin'])
  test(`${who} finds no word of private things on a private server, by no way of looking`, async t => {
    const { all, answered } = await lookEverywhere(worlds.private, worlds.private.actors[who]!)
    t.deepEqual(linesWith(all, privateWord), [])
    t.deepEqual(linesWith(all, trashWord), [])
    t.true(answered > 20, String(answered))
    t.true(linesWith(all, publicWord).length > 5, 'what is public is found')
  })

for (const [mode, who] of [
  ['private', 'editor'],
  ['public', 'anonymous'],
] as const)
  test(`${who} finds nothing of what is in the trash on a ${mode} server`, async t => {
    const { all } = await lookEverywhere(worlds[mode], worlds[mode].actors[who]!)
    t.deepEqual(linesWith(all, trashWord), [])
    t.true(linesWith(all, privateWord).length > 10, 'what the caller may see is found')
  })
