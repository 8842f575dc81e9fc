import test from 'ava'
import { silent } from 'pounce/sdk/testing'
import { recordingLog } from '../../test/support/recording-log.ts'
import { createMetrics } from './metrics.ts'

test('metrics can be scraped, with a prefix and labels', async t => {
  const metrics = await createMetrics(true, silent)
  metrics.count('requests_total', { route: 'getFile' })
  metrics.count('requests_total', { route: 'getFile' }, 2)
  metrics.gauge('queue_length', 7)
  metrics.observe('request_seconds', 0.02, { route: 'getFile' })
  const { contentType, text } = (await metrics.scrape?.()) ?? { contentType: '', text: '' }
  t.regex(contentType, /^text\/plain/)
  t.regex(text, /pounce_requests_total\{route="getFile"\} 3/)
  t.regex(text, /pounce_queue_length 7/)
  t.regex(text, /pounce_request_seconds_bucket\{le="0.025",route="getFile"\} 1/)
  t.regex(text, /process_cpu_user_seconds_total/)
})

test('labels that differ from those of the first use cause no error', async t => {
  const metrics = await createMetrics(true, silent)
  metrics.count('odd_total', { one: 'a' })
  metrics.count('odd_total', { two: 'b' })
  metrics.count('odd_total')
  t.regex((await metrics.scrape?.())?.text ?? '', /pounce_odd_total\{one=""\} 2/)
})

test('without metrics there is nothing to scrape', async t => {
  const metrics = await createMetrics(false, silent)
  metrics.count('requests_total')
  t.is(metrics.scrape, undefined)
})

test('invalid characters in names become underscores, and names that become equal are one metric', async t => {
  const metrics = await createMetrics(true, silent)
  metrics.count('odd-name total', { 'label-1': 'a', __proto__x: 'b', le: 'c', '2nd': 'd' })
  metrics.count('odd_name_total', { label_1: 'a', _proto__x: 'b', le_: 'c', _2nd: 'd' })
  const text = (await metrics.scrape?.())?.text ?? ''
  t.regex(text, /^pounce_odd_name_total\{[^}]*\} 2$/m)
  for (const label of ['label_1="a"', '_proto__x="b"', 'le_="c"', '_2nd="d"']) t.true(text.includes(label), label)
})

test('invalid amounts are not counted, and scraping still works', async t => {
  const metrics = await createMetrics(true, silent)
  metrics.count('some_total', {}, 2)
  for (const value of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
    metrics.count('some_total', {}, value)
    metrics.observe('some_seconds', value)
    metrics.gauge('some_bytes', value)
  }
  metrics.gauge('some_bytes', -1)
  const text = (await metrics.scrape?.())?.text ?? ''
  t.regex(text, /^pounce_some_total 2$/m)
  t.regex(text, /^pounce_some_bytes -1$/m)
})

test('a name used for two types keeps its first type; the other is logged once and dropped', async t => {
  const { log, lines } = recordingLog()
  const metrics = await createMetrics(true, log)
  for (let turn = 0; turn < 3; turn += 1) {
    metrics.count('both')
    metrics.gauge('both', 7)
    metrics.observe('both', 7)
  }
  t.regex((await metrics.scrape?.())?.text ?? '', /^pounce_both 3$/m)
  t.is(lines.length, 1)
  t.like(lines[0], { level: 'warn', name: 'both' })
})
