import { spawn } from 'node:child_process'
import { glob, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describeServers } from './live-servers.ts'
import { skipsLine, TapTally, type Totals, totalsLine } from './tap-tally.ts'
import { type ProcessTime, planProcesses, type TestFile, timesLines } from './test-processes.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const bin = join(root, 'node_modules', '.bin')
// The tools start with `env node`, which must be the Node installed by `npm ci`, not the system's.
const environment = {
  ...process.env,
  PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}`,
  // Shares compiled code between test processes and their threads.
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(root, 'node_modules', '.cache', 'compiled'),
}

interface Step {
  readonly name: string
  readonly command: string
  readonly words: readonly string[]
  /** Shown when the step fails. */
  readonly advice: string
}

const steps: readonly Step[] = [
  // Checkers duplicate much of each other's work: four take 19 s of CPU time, one takes 10 s.
  { name: 'types', command: 'tsc', words: ['--noEmit', '--checkers', '1'], advice: 'see above' },
  {
    name: 'types of the web interface',
    command: 'tsc',
    words: ['--noEmit', '--checkers', '1', '-p', 'plugins/web/app'],
    advice: 'see above',
  },
  // Before the tests: their servers run from the bundle, and otherwise several tests would build the web interface at the same time.
  { name: 'server bundle', command: 'node', words: ['scripts/build-server.ts'], advice: 'see above' },
  { name: 'web interface', command: 'node', words: ['scripts/build-web.ts'], advice: 'see above' },
  {
    name: 'lint and imports',
    command: 'biome',
    words: ['check', '--diagnostic-level=warn', '--error-on-warnings', '.'],
    advice: '`npm run fix` fixes most of these',
  },
  { name: 'generated parser', command: 'node', words: ['scripts/grammar.ts', '--check'], advice: 'run `npm run grammar`' },
  { name: 'generated docs', command: 'node', words: ['scripts/docs.ts', '--check'], advice: 'run `npm run docs`' },
]

const codeOf = (child: ReturnType<typeof spawn>): Promise<number> =>
  new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', code => resolve(code ?? 1))
  })

const say = (text: string): void => void process.stdout.write(`${text}\n`)

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`

/** Runs a step, and shows its output when it has finished, as steps run concurrently. Prints the advice if it failed. */
const check = async ({ name, command, words, advice }: Step): Promise<boolean> => {
  const began = performance.now()
  const child = spawn(join(bin, command), words, { cwd: root, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  const written: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => void written.push(piece))
  const code = await codeOf(child)
  process.stdout.write(Buffer.concat(written))
  say(code === 0 ? `✔ ${name} (${seconds(began)})` : `✘ ${name}: ${advice}`)
  return code === 0
}

const testFiles = async (): Promise<readonly TestFile[]> => {
  const paths = await Array.fromAsync(glob('{core,examples,plugins,scripts,sdk,test}/**/*.test.ts', { cwd: root }))
  return Promise.all(paths.map(async path => ({ path: path.replaceAll('\\', '/'), text: await readFile(join(root, path), 'utf8') })))
}

/**
 * The unset environment variable of the server that all tests of a file require. Starting a process only to skip these tests would cost half a second
 * of CPU time.
 */
const lackedServer = ({ path, text }: TestFile): string | undefined => {
  if (!path.endsWith('.live.test.ts') || /^ *test[.(]/m.test(text)) return undefined
  const lacking = [...text.matchAll(/\bliveTests\(test[^,]*,([^)]*)\)/g)].map(([, names = '']) =>
    [...names.matchAll(/\w+/g)].map(([name]) => `POUNCE_TEST_${name}_URL`).filter(variable => !process.env[variable]),
  )
  return lacking.length > 0 && lacking.every(({ length }) => length > 0) ? lacking[0]?.join(', ') : undefined
}

/** `Test files skipped: 10 (POUNCE_TEST_RABBITMQ_URL not set), 7 (POUNCE_TEST_POSTGIS_URL not set)`. */
const sayWithoutServers = (reasons: readonly string[]): void => {
  const files = [...Map.groupBy(reasons, reason => reason)].map(([reason, all]) => `${all.length} (${reason} not set)`)
  if (files.length > 0) say(`Test files skipped: ${files.join(', ')}`)
}

const showEvery = 100

/** Runs ava, showing failures as they occur. */
const runTests = async (
  words: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<{ readonly code: number; readonly totals: Totals }> => {
  const began = performance.now()
  const tally = new TapTally()
  const env = { ...environment, ...variables }
  const child = spawn(join(bin, 'ava'), ['--tap', ...words], { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = codeOf(child)
  let shown = 0
  for await (const line of createInterface({ input: child.stdout })) {
    if (tally.take(line)) say(line)
    if (tally.ended < shown + showEvery) continue
    shown = tally.ended
    say(`… ${tally.ended} tests (${seconds(began)})`)
  }
  const code = await ended
  const totals = tally.totals(code)
  if (totals.failed > 0) say('For details of a failure: npx ava <its file>')
  const skips = skipsLine(tally.skips)
  if (skips !== undefined) say(skips)
  say(`${totals.failed === 0 ? '✔' : '✘'} tests (${seconds(began)})`)
  return { code: code === 0 && totals.failed > 0 ? 1 : code, totals }
}

/** Prints the test processes that used the most CPU time, from their records. */
const sayTimes = async (folder: string): Promise<void> => {
  const written = await Promise.all((await readdir(folder)).map(name => readFile(join(folder, name), 'utf8')))
  for (const line of timesLines(written.map(text => JSON.parse(text) as ProcessTime))) say(line)
}

/** Whether the tests covered each route of the reference; prints those that are not covered. */
const checkCoverage = async (hits: string): Promise<boolean> => {
  // Imported late: an error that the types step reports would otherwise prevent this script from starting.
  const { coverageFaults } = await import('./route-coverage.ts')
  const faults = await coverageFaults(hits)
  for (const fault of faults) say(`  ${fault}`)
  say(faults.length === 0 ? '✔ routes of the reference' : `✘ routes of the reference: ${faults.length} are not served and tested`)
  return faults.length === 0
}

// If files are named on the command line, only these are run: `npm test -- core/kernel/config.test.ts`.
const words = process.argv.slice(2)
let isGood = true
if (words.length === 0) isGood = (await Promise.all(steps.map(check))).every(Boolean)
for (const line of await describeServers(process.env)) say(`• ${line}`)
const folder = await mkdtemp(join(tmpdir(), 'pounce-tests-'))
const places = {
  hits: process.env['POUNCE_TEST_HITS'] ?? join(folder, 'hits'),
  times: join(folder, 'times'),
  plan: join(folder, 'plan.json'),
}
for (const path of [places.hits, places.times]) await mkdir(path, { recursive: true })
const files = words.length === 0 ? await testFiles() : []
const plan = planProcesses(files.filter(file => lackedServer(file) === undefined))
await writeFile(places.plan, JSON.stringify(plan))
const { code, totals } = await runTests(words.length === 0 ? plan.flatMap(process => process.slice(0, 1)) : words, {
  POUNCE_TEST_HITS: places.hits,
  POUNCE_TEST_TIMES: places.times,
  POUNCE_TEST_PROCESSES: places.plan,
})
await sayTimes(places.times)
if (words.length === 0) isGood = (await checkCoverage(places.hits)) && isGood
await rm(folder, { recursive: true, force: true })
sayWithoutServers(files.flatMap(file => lackedServer(file) ?? []))
say(totalsLine(totals))
process.exitCode = code === 0 && !isGood ? 1 : code
