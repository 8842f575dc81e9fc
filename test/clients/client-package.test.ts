import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { appendFileSync, openAsBlob } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { writeClientPackage } from '../../scripts/client-package.ts'
import { root } from '../../scripts/server-bundle.ts'
import type { PounceClient, PounceOptions } from '../../sdk/clients/typescript/client.ts'
import { flakyProxy } from '../support/flaky-proxy.ts'
import { basic, newPerson } from '../support/people.ts'
import { blankPage, browserTests } from '../support/real-browsers.ts'
import { until } from '../support/until.ts'

const run = promisify(execFile)

type Answers = Readonly<Record<string, unknown>>
type Call = (input?: object) => Promise<Answers>
type List = (input?: object) => AsyncGenerator<Answers>
type Pounce = PounceClient<Readonly<Record<string, Call>>, Readonly<Record<string, List>>, Answers & { readonly type: string }>

const server = await bootForTest({ config: { resources: { live: { retrySeconds: 0.2 } } } })
const folder = await mkdtemp(join(tmpdir(), 'client-package-'))
const built = join(folder, 'client')
await mkdir(join(folder, 'node_modules/@pounce'), { recursive: true })
await symlink(built, join(folder, 'node_modules/@pounce/client'))
await writeClientPackage(built, (await (await server.as()('/openapi.json')).json()) as object, '1.2.3')
const client = (await import(pathToFileURL(join(built, 'index.js')).href)) as {
  readonly Pounce: new (options: PounceOptions) => Pounce
  readonly PounceProblem: new (...words: never[]) => Error
}
test.after.always(async () => {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

const made = async (options: Partial<PounceOptions> = {}) => {
  const { key, ...person } = await newPerson(server, 'client')
  const pounce = new client.Pounce({ url: server.url, key, ...options })
  const call = (name: string, input: object = {}): Promise<Answers> => (pounce.api[name] as Call)(input)
  const all = (name: string, input: object = {}): AsyncGenerator<Answers> => (pounce.all[name] as List)(input)
  const dataset = async (name: string): Promise<string> => String((await call('createEmptyDataset', { body: { name } }))['id'])
  return { pounce, call, all, dataset, key, person }
}

const bytesOf = async (call: (name: string, input: object) => Promise<unknown>, id: string): Promise<Buffer> =>
  Buffer.from(await ((await call('getFile', { path: { id } })) as Response).arrayBuffer())

/** A connection that breaks, and is restored once the client has noticed. */
const breaking = async (t: Parameters<typeof flakyProxy>[0]) => {
  const proxy = await flakyProxy(t, server.url)
  const seen = { failures: 0 }
  const noticed: typeof fetch = async (...words) => {
    try {
      return await fetch(...words)
    } catch (error) {
      seen.failures++
      await proxy.become('pass')
      throw error
    }
  }
  return { proxy, seen, options: { url: proxy.urlFor(server.url), fetch: noticed } }
}

test("an upload whose connection breaks resumes at the server's offset", async t => {
  const { proxy, seen, options } = await breaking(t)
  const { pounce, call, dataset } = await made(options)
  const bytes = randomBytes(3 * 1024 * 1024)
  const progress: number[] = []
  const id = await pounce.upload(new Blob([bytes]), {
    ...{ dataset: await dataset('Broken'), path: 'raw/data.bin', pieceBytes: 1024 * 1024 },
    onProgress: sent => {
      if (sent === 1024 * 1024 && seen.failures === 0) void proxy.become('cut')
      progress.push(sent)
    },
  })
  t.true(seen.failures > 0)
  t.is(progress.at(-1), bytes.length)
  t.deepEqual(
    progress,
    progress.toSorted((one, other) => one - other),
  )
  t.true((await bytesOf(call, id)).equals(bytes))
})

test('an aborted upload is resumed by its id', async t => {
  const { pounce, call, dataset } = await made()
  const bytes = randomBytes(2 * 1024 * 1024)
  const about = { dataset: await dataset('Resumed'), filename: 'data.bin', pieceBytes: 1024 * 1024 }
  const stop = new AbortController()
  let begun = ''
  const onProgress = (sent: number): void => {
    if (sent > 0) stop.abort(new Error('enough'))
  }
  await t.throwsAsync(pounce.upload(new Blob([bytes]), { ...about, signal: stop.signal, onProgress, onStart: id => (begun = id) }), {
    message: 'enough',
  })
  const first: number[] = []
  const id = await pounce.upload(new Blob([bytes]), { ...about, resume: begun, onProgress: sent => first.push(sent) })
  t.is(id, begun)
  t.is(first[0], 1024 * 1024)
  t.true((await bytesOf(call, id)).equals(bytes))
})

test('an upload is not resumed with a file of another size', async t => {
  const { pounce, call, dataset } = await made()
  const bytes = randomBytes(2 * 1024 * 1024)
  const about = { dataset: await dataset('Other file'), filename: 'data.bin', pieceBytes: 1024 * 1024 }
  const stop = new AbortController()
  let begun = ''
  const onProgress = (sent: number): void => {
    if (sent > 0) stop.abort(new Error('enough'))
  }
  await t.throwsAsync(pounce.upload(new Blob([bytes]), { ...about, signal: stop.signal, onProgress, onStart: id => (begun = id) }))
  for (const other of ['short', randomBytes(3 * 1024 * 1024)])
    await t.throwsAsync(pounce.upload(new Blob([other]), { ...about, resume: begun }), { message: /of a file with 2097152 bytes/ })
  await pounce.upload(new Blob([bytes]), { ...about, resume: begun })
  t.true((await bytesOf(call, begun)).equals(bytes))
  t.is(await pounce.upload(new Blob([bytes]), { ...about, resume: begun }), begun)
})

test('an upload whose file is changed meanwhile ends with that reason', async t => {
  const { pounce } = await made()
  const path = join(folder, 'changing.log')
  await writeFile(path, randomBytes(2 * 1024 * 1024))
  const attempts: number[] = []
  const onProgress = (sent: number): void => {
    attempts.push(sent)
    if (sent > 0) appendFileSync(path, 'more')
  }
  const about = { filename: 'changing.log', pieceBytes: 1024 * 1024, onProgress }
  await t.throwsAsync(async () => pounce.upload(await openAsBlob(path), about), { name: 'NotReadableError' })
  t.deepEqual(attempts, [0, 1024 * 1024])
})

test('an upload that does not match its SHA-256 is refused with that reason', async t => {
  const { pounce, dataset } = await made()
  const about = { dataset: await dataset('Damaged'), filename: 'data.bin', sha256: '0'.repeat(64) }
  const problem = await t.throwsAsync(pounce.upload(new Blob(['a']), about), { message: /SHA-256 mismatch/ })
  t.like(problem, { status: 460, code: 'checksum-mismatch' })
})

test('a list of 250 items is read page by page, each item once', async t => {
  const { all, dataset } = await made()
  const ids: string[] = []
  for (let n = 0; n < 250; n++) ids.push(await dataset(`Plot ${n}`))
  const found: unknown[] = []
  for await (const { id } of all('listDatasets', { query: { limit: 40 } })) found.push(id)
  t.deepEqual(found.filter(id => ids.includes(String(id))).toSorted(), ids.toSorted())
  t.is(new Set(found).size, found.length)
})

test('search results are read page by page, in either view', async t => {
  const { all, dataset } = await made()
  const ids = [await dataset('Zirconium one'), await dataset('Zirconium two'), await dataset('Zirconium three')]
  await server.drained()
  for (const view of [{}, { view: 'full' }]) {
    const found: unknown[] = []
    for await (const { id } of all('search', { query: { query: 'zirconium', size: 2, ...view } })) found.push(id)
    t.deepEqual(found.toSorted(), ids.toSorted())
  }
})

test('a form may be passed as an object, and entries of a dataset are paged', async t => {
  const { call, all, dataset } = await made()
  const id = await dataset('Forms')
  const body = { file: new File(['a,b\n'], 'table.csv', { type: 'text/csv' }) }
  await call('uploadToDataset', { path: { id }, query: { path: 'table.csv' }, body })
  const names: unknown[] = []
  for await (const { name } of all('listEntries', { path: { id } })) names.push(name)
  t.deepEqual(names, ['table.csv'])
})

test('bytes are sent with the media type of the blob if the operation receives it, otherwise with the first that it receives', async t => {
  const { call } = await made()
  const about = { type: 'Feature', geometry: { type: 'Point', coordinates: [-88.2, 40.1] } }
  const sensor = await call('createSensor', { body: { ...about, name: 'Plot 7', properties: { type: { id: 'station' } } } })
  const stream = await call('createStream', { body: { ...about, name: 'Water', properties: {}, sensor_id: String(sensor['id']) } })
  const datapoint = (day: number) => ({
    ...about,
    start_time: `2026-03-0${day}T00:00:00Z`,
    properties: { day },
    stream_id: String(stream['id']),
  })
  const text = JSON.stringify([datapoint(1), datapoint(2)])
  for (const [body, count] of [
    [new Blob([text], { type: 'application/json' }), 2],
    [new Blob([`${JSON.stringify(datapoint(3))}\n`]), 1],
    [new File([`${JSON.stringify(datapoint(4))}\n`], 'day.txt', { type: 'text/plain' }), 1],
    [new TextEncoder().encode(`${JSON.stringify(datapoint(5))}\n`), 1],
  ] as const)
    t.is((await call('createDatapoints', { body })) as unknown, count)
})

test('a path value that would call another operation is refused', async t => {
  const { call } = await made()
  for (const id of ['', '.', '..', undefined, null])
    await t.throwsAsync(async () => call('deleteDataset', { path: { id: id as string } }), { instanceOf: TypeError, message: /needs id/ })
})

test('an error response is a PounceProblem with the members of RFC 9457, and an unreachable server one with status 0', async t => {
  const { call } = await made()
  const refused = await t.throwsAsync(call('getDataset', { path: { id: '5b2a1c8e4f0c2d3a6b7e9f10' } }), {
    instanceOf: client.PounceProblem,
  })
  t.like(refused, { status: 404, title: 'Not Found', code: 'not-found', detail: 'Dataset not found or not accessible' })
  t.truthy((refused as unknown as Answers)['requestId'])
  const silent = ((_url: string, { signal }: RequestInit) =>
    new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))) as typeof fetch
  const late = new client.Pounce({ url: 'http://127.0.0.1:9', fetch: silent, timeoutMs: 10 })
  t.like(await t.throwsAsync(late.api['listSpaces']?.() as Promise<unknown>, { instanceOf: client.PounceProblem }), { code: 'timeout' })
  const nowhere = new client.Pounce({ url: 'http://127.0.0.1:9' })
  t.like(await t.throwsAsync(nowhere.api['listSpaces']?.() as Promise<unknown>, { instanceOf: client.PounceProblem }), {
    ...{ status: 0, code: 'unreachable' },
  })
})

