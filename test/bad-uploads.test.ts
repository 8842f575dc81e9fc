import { request } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import test, { type ExecutionContext } from 'ava'
import { type DeclaredRoute, declaredRoutes, fill } from './support/declared-routes.ts'
import { changes, fingerprint } from './support/fingerprint.ts'
import { type Furnished, furnished } from './support/furnished.ts'
import { ok, unknownId } from './support/scene.ts'
import { until } from './support/until.ts'

let world: Furnished
let routes: readonly DeclaredRoute[]

test.before(async () => {
  world = await furnished()
  routes = (await declaredRoutes(world.server)).filter(({ takesParts }) => takesParts)
})
test.after.always(() => world?.server.stop())

const boundary = 'frontier'
const end = `--${boundary}--\r\n`
const part = (header: string, content = 'content'): string => `--${boundary}\r\n${header}\r\n\r\n${content}\r\n`
const file = (name: string, content = 'content'): string => part(`Content-Disposition: form-data; name="File"; filename="${name}"`, content)
const field = (name: string, content: string): string => part(`Content-Disposition: form-data; name="${name}"`, content)

interface Answer {
  readonly status: number
  readonly text: string
}

/** Sends a body unchanged, in Latin-1. */
const send = (path: string, body: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const type = { 'content-type': `multipart/form-data; boundary=${boundary}` }
    const sent = request(world.server.url + path, {
      method: 'POST',
      agent: false,
      headers: { 'x-api-key': world.person.key, ...type, ...headers },
    })
    sent.on('error', reject)
    sent.on('response', answer => {
      text(answer).then(all => resolve({ status: answer.statusCode ?? 0, text: all }), reject)
    })
    sent.end(Buffer.from(body, 'latin1'))
  })

type Case = readonly [title: string, body: string, status: number, says: RegExp, headers?: Readonly<Record<string, string>>]

const broken: readonly Case[] = [
  ['JSON', '{}', 415, /multipart/, { 'content-type': 'application/json' }],
  ['a plain form', 'a=b', 415, /multipart/, { 'content-type': 'application/x-www-form-urlencoded' }],
  ['no type', 'x', 415, /multipart/, { 'content-type': '' }],
  ['no boundary', file('a.txt') + end, 400, /boundary/, { 'content-type': 'multipart/form-data' }],
  ['a compressed body', 'x', 415, /Content-Encoding/, { 'content-encoding': 'gzip' }],
  ['no part', end, 400, /./],
  ['another boundary', `--other\r\n\r\n--other--\r\n`, 400, /./],
  ['an empty body', '', 400, /./],
  ['no end', file('a.txt'), 400, /end of the body/],
  ['half a header', `--${boundary}\r\nContent-Disposition: form-data; na`, 400, /end of the body/],
  ['a part without header', `${part('')}${end}`, 400, /header|Content-Disposition/],
  ['a part of another kind', part('Content-Disposition: attachment; filename="a.txt"') + end, 400, /form-data/],
  ['a part without a name', part('Content-Disposition: form-data; filename="a.txt"') + end, 400, /name/],
  ['a name with a control character', file('a\u0001b.txt') + end, 400, /control/],
  ['an encoded line break', part(`Content-Disposition: form-data; name="File"; filename*=UTF-8''a%0Ab.txt`) + end, 400, /control/],
  ['a name with an invalid encoding', part(`Content-Disposition: form-data; name="File"; filename*=UTF-8''%E0%A4%A`) + end, 400, /5987/],
  ['dots', file('..') + end, 400, /named/],
  ['a path to dots', file('a/b/..') + end, 400, /named/],
  ['a name of 256 characters', file('x'.repeat(256)) + end, 400, /255/],
  ['a long field name', field('f'.repeat(256), 'x') + file('a.txt') + end, 400, /255/],
  ['a field that is no UTF-8', field('about', '\xff\xfe') + file('a.txt') + end, 400, /UTF-8/],
  ['a field of more than 1 MiB', field('about', 'x'.repeat(1024 * 1024 + 1)) + file('a.txt') + end, 413, /1048576/],
  ['too many parts', field('f', 'x').repeat(1001) + file('a.txt') + end, 413, /parts/],
  ['a valid file before a malformed one', file('good.txt') + file('..') + end, 400, /named/],
]

const refusedAll = async (t: ExecutionContext, path: string, cases: readonly Case[]): Promise<void> => {
  const before = await fingerprint(world.server)
  for (const [title, body, status, says, headers] of cases) {
    const answer = await send(path, body, headers)
    t.is(answer.status, status, `${path} ${title}: ${answer.text}`)
    t.regex(String((JSON.parse(answer.text) as { message: unknown }).message), says, `${path} ${title}`)
  }
  t.deepEqual(changes(before, await fingerprint(world.server)), {}, path)
}

test.serial('no upload route accepts a malformed body or stores any part of it', async t => {
  t.true(routes.length >= 7)
  for (const { path } of routes) {
    const at = fill(path, kind => world.ids[kind] ?? '')
    await refusedAll(t, `${at}?dataset_id=${world.ids['dataset']}`, broken)
  }
})

test.serial('an upload without a body and media type is refused with 400 and stores nothing', async t => {
  const before = await fingerprint(world.server)
  for (const { path } of routes) {
    const at = fill(path, kind => world.ids[kind] ?? '')
    const answer = await fetch(`${world.server.url}${at}?dataset_id=${world.ids['dataset']}`, {
      method: 'POST',
      headers: { 'x-api-key': world.person.key },
    })
    t.is(answer.status, 400, `${path} ${await answer.text()}`)
  }
  t.deepEqual(changes(before, await fingerprint(world.server)), {})
})

