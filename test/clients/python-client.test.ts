import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { writePythonClient } from '../../scripts/client-package-python.ts'
import { root } from '../../scripts/server-bundle.ts'
import { newPerson } from '../support/people.ts'
import { installPython, type PythonPackage, pythonWith } from './python-environment.ts'

const environment: PythonPackage = {
  ...{ name: 'httpx', release: '0.28.1' },
  also: ['mypy==2.4.1', 'typing_extensions==4.16.0', 'hatchling==1.33.0', 'pandas==2.3.3'],
}
const missing = await installPython(environment)
const clientTest = missing === undefined ? test : test.skip
const why = missing === undefined ? '' : ` (${missing})`
const run = promisify(execFile)

const built = async () => {
  const server = await bootForTest()
  const folder = await mkdtemp(join(tmpdir(), 'python-client-'))
  const site = join(folder, 'site')
  const python = async (words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> => {
    const options = { cwd: folder, env: { ...process.env, PYTHONPATH: site, MYPYPATH: site, PYTHONDONTWRITEBYTECODE: '1', ...env } }
    return (await run(pythonWith(environment), words, { ...options, timeout: 300_000, maxBuffer: 1 << 26 })).stdout
  }
  const project = join(folder, 'project')
  await writePythonClient(project, (await (await server.as()('/openapi.json')).json()) as object, '1.2.3')
  const quiet = ['--quiet', '--no-input', '--disable-pip-version-check', '--no-deps']
  await python(['-m', 'pip', 'wheel', ...quiet, '--no-build-isolation', '--wheel-dir', folder, project])
  const wheel = (await readdir(folder)).find(name => name.endsWith('.whl')) ?? ''
  await python(['-m', 'pip', 'install', ...quiet, '--target', site, join(folder, wheel)])
  return { server, folder, python, wheel }
}
const made = missing === undefined ? await built() : undefined
test.after.always(async () => {
  await made?.server.stop()
  if (made) await rm(made.folder, { recursive: true, force: true })
})
const ready = () => {
  if (!made) throw new Error(`There is no httpx: ${missing}`)
  return made
}

const programOf = async (): Promise<string> =>
  /```python\n([\s\S]*?)```/.exec(await readFile(join(root, 'docs/clients.md'), 'utf8'))?.[1] ?? ''

clientTest(`the Python client uploads, pages, searches and follows events, and continues after interruptions${why}`, async t => {
  const { server, python } = ready()
  const { key, call } = await newPerson(server, 'python')
  for (const name of ['Niobium one', 'Niobium two', 'Niobium three'])
    await call('/api/datasets/createempty', { method: 'POST', json: { name } })
  await server.drained()
  const script = fileURLToPath(new URL('python_client_calls.py', import.meta.url))
  const found = JSON.parse(await python([script, server.url, key])) as Readonly<Record<string, unknown>>
  const mebi = 1024 * 1024
  const { progress, pieces, ...uploads } = found['uploads'] as { readonly progress: readonly number[]; readonly pieces: number }
  t.true(pieces > 4, 'a piece was sent again')
  t.is(progress.at(-1), 3 * mebi)
  t.deepEqual(uploads, {
    resumedFrom: mebi,
    same: [true, true],
    names: ['b.bin', 'c.csv', 'growing.log', 'raw'],
    form: true,
    others: [true, true, true, true],
  } as object)
  t.deepEqual(found['pages'], { all: true, once: true })
  t.deepEqual(found['search'], ['Niobium one', 'Niobium three', 'Niobium two'])
  t.deepEqual(found['problem'], {
    found: [
      [404, 'not-found', 'Not Found', true],
      [0, 'unreachable', 'Unreachable', false],
    ],
    refused: 4,
    damaged: [503, 503, 503, 503],
  })
  t.deepEqual(found['redirects'], [
    ['data.example.org', '/pounce/api/files/a/b', 'secret'],
    ['s3.example.org', '/object', null],
    ['data.example.org', '/api/files/plain', 'secret'],
    ['data.example.org', '/unencrypted', null],
  ])
  t.deepEqual(found['frames'], {
    columns: ['id', 'start_time', 'end_time', 'longitude', 'latitude', 'depth'],
    ...{ depths: [0, 1, 2], kind: 'datetime64[ns, UTC]' },
    water: 0.2 + 0.4,
  })
  t.deepEqual(found['live'], { names: ['Live one', 'Live two'], streams: 2, listed: true })
})

clientTest(
  `the program in docs/clients.md passes mypy --strict with the package and runs, and code that violates the types does not pass${why}`,
  async t => {
    const { server, folder, python } = ready()
    const program = await programOf()
    await writeFile(join(folder, 'program.py'), program)
    await writeFile(join(folder, 'wrong.py'), program.replace('"name": "Soil samples"', '"name": 7'))
    await writeFile(join(folder, 'samples.csv'), 'depth,water\n30,0.2\n')
    await t.notThrowsAsync(python(['-m', 'mypy', '--strict', '--python-version', '3.10', 'program.py']))
    const { stdout } = (await t.throwsAsync(python(['-m', 'mypy', '--strict', '--python-version', '3.10', 'wrong.py']))) as Error & {
      readonly stdout: string
    }
    t.regex(stdout, /wrong\.py:\d+: error: Incompatible types .*"int".*"str"/)
    const { key } = await newPerson(server, 'program')
    const printed = await python(['program.py'], { URL: server.url, KEY: key, DATA: join(folder, 'samples.csv') })
    t.true(printed.includes('19 of 19 bytes\n19\n') && printed.includes('404 not-found Dataset not found or not accessible'), printed)
  },
)