test('an error response with a damaged body is a PounceProblem, and an upload is retried after it', async t => {
  const pounce = (body: ConstructorParameters<typeof Response>[0]) => {
    const headers = { 'content-type': 'application/json', 'retry-after': '0' }
    return new client.Pounce({ url: server.url, fetch: (async () => new Response(body, { status: 503, headers })) as typeof fetch })
  }
  const cut = new ReadableStream({ start: controller => controller.error(new TypeError('terminated')) })
  for (const [body, status] of [
    ['{"message": oops', 503],
    ['"text"', 503],
    ['["list"]', 503],
    ['null', 503],
    [cut, 0],
  ] as const) {
    const problem = await t.throwsAsync(pounce(body).api['listSpaces']?.() as Promise<unknown>, { instanceOf: client.PounceProblem })
    t.like(problem, { status })
  }
  const { key } = await made()
  let damaged = 0
  const flaky = (async (url: string, init: RequestInit) => {
    if (init.method !== 'PATCH' || damaged++ > 0) return fetch(url, init)
    return new Response('{"message"', { status: 502, headers: { 'content-type': 'application/json', 'retry-after': '0' } })
  }) as typeof fetch
  const id = await new client.Pounce({ url: server.url, key, fetch: flaky }).upload(new Blob(['bytes']), { filename: 'a.bin' })
  t.is(damaged, 2)
  t.is(await (await server.as(key)(`/api/files/${id}`)).text(), 'bytes')
})

