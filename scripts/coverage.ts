import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readHits } from '../test/coverage/hits.ts'
import { nameOf, referenceRoutes } from '../test/coverage/reference-routes.ts'

/** Runs the tests and records the outcomes for each route of the reference in `test/coverage/tested.json`. */
const folder = await mkdtemp(join(tmpdir(), 'pounce-hits-'))
try {
  const test = fileURLToPath(new URL('test.ts', import.meta.url))
  const child = spawn(process.execPath, [test, ...process.argv.slice(2)], {
    env: { ...process.env, POUNCE_TEST_HITS: folder },
    stdio: 'inherit',
  })
  await once(child, 'close')
  const wanted = new Set(referenceRoutes().flatMap(route => (route.tier === 'X' ? [] : [nameOf(route)])))
  const tested = Object.entries(await readHits(folder)).filter(([route]) => wanted.has(route))
  // One line per route, for readable diffs.
  const lines = tested.map(([route, outcome]) => `  ${JSON.stringify(route)}: ${JSON.stringify(outcome)}`)
  await writeFile(new URL('../test/coverage/tested.json', import.meta.url), `{\n${lines.join(',\n')}\n}\n`)
  process.stdout.write('test/coverage/tested.json written; run `npm run docs` to update docs/coverage.md\n')
} finally {
  await rm(folder, { recursive: true, force: true })
}
