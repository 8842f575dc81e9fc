import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import test from 'ava'
import type { Extractor } from 'pounce/sdk'
import { silent, skippedBecause } from 'pounce/sdk/testing'
import { Bubblewrap } from './bubblewrap.ts'
import { fixtureExtractor } from './fixtures/extractors.ts'
import { openSandbox } from './open-sandbox.ts'
import { takeOutput } from './output.ts'
import { OwnUser } from './own-user.ts'
import { ProcessPool } from './process-pool.ts'
import type { Sandbox } from './sandbox.ts'

const firstUid = 68_200 + (process.pid % 1000)
const code = new URL('./runner.ts', import.meta.url).pathname
const userFolder = join(tmpdir(), `pounce-installed-${process.pid}`)
const sandboxes: readonly (readonly [string, Sandbox | string])[] = [
  ['the permission model alone', await openSandbox({ mode: 'off', firstUid, dataFolder: '/', log: silent })],
  ['bubblewrap', await Bubblewrap.probe()],
  ['user', await OwnUser.probe({ folder: userFolder, dataFolder: '/root', code, firstUid })],
]

test.after.always(() => rm(userFolder, { recursive: true, force: true, maxRetries: 5 }))

/** A third-party extractor, which imports values of the SDK and a module beside it. */
const extract = `
import { Invalid, s, type Extract } from 'pounce/sdk'
import { plainEmail } from 'pounce/sdk/kit'
import { isScalar } from 'pounce/sdk/store-kit'
import { words } from './words.ts'

export const extract: Extract = async ({ filename }) => {
  const refusal = new Invalid('x')
  return { metadata: { status: refusal.status, email: plainEmail(' Ada@Example.org'), isScalar: isScalar(words), type: s.String().type, filename } }
}
`

for (const [name, sandbox] of sandboxes) {
  const here = typeof sandbox === 'string' ? skippedBecause(test, sandbox) : test
  here(`${name}: an extractor of a third-party package imports values from the SDK`, async t => {
    const root = await realpath(await mkdtemp(join(tmpdir(), 'pounce-installed-')))
    const common = { size: 1, runsPerProcess: 100, idleMs: 60_000, nativeMemoryMb: 1024, maxOutputBytes: 2 ** 30, log: silent }
    const pool = new ProcessPool({ ...common, folder: join(root, 'processes'), sandbox: async () => sandbox as Sandbox })
    t.teardown(async () => {
      await pool.dispose()
      await rm(root, { recursive: true, force: true, maxRetries: 5 })
    })
    const own = join(root, 'package')
    await mkdir(own)
    for (const each of [root, own]) await chmod(each, 0o755)
    await writeFile(join(own, 'package.json'), '{"name": "example-extractor", "type": "module"}')
    await writeFile(join(own, 'words.ts'), 'export const words = 5\n')
    await writeFile(join(own, 'extract.ts'), extract)
    const module = pathToFileURL(join(own, 'extract.ts'))
    const { info } = fixtureExtractor('echo')
    const extractor: Extractor = { info, module, timeoutMs: 120_000, memoryMb: 128 }
    const path = join(own, 'words.ts')
    const input = { path, filename: 'a.txt', contentType: 'text/plain', sizeBytes: 23, outputFolder: '', parameters: {} }
    const limits = { timeoutMs: 120_000, signal: new AbortController().signal, progress: () => undefined }
    const output = await pool.run(extractor, { module: module.href, input }, limits, (text, from) =>
      takeOutput(text, { from, to: join(root, 'taken'), maxOutputBytes: 2 ** 30 }),
    )
    t.deepEqual(output.metadata, { status: 400, email: 'ada@example.org', isScalar: true, type: 'string', filename: 'a.txt' })
  })
}
