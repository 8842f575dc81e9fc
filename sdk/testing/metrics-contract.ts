import type { Metrics } from '../ports/kernel.ts'
import { contractTest, type TestRunner } from './any-runner.ts'
import { growsLinearly } from './growth.ts'

/** The contract of Metrics: measuring never breaks the measured code. */
export function metricsContract(runner: TestRunner, make: () => Metrics | Promise<Metrics>): void {
  const test = contractTest(runner)
  test('metrics: names in snake_case are accepted, with and without labels', async t => {
    const metrics = await make()
    for (const name of ['requests_total', 'bytes_read_total', 'a', 'x2_seconds', `long_${'name_'.repeat(30)}total`]) {
      t.is(metrics.count(`count_${name}`), undefined)
      t.is(metrics.count(`count_${name}`, undefined, 5), undefined)
      t.is(metrics.gauge(`gauge_${name}`, -1.5, { kind: 'file' }), undefined)
      t.is(metrics.observe(`observe_${name}`, 0.25, { route: 'getFile' }), undefined)
    }
  })

  test('metrics: any string is accepted as a label value', async t => {
    const metrics = await make()
    for (const value of ['', ' ', '"', '\\', 'a\nb', '\u0000', '葉', '{}', 'x'.repeat(10_000)])
      t.notThrows(() => metrics.count('labelled_total', { value }))
  })

  test('metrics: labels that differ from those of the first use cause no error', async t => {
    const metrics = await make()
    for (const labels of [{ one: 'a' }, { two: 'b' }, {}, undefined, { one: 'a', two: 'b', three: 'c' }]) {
      t.notThrows(() => metrics.count('odd_total', labels))
      t.notThrows(() => metrics.gauge('odd_length', 1, labels))
      t.notThrows(() => metrics.observe('odd_seconds', 1, labels))
    }
  })

  test('metrics: zero, very large and very small values are accepted', async t => {
    const metrics = await make()
    for (const value of [0, 1e-9, 1e15, Number.MAX_SAFE_INTEGER]) {
      t.notThrows(() => metrics.count('extreme_total', {}, value))
      t.notThrows(() => metrics.gauge('extreme_bytes', -value))
      t.notThrows(() => metrics.observe('extreme_seconds', value))
    }
  })

  test('metrics: the cost of measuring does not grow', async t => {
    const metrics = await make()
    const observe = (times: number): void => {
      for (let turn = 0; turn < times; turn += 1) metrics.observe('cheap_seconds', turn / 1000, { route: 'getFile' })
    }
    t.true(growsLinearly(observe, 50_000))
  })

  test('metrics: no name of a metric or label causes an error', async t => {
    const metrics = await make()
    const names = [
      '',
      ' ',
      'a b',
      'a-b',
      'a_b',
      '1st',
      '葉',
      'a\nb',
      'a{b="c"} 1',
      '__name__',
      '__proto__',
      'constructor',
      'le',
      'quantile',
    ]
    for (const name of [...names, 'x'.repeat(10_000)]) {
      t.notThrows(() => metrics.count(`${name}`, { [name]: 'value', 'a-b': 'one', a_b: 'two' }), name)
      t.notThrows(() => metrics.gauge(`gauge ${name}`, 1, { [name]: 'value' }), name)
      t.notThrows(() => metrics.observe(`observe ${name}`, 1, { [name]: 'value' }), name)
      t.notThrows(() => metrics.count('same_total', { [name]: 'value' }), name)
    }
  })

  test('metrics: invalid values cause no error', async t => {
    const metrics = await make()
    for (const value of [-1, -1e-9, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      t.notThrows(() => metrics.count('wrong_total', {}, value))
      t.notThrows(() => metrics.gauge('wrong_bytes', value))
      t.notThrows(() => metrics.observe('wrong_seconds', value))
    }
  })

  test('metrics: one name for two types of metrics causes no error', async t => {
    const metrics = await make()
    for (let turn = 0; turn < 3; turn += 1) {
      t.notThrows(() => metrics.count('both'))
      t.notThrows(() => metrics.gauge('both', 1))
      t.notThrows(() => metrics.observe('both', 1, { route: 'getFile' }))
    }
  })
}
