import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { type BagShape, bagZip, type Files, importBag } from '../support/bags.ts'
import { slowness } from '../support/slowness.ts'
import { newDataset, somebody } from '../support/spaces-and-people.ts'

const server = await bootForTest()
const [ann, bob] = [await somebody(server), await somebody(server)]
test.after.always(() => server.stop())

/** The longest CPU time of one turn of the event loop during `work`, in ms. */
const longestTurn = async (work: () => Promise<unknown>): Promise<number> => {
  let [last, longest] = [process.threadCpuUsage(), 0]
  const ticking = setInterval(() => {
    const { user, system } = process.threadCpuUsage(last)
    longest = Math.max(longest, (user + system) / 1000)
    last = process.threadCpuUsage()
  }, 5)
  await work()
  clearInterval(ticking)
  return longest
}

/** In ms. Without the fix this takes seconds even on a fast machine. */
const muchTooLong = 2500
const deep = (folders: number, name: string): string => `${Array.from({ length: folders }, (_, at) => `${name}${at}`).join('/')}/x`
const many = (count: number, folders: number): Files =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [deep(folders, `${at}-`), '']))
const withSidecar = (json: string): Files => ({ 'a.txt': 'a', 'a.txt_info.json': '{}', 'a.txt_metadata.json': json, '_info.json': '{}' })
const leaves = (count: number): string => `{"content":[${Array(count).fill('0').join()}]}`

const costly: readonly (readonly [string, Files, BagShape, number, RegExp])[] = [
  ['blanks in bag-info.txt', {}, { tags: { 'bag-info.txt': `${' '.repeat(200_000)}x` } }, 200, /^$/],
  [
    'blanks in a manifest',
    {},
    { tags: { 'manifest-sha256.txt': `${'0'.repeat(64)}${' '.repeat(200_000)}\n` } },
    400,
    /not a digest and a path/,
  ],
  [
    'a manifest line repeated 100,000 times',
    { a: 'a' },
    { tags: { 'manifest-sha256.txt': `${'0'.repeat(64)}  data/a\n`.repeat(100_000) } },
    ...([400, /lists "data\/a" twice/] as const),
  ],
  [
    'paths with thousands of slashes',
    Object.fromEntries([...Array(1000).keys()].map(at => [`${'a/'.repeat(4000)}${at}`, ''])),
    {},
    400,
    /is nested deeper than/,
  ],
  ['far more folders than entries', many(400, 99), {}, 400, /too many folders \(\d+\)/],
  ['a sidecar of more than 4 MiB', withSidecar(JSON.stringify({ content: { a: 'x'.repeat(5 << 20) } })), {}, 413, /at most 4194304 bytes/],
  ['a sidecar of a million values', withSidecar(leaves(1_000_000)), {}, 413, /at most 20000 values/],
  ['a sidecar of 15,000 documents', withSidecar(`[${Array(15_000).fill('{}').join()}]`), {}, 413, /at most 10001 metadata documents/],
  [
    'a sidecar of 30,000 members',
    withSidecar(`{${Array.from({ length: 30_000 }, (_, at) => `"${at}":0`).join()}}`),
    {},
    413,
    /at most 20000/,
  ],
]

for (const [what, files, shape, expected, message] of costly) {
  test.serial(`a bag with ${what} does not block the event loop`, async t => {
    t.timeout(180_000)
    const archive = bagZip(files, shape)
    const given = { status: 0, message: '' }
    const limitMs = muchTooLong * slowness()
    const turn = await longestTurn(async () => Object.assign(given, await importBag(ann, archive)))
    t.is(given.status, expected, given.message)
    t.regex(given.message, message)
    t.true(turn < limitMs, `one turn of the event loop took ${Math.round(turn)} ms of CPU time`)
  })
}

test.serial('sidecars of more than 64 MiB in total are refused with 413', async t => {
  t.timeout(180_000)
  const large = JSON.stringify({ content: { a: 'x'.repeat((4 << 20) - 1000) } })
  const files = Object.fromEntries(
    [...Array(17).keys()].flatMap(at => [
      [`${at}`, String(at)],
      [`${at}_metadata.json`, large],
    ]),
  )
  const { status, message } = await importBag(ann, bagZip({ ...files, '_info.json': '{}' }))
  t.is(status, 413, message)
  t.regex(message, /at most 67108864 bytes of JSON in total/)
})

test.serial('a bag with three documents per file is imported, however many files it has', async t => {
  t.timeout(300_000)
  const documents = (name: string): string => JSON.stringify(['a', 'b', 'c'].map(key => ({ content: { [key]: name } })))
  const files = Array.from({ length: 5002 }, (_, at): [string, string][] => [
    [`${at}`, ''],
    [`${at}_metadata.json`, documents(`${at}`)],
  ])
  const archive = bagZip({ ...Object.fromEntries(files.flat()), '_info.json': '{}' })
  const { status, id, text } = await importBag(ann, archive)
  t.is(status, 200, text)
  const [file] = (await ann.get(`/api/datasets/${id}/files?limit=1`)).body as { id: string }[]
  const added = (await ann.get(`/api/files/${file?.id}/metadata.jsonld`)).body as { content: Record<string, string> }[]
  t.deepEqual(
    added.flatMap(({ content }) => Object.keys(content)).filter(key => ['a', 'b', 'c'].includes(key)),
    ['a', 'b', 'c'],
  )
})