test('missed events are delivered after an interruption', async t => {
  const { proxy, options } = await breaking(t)
  const { dataset, key } = await made()
  const stop = new AbortController()
  let opened = 0
  const through = new client.Pounce({ ...options, key })
  const events = through.events({ type: ['dataset.created'], signal: stop.signal, onOpen: () => opened++ })
  const names: string[] = []
  const reading = (async () => {
    for await (const { data } of events) names.push(String((data as Answers)['name']))
  })()
  await until('the stream to open', () => opened > 0)
  await dataset('Live one')
  await until('the first event', () => names.includes('Live one'))
  await proxy.become('cut')
  await dataset('Live two')
  await until('the connection to break', () => proxy.open === 0)
  await proxy.become('pass')
  await until('the second event', () => names.includes('Live two'))
  t.is(opened, 2)
  t.is(names.filter(name => name === 'Live one').length, 1)
  stop.abort()
  await t.notThrowsAsync(reading)
})

test('key, token and password are sent as the server expects them, to URLs below its base path', async t => {
  const { person } = await made()
  const withPassword = new client.Pounce({ url: server.url, basic: person })
  t.is((await withPassword.api['getMe']?.())?.['email'] ?? person.email, person.email)
  const sent: { readonly url: string; readonly headers: Answers }[] = []
  const noted = (async (url: string, { headers }: RequestInit) => {
    sent.push({ url, headers: headers as Answers })
    return Response.json({})
  }) as typeof fetch
  const url = 'https://data.example.org/pounce/'
  for (const credential of [{ key: 'k' }, { token: 't' }, { basic: { email: 'a@b.c', password: 'pä' } }, {}])
    await new client.Pounce({ url, fetch: noted, ...credential }).api['getDataset']?.({ path: { id: 'a/b' } })
  t.deepEqual(
    sent.map(each => each.url),
    Array.from({ length: 4 }, () => 'https://data.example.org/pounce/api/datasets/a%2Fb'),
  )
  t.deepEqual(
    sent.map(({ headers }) => headers['x-api-key'] ?? headers['authorization']),
    ['k', 'Bearer t', basic('a@b.c', 'pä'), undefined],
  )
})

