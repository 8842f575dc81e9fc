import test from 'ava'
import { planProcesses, timesLines } from './test-processes.ts'

const file = (path: string, text = '') => ({ path, text })

test('up to eight short files of one folder share a process', t => {
  const files = [...'jihgfedcba'].map(name => file(`test/api/${name}.test.ts`))
  t.deepEqual(
    planProcesses(files).map(process => process.map(path => path.charAt('test/api/'.length)).join('')),
    ['abcdefgh', 'ij'],
  )
  const long = [...'abc'].map(name => file(`test/api/${name}.test.ts`, 'x'.repeat(30_000)))
  t.deepEqual(
    planProcesses(long).map(({ length }) => length),
    [2, 1],
  )
})

test('files that change or measure their process get their own', t => {
  const own = [
    file('core/http/a.test.ts', "mock.timers.enable({ apis: ['setTimeout'] })"),
    file('core/http/b.test.ts', "process.env['HOME'] = folder"),
    file('core/http/c.test.ts', '// @separate-process: it fills the memory.'),
    file('plugins/geo/rtree/points.test.ts'),
    file('plugins/resources/killed.test.ts'),
    file('sdk/d.test.ts', 'later(60_000)'),
    file('test/api/entries.live.test.ts'),
    file('test/bad-input.test.ts'),
    file('test/kill.test.ts'),
  ]
  const others = [file('core/http/e.test.ts', "const { HOME } = process.env; test('later on', run)"), file('test/api/f.test.ts')]
  const planned = planProcesses([...others, ...own])
  t.deepEqual(
    planned.filter(({ length }) => length === 1),
    own.map(({ path }) => [path]),
  )
  t.deepEqual(
    planned.filter(({ length }) => length > 1),
    [others.map(({ path }) => path)],
  )
})

test('processes of one file are interleaved with those of several', t => {
  const alone = [...'abcdef'].map(name => file(`test/${name}-kill.test.ts`))
  const sharing = [...'ghi'].map(name => file(`test/api/${name}.test.ts`, 'x'.repeat(60_000)))
  const planned = planProcesses([...alone, ...sharing]).map(([path = '']) => (path.includes('kill') ? 'alone' : 'sharing'))
  t.deepEqual(planned, ['alone', 'sharing', 'alone', 'alone', 'sharing', 'alone', 'alone', 'sharing', 'alone'])
})

test('the slowest processes are listed with their CPU time', t => {
  const times = [
    { files: ['a'], ms: 1200 },
    { files: ['b', 'c', 'd'], ms: 28_549 },
    ...Array.from({ length: 20 }, () => ({ files: ['e'], ms: 100 })),
  ]
  const lines = timesLines(times)
  t.is(lines.length, 11)
  t.deepEqual(lines.slice(0, 3), ['CPU time: 31.7 s, most of it in', '  28.5 s b and 2 more', '  1.2 s a'])
})
