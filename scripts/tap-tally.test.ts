import test from 'ava'
import { skipsLine, TapTally, totalsLine } from './tap-tally.ts'

const run = (text: string): { readonly tally: TapTally; readonly seen: readonly string[] } => {
  const tally = new TapTally()
  return { tally, seen: text.split('\n').filter(line => tally.take(line)) }
}

const whole = `TAP version 13
ok 1 - users › an account is made
#   a note that a passing test logs
ok 2 - clients › pyclowder (no python3) # SKIP
not ok 3 - files › a range is served
  ---
    name: AssertionError
    details:
      'Difference (- actual, + expected):': |2-
        - 1
        + 2
  ...
# files › after.always hook
ok 4 - files › bytes come back

1..4
# tests 4
# pass 2
# skip 1
# fail 1
`

test('the totals are those of ava', t => {
  const { tally } = run(whole)
  t.deepEqual(tally.totals(1), { passed: 2, failed: 1, skipped: 1 })
  t.is(tally.ended, 4)
})

test('only failures with their details are shown', t => {
  const { seen } = run(whole)
  t.deepEqual(
    seen.map(line => line.trim()),
    [
      'not ok 3 - files › a range is served',
      '---',
      'name: AssertionError',
      'details:',
      "'Difference (- actual, + expected):': |2-",
      '- 1',
      '+ 2',
      '...',
    ],
  )
})

test('tests that never ran are failures, as in the totals of ava, and their file is shown', t => {
  const { tally, seen } = run('ok 1 - one\n# 2 tests remaining in files.test.ts\n\n1..3\n# tests 3\n# pass 1\n# fail 2\n')
  t.deepEqual(tally.totals(1), { passed: 1, failed: 2, skipped: 0 })
  t.deepEqual(seen, ['# 2 tests remaining in files.test.ts'])
})

test('an aborted run is a failure with any exit code', t => {
  t.deepEqual(run('TAP version 13\nok 1 - one\nok 2 - two').tally.totals(0), { passed: 2, failed: 1, skipped: 0 })
  t.deepEqual(run('').tally.totals(0), { passed: 0, failed: 1, skipped: 0 })
  t.deepEqual(run('SyntaxError: nothing could be read').tally.totals(1), { passed: 0, failed: 1, skipped: 0 })
})

test('a run of no tests is a failure', t => {
  t.deepEqual(run('TAP version 13\n\n1..0\n# tests 0\n# pass 0\n# fail 0\n').tally.totals(0), { passed: 0, failed: 1, skipped: 0 })
})

test('a run in which every test is skipped is not a failure', t => {
  const { tally } = run('ok 1 - one (no python3) # SKIP\n\n1..1\n# tests 1\n# pass 0\n# skip 1\n# fail 0\n')
  t.deepEqual(tally.totals(0), { passed: 0, failed: 0, skipped: 1 })
})

test('an exit code that no test explains is a failure', t => {
  t.deepEqual(run('ok 1 - one\n\n1..1\n# tests 1\n# pass 1\n# fail 0\n').tally.totals(1), { passed: 1, failed: 1, skipped: 0 })
})

test('a title that looks like totals is not parsed as totals', t => {
  const { tally } = run('ok 1 - # fail 7\nok 2 - # tests 900\n\n1..2\n# tests 2\n# pass 2\n# fail 0\n')
  t.deepEqual(tally.totals(0), { passed: 2, failed: 0, skipped: 0 })
})

test('the line of totals excludes skipped tests', t => {
  t.is(totalsLine({ passed: 12, failed: 0, skipped: 0 }), '12 passed, 0 failed')
  t.is(totalsLine({ passed: 1, failed: 2, skipped: 3 }), '1 passed, 2 failed')
})

test('skipped tests are counted by their reason, the most frequent first', t => {
  const { tally, seen } = run(`ok 1 - a › one (no python3) # SKIP
ok 2 - b › two (a remark) and more (X_URL not set) # SKIP
ok 3 - b › three (X_URL not set) # SKIP
ok 4 - four # SKIP
ok 5 - five (of those that run)
`)
  t.deepEqual(seen, [])
  t.is(skipsLine(tally.skips), '4 skipped: 2 (X_URL not set), 1 (no python3), 1 (no reason given)')
  t.is(skipsLine(new Map()), undefined)
})

test('a test that failed with an error without a stack is reported', async t => {
  await import(new URL('../ava.config.js', import.meta.url).href)
  const { test: tapLine } = (await import(import.meta.resolve('supertap'))) as { test(title: string, options: object): string }
  const error = Object.assign(new TypeError('fetch failed'), { stack: 'TypeError: fetch failed', cause: undefined })
  t.regex(tapLine('a request', { error, index: 3, passed: false }), /^not ok 3 - a request\n.*fetch failed/s)
})
