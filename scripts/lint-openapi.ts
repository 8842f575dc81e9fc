import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from './server-bundle.ts'

/*
 * Lints `docs/openapi.json` with the recommended rules of Redocly and Spectral, including warnings. Both have hundreds of dependencies and are
 * therefore run with npx. One rule is off: paths such as `/api/users/{id}/sessions` and `/api/users/email/{email}` are Clowder's, and the
 * server prefers the path with the fixed segment.
 */
const run = promisify(execFile)
const folder = await mkdtemp(join(tmpdir(), 'pounce-openapi-'))
const ruleset = join(folder, 'spectral.json')
const document = join(root, 'docs/openapi.json')
const linters = [
  ['@redocly/cli@2.77.0', 'lint', document, '--extends=recommended', '--skip-rule=no-ambiguous-paths', '--format=stylish'],
  ['@stoplight/spectral-cli@6.16.3', 'lint', document, '--ruleset', ruleset, '--fail-severity=warn'],
]
try {
  await writeFile(ruleset, JSON.stringify({ extends: ['spectral:oas'] }))
  for (const linter of linters) {
    const { stdout, stderr } = await run('npx', ['--yes', ...linter], {
      ...{ cwd: folder, maxBuffer: 1 << 26, timeout: 300_000 },
      env: { ...process.env, REDOCLY_TELEMETRY: 'off' },
    })
    const output = `${stdout}${stderr}`
    if (/\b[1-9]\d* (?:warning|error)s?\b/.test(output)) throw new Error(output)
    process.stdout.write(`ok ${linter[0]}\n`)
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}