test.serial('a bag with thousands of metadata documents of one resource is imported, each within the limits of one', async t => {
  t.timeout(300_000)
  const documents = Array.from({ length: 5000 }, (_, at) => ({ content: { at, 'a "],[{\\': [`}${at}`, 'x'.repeat(900)] } }))
  const { status, id, text } = await importBag(ann, bagZip({ '_info.json': '{}', '_dataset_metadata.json': JSON.stringify(documents) }))
  t.is(status, 200, text)
  const stored = (await ann.get(`/api/datasets/${id}/metadata.jsonld`)).body as { content: unknown }[]
  t.deepEqual(
    stored.map(({ content }) => content),
    documents.map(({ content }) => content),
  )
  for (const [list, reason] of [
    [`[{},${leaves(30_000)}]`, /at most 20000 values/],
    [`[{},${JSON.stringify({ content: 'x'.repeat(5 << 20) })}]`, /at most 4194304 bytes/],
    ['[{},]', /not valid JSON/],
    ['[{}', /not valid JSON/],
    ['[{}]]', /not valid JSON/],
    ['[{]}]', /not valid JSON/],
    ['[{}}', /not valid JSON/],
  ] as const)
    t.regex((await importBag(ann, bagZip(withSidecar(list)))).message, reason)
  t.is((await importBag(ann, bagZip(withSidecar(' [ ]\n')))).status, 200)
})

const agentsOf = async (dataset: string) =>
  ((await ann.get(`/api/datasets/${dataset}/metadata.jsonld`)).body as { agent: Record<string, string> }[]).map(({ agent }) => agent)

test.serial('the author of imported metadata is the importing user, whatever the bag specifies', async t => {
  const agents = [
    { '@type': 'cat:user', name: 'Bob', user_id: `${server.url}/api/users/${bob.id}` },
    { '@type': 'cat:user', name: 'Bob', user_id: `${server.url}/api/x/../users//${bob.id}/` },
    { '@type': 'cat:user', name: 'Ada', user_id: 'https://elsewhere.example/api/users/1' },
    { '@type': 'cat:user', name: 'Ann by another name', user_id: `${server.url}/api/users/${ann.id}` },
  ]
  for (const agent of agents) {
    const json = JSON.stringify({ agent, content: { k: 1 } })
    const { status, id, text } = await importBag(ann, bagZip({ '_dataset_metadata.json': json, 'a.txt': 'a' }))
    t.is(status, 200, text)
    const [shown] = await agentsOf(id)
    t.is(shown?.['user_id'], `${server.url}/api/users/${ann.id}`)
    t.not(shown?.['name'], agent.name)
    const isOwn = agent.user_id.includes(ann.id)
    t.is(shown?.['attributed_to'], isOwn ? undefined : `${agent.name} <${agent.user_id}>`)
  }
})

test.serial('the URL of another account as metadata agent is refused with 403 in every spelling', async t => {
  const dataset = await newDataset(ann)
  const id = bob.id
  const encoded = (text: string): string => [...text].map(each => `%${each.charCodeAt(0).toString(16)}`).join('')
  const spellings = [
    ...[`${server.url}/api/users/${id}/`, `${server.url}/api/x/../users/${id}`, `${server.url}/api//users/${id}`],
    ...[
      `${server.url}/api/users/${id.toUpperCase()}`,
      `${server.url}/api/users/${encoded(id)}`,
      `${server.url}/api/users/${encoded(encoded(id))}`,
    ],
    ...[
      `${server.url}/api/%75sers/${id}`,
      `${server.url}\\api\\users\\${id}`,
      `${server.url}/api/users/${id};x`,
      `${server.url}/api/users/./${id}`,
    ],
    ...[
      `http://other.example/API/Users/${id}?a#b`,
      `${server.url}/#/api/users/${id}`,
      `${server.url}/?user=${id}`,
      `http://${id}@x.example/api/users/`,
    ],
    ...[
      `${server.url}/api/users/\t${id.slice(0, 9)}\n${id.slice(9)}`,
      `${server.url}/api/users/email/${encodeURIComponent(bob.email.toUpperCase())}`,
    ],
  ]
  for (const spelling of spellings) {
    const posted = { agent: { '@type': 'cat:user', name: 'x', user_id: spelling }, content: { a: 1 } }
    const { status } = await ann.post(`/api/datasets/${dataset}/metadata.jsonld`, posted)
    t.is(status, 403, spelling)
  }
  t.deepEqual(await agentsOf(dataset), [])
  const own = { agent: { '@type': 'cat:user', name: 'x', user_id: `${server.url}/api//users/${ann.id}/` }, content: { a: 1 } }
  t.is((await ann.post(`/api/datasets/${dataset}/metadata.jsonld`, own)).status, 200)
  t.is((await agentsOf(dataset))[0]?.['user_id'], `${server.url}/api/users/${ann.id}`)
})
