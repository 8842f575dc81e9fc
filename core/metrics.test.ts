import test from 'ava'
import { createMetrics } from './metrics.ts'

test('what is measured can be scraped, with a prefix and labels', async t => {
  const metrics = await createMetrics(true)
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

test('other labels than those of the first use break nothing', async t => {
  const metrics = await createMetrics(true)
  metrics.count('odd_total', { one: 'a' })
  metrics.count('odd_total', { two: 'b' })
  metrics.count('odd_total')
  t.regex((await metrics.scrape?.())?.text ?? '', /pounce_odd_total\{one=""\} 2/)
})

test('without measuring there is nothing to scrape', async t => {
  const metrics = await createMetrics(false)
  metrics.count('requests_total')
  t.is(metrics.scrape, undefined)
})