test('a download redirected to another server is requested there without the key', async t => {
  const sent: { readonly url: string; readonly key: unknown }[] = []
  const redirecting = (async (url: string, { headers }: RequestInit) => {
    sent.push({ url, key: (headers as Answers)['x-api-key'] })
    const location = url.endsWith('/a') ? '/files/a/blob' : url.includes('data.example.org') ? 'https://s3.example.org/object' : undefined
    return location === undefined ? new Response('bytes') : new Response(null, { status: 302, headers: { location } })
  }) as typeof fetch
  const pounce = new client.Pounce({ url: 'https://data.example.org', key: 'secret', fetch: redirecting })
  const response = (await pounce.api['getFile']!({ path: { id: 'a' } })) as unknown as Response
  t.is(await response.text(), 'bytes')
  t.deepEqual(sent, [
    { url: 'https://data.example.org/api/files/a', key: 'secret' },
    { url: 'https://data.example.org/files/a/blob', key: 'secret' },
    { url: 'https://s3.example.org/object', key: undefined },
  ])
})

const { test: inChromium, launch } = browserTests(test, 'chromium')

inChromium('a page in Chromium creates a dataset, uploads in pieces, lists it and follows events', async t => {
  const { key } = await made()
  const browser = await launch()
  t.teardown(() => browser.close())
  const page = await blankPage(browser, server.url)
  await page.route('**/client/*.js', route =>
    route.fulfill({ path: join(built, new URL(route.request().url()).pathname.slice('/client/'.length)), contentType: 'text/javascript' }),
  )
  const found = await page.evaluate(
    async ({ url, key, address }) => {
      const { Pounce } = (await import(address)) as { Pounce: new (options: object) => Pounce }
      const pounce = new Pounce({ url, key })
      const events = pounce.events({ type: ['dataset.created'], mine: true, onOpen: () => opened() })
      let opened = (): void => undefined
      const isOpen = new Promise<void>(resolve => {
        opened = resolve
      })
      const event = events.next()
      await isOpen
      const { id } = (await pounce.api['createEmptyDataset']!({ body: { name: 'Made in a page' } })) as { id: string }
      const { value } = await event
      await events.return()
      const file = await pounce.upload(new File([new Uint8Array(300_000)], 'zeros.bin'), { dataset: id, pieceBytes: 100_000 })
      const names: unknown[] = []
      for await (const entry of pounce.all['listEntries']!({ path: { id } })) names.push(entry['name'])
      const bytes = await ((await pounce.api['getFile']!({ path: { id: file } })) as unknown as Response).arrayBuffer()
      return { subject: value?.['subject'], id, names, size: bytes.byteLength }
    },
    { url: server.url, key, address: `${server.url}/client/index.js` },
  )
  t.like(found, { subject: `dataset/${found.id}`, names: ['zeros.bin'], size: 300_000 })
})

test('the program in docs/clients.md compiles and runs, and code that violates the types does not compile', async t => {
  const { key } = await made()
  const page = await readFile(join(root, 'docs/clients.md'), 'utf8')
  const program = /```ts\n([\s\S]*?)```/.exec(page)?.[1] ?? ''
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await writeFile(join(folder, 'program.ts'), program)
  await writeFile(
    join(folder, 'wrong.ts'),
    program.replace("name: 'Soil samples'", 'name: 7').replace('hit.collectionname', 'hit.sensor_id'),
  )
  await writeFile(join(folder, 'samples.csv'), 'depth,water\n30,0.2\n')
  const options = [
    '--noEmit',
    '--strict',
    '--target',
    'es2023',
    '--module',
    'nodenext',
    '--types',
    'node',
    '--typeRoots',
    join(root, 'node_modules/@types'),
  ]
  const failed = await t.throwsAsync(
    run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...options, 'program.ts', 'wrong.ts'], { cwd: folder }),
  )
  const errors = String((failed as Error & { readonly stdout?: string }).stdout)
    .split('\n')
    .filter(line => /^\w+\.ts/.test(line))
  t.is(errors.length, 2, errors.join('\n'))
  t.true(errors.every(line => line.startsWith('wrong.ts')))
  const env = { ...process.env, URL: server.url, KEY: key, DATA: join(folder, 'samples.csv') }
  const { stdout } = await run(process.execPath, [join(folder, 'program.ts')], { env, timeout: 120_000 })
  const lines = stdout.trim().split('\n')
  t.true(lines.includes('19 of 19 bytes') && lines.includes('404 not-found Dataset not found or not accessible'), stdout)
})