test.serial('an upload whose client disconnects at any point leaves nothing', async t => {
  const before = await fingerprint(world.server)
  const whole = field('about', 'x') + file('gone.txt', 'x'.repeat(100_000)) + file('gone too.txt', 'x'.repeat(100)) + end
  const { hostname, port } = new URL(world.server.url)
  for (const { path } of routes)
    for (const share of [0, 0.0005, 0.01, 0.5, 0.999]) {
      const socket = connect(Number(port), hostname)
      const at = fill(path, kind => world.ids[kind] ?? '')
      socket.write(
        `POST ${at}?dataset_id=${world.ids['dataset']} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${world.person.key}\r\nContent-Type: multipart/form-data; boundary=${boundary}\r\nContent-Length: ${whole.length}\r\n\r\n`,
      )
      await new Promise<void>(resolve => socket.write(whole.slice(0, whole.length * share), () => resolve()))
      await new Promise<void>(resolve => socket.on('close', () => resolve()).destroySoon())
    }
  const left = await until(
    'the partial uploads to be discarded',
    async () => changes(before, await fingerprint(world.server)),
    changed => Object.keys(changed).length === 0,
  )
  t.deepEqual(left, {})
})

const nested = (levels: number): string => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`

test.serial('invalid metadata in an upload is refused together with its file', async t => {
  const { dataset } = world.ids
  const beside = (document: string, name = 'a.txt') => field(name, document) + file('first.txt') + file('a.txt') + end
  await refusedAll(t, `/api/uploadToDataset/${dataset}`, [
    ['64 levels', beside(nested(64)), 400, /a\.txt must not be nested deeper than 64/],
    ['100,000 levels', beside(nested(100_000)), 400, /deeper/],
    ['__proto__', beside('{"__proto__":{"isAdmin":true}}'), 400, /__proto__/],
    ['constructor', beside('{"a":{"constructor":{}}}'), 400, /constructor/],
    ['half a surrogate pair', beside('{"a":"\\ud800"}'), 400, /surrogate/],
    ['a context that is a number', beside('{"@context":5,"a":1}'), 400, /@context/],
    ['a context that is null', beside('{"@context":null,"a":1}', 'File'), 400, /File: @context/],
  ])
  t.is(({} as Record<string, unknown>)['isAdmin'], undefined)
})

test.serial('uploads to invalid, unknown or missing targets are refused, and their bytes deleted', async t => {
  const { dataset, folder, file: someFile } = world.ids
  const body = file('a.txt') + end
  const elsewhere = `${field('dataset_id', unknownId)}${body}`
  await refusedAll(t, '/api/files/uploadToDataset', [
    ['no dataset', body, 400, /dataset_id is missing/],
    ['an unknown dataset in a field', elsewhere, 404, /^Dataset not found/],
    ['a dataset that is a file', field('dataset_id', String(someFile)) + body, 404, /^Dataset not found/],
    ['nonsense', field('dataset_id', '../..') + body, 404, /^Dataset not found/],
    [
      'a folder after the file',
      file('a.txt') + field('dataset_id', String(dataset)) + field('folder_id', unknownId) + end,
      404,
      /^Folder not found/,
    ],
  ])
  await refusedAll(t, `/api/uploadToDataset/${dataset}?folder_id=${unknownId}`, [['an unknown folder', body, 404, /^Folder not found/]])
  await refusedAll(t, `/api/uploadToDataset/${dataset}?folder_id=${dataset}`, [['a dataset as a folder', body, 404, /^Folder not found/]])
  await refusedAll(t, `/api/uploadToDataset/${unknownId}`, [['an unknown dataset', body, 404, /^Dataset not found/]])
  await refusedAll(t, `/api/files?folder_id=${folder}`, [
    ['a folder in a field, and no dataset', field('folder_id', String(folder)) + body, 400, /folder_id/],
  ])
  await refusedAll(t, `/api/uploadToDataset/${dataset}?extract=maybe`, [['a flag that is none', body, 400, /extract/]])
  await refusedAll(t, `/api/uploadToDataset/${dataset}?showPreviews=Never`, [['an unknown word', body, 400, /showPreviews/]])
})

test.serial('unusual but valid uploads are accepted: no bytes, a duplicate name, a path, any type', async t => {
  const { dataset } = world.ids
  const names = [
    'empty.bin',
    'twice.txt',
    'twice.txt',
    'C:\\\\fakepath\\\\windows.txt',
    '-rf',
    "'; DROP TABLE files; --.txt",
    'no extension',
  ]
  const body =
    names.map(name => file(name, name === 'empty.bin' ? '' : 'content')).join('') +
    part('Content-Disposition: form-data; name="File"; filename="odd.xyz"\r\nContent-Type: application/x-never-heard-of') +
    part('Content-Disposition: form-data; name="File"; filename="wrong.txt"\r\nContent-Type: not a type') +
    end
  const answer = await send(`/api/uploadToDataset/${dataset}?extract=false`, body)
  t.is(answer.status, 200, answer.text)
  const { ids } = JSON.parse(answer.text) as { ids: { id: string; name: string }[] }
  t.deepEqual(
    ids.map(each => each.name),
    [...names.slice(0, 3), 'windows.txt', ...names.slice(4), 'odd.xyz', 'wrong.txt'],
  )
  const types = await Promise.all(
    ids.slice(-2).map(async ({ id }) => (await ok<Record<string, string>>(world.call(`/api/files/${id}/metadata`)))['content-type']),
  )
  t.deepEqual(types, ['application/x-never-heard-of', 'text/plain'])
  await world.server.drained()
})
