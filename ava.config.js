import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { relative } from 'node:path'

// With `--tap`, ava aborts the whole run on an error that has an undefined property, such as `fetch failed`, without naming the test
// (ava 8.1, supertap 3.0): the YAML writer must skip such properties.
const yaml = createRequire(import.meta.resolve('supertap'))('js-yaml')
const { safeDump } = yaml
yaml.safeDump = (value, options) => safeDump(value, { ...options, skipInvalid: true })

// In the order of the plan of `npm test`: see scripts/test-processes.ts.
const plan = process.env['POUNCE_TEST_PROCESSES']
const places = new Map(plan === undefined ? [] : JSON.parse(readFileSync(plan, 'utf8')).map(([first], place) => [first, place]))
const placeOf = file => places.get(relative(import.meta.dirname, file).replaceAll('\\', '/')) ?? places.size

export default {
  files: ['**/*.test.ts', '!node_modules/**'],
  extensions: ['ts'],
  require: [
    './core/resolve.js',
    './test/coverage/record-hits.ts',
    './test/support/check-answers.ts',
    './test/support/cheap-passwords.ts',
    './test/support/cheap-syncs.ts',
    './test/support/share-process.ts',
  ],
  sortTestFiles: (one, other) => placeOf(one) - placeOf(other),
  timeout: '3m',
  // One more than the cores of the machine of CI: many processes wait for a browser or a server.
  concurrency: 3,
  workerThreads: false,
  // Threads of the garbage collector beside the tests cost a tenth of the CPU time on two cores.
  nodeArguments: ['--disable-warning=ExperimentalWarning', '--min-semi-space-size=16', '--max-semi-space-size=32', '--single-threaded-gc'],
}
