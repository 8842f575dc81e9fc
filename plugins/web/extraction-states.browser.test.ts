import test from 'ava'
import type { Job } from 'pounce/sdk/kit'
import { bootForTest, FixedClock } from 'pounce/sdk/testing'
import { extractorInfo } from '../../test/support/extractor-info.ts'
import { FakeBus } from '../../test/support/fake-bus.ts'
import { sharedBrowserTests } from '../../test/support/real-browsers.ts'
import { newDataset, ok, upload } from '../../test/support/scene.ts'
import { webPage } from '../../test/support/web-pages.ts'

const bus = new FakeBus()
const server = await bootForTest({ also: [bus.plugin] })
const call = server.as(server.admin.key)
const { test: inBrowser, browser } = sharedBrowserTests(test, 'chromium')
test.after.always(() => server.stop())

const submit = async (by: typeof call, at: FakeBus, file: string, extractor: string): Promise<Job> => {
  const { job_id } = await ok<{ job_id: string }>(by(`/api/files/${file}/extractions`, { method: 'POST', json: { extractor } }))
  return at.jobs.find(({ id }) => id === job_id) as Job
}

inBrowser('the state of a file in the list is that of all its extractors, whichever ends first', async t => {
  for (const name of ['quick', 'slow', 'broken']) await bus.introduce(extractorInfo(name))
  const dataset = await newDataset(call)
  const file = await upload(call, dataset, 'words', 'oak.txt')
  await server.drained()
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await page.goto(`/datasets/${dataset}`)
  const row = page.getByRole('row', { name: /oak\.txt/ })
  await row.waitFor()
  const [quick, slow, broken] = [
    await submit(call, bus, file, 'quick'),
    await submit(call, bus, file, 'slow'),
    await submit(call, bus, file, 'broken'),
  ]
  await row.getByText('Processing').waitFor()

  const statesAreLoaded = () => page.waitForResponse(response => response.url().endsWith('/api/extractions/states'))
  let loaded = statesAreLoaded()
  await bus.sendStatus(quick, 'DONE')
  await loaded
  await row.getByText('Processing').waitFor()

  loaded = statesAreLoaded()
  await bus.sendStatus(broken, 'StatusMessage.error: no luck')
  await loaded
  await row.getByText('Processing').waitFor()

  await bus.sendStatus(slow, 'DONE')
  await row.getByText('Failed').waitFor()
  await bus.sendStatus(await submit(call, bus, file, 'broken'), 'DONE')
  await row.getByText('Failed').waitFor({ state: 'detached' })
  t.deepEqual(problems, [])
})

inBrowser('the page of a file shows the latest run of an extractor, on whichever day of the week', async t => {
  const [clock, other] = [new FixedClock('2026-03-04T12:00:00.000Z'), new FakeBus()]
  const scene = await bootForTest({ also: [other.plugin], clock })
  t.teardown(() => scene.stop())
  await other.introduce(extractorInfo('classify'))
  const by = scene.as(scene.admin.key)
  const file = await upload(by, await newDataset(by), 'words', 'oak.txt')
  const onWednesday = await submit(by, other, file, 'classify')
  await other.sendStatus(onWednesday, 'StatusMessage.error: no leaves', { at: clock.now() })
  clock.advance(2 * 24 * 3600 * 1000)
  const { page } = await webPage(t, browser(), scene.url, scene.admin)
  await page.goto(`/files/${file}`)
  await page.getByText('no leaves').waitFor()
  const onFriday = await submit(by, other, file, 'classify')
  await other.sendStatus(onFriday, 'DONE', { at: clock.now() })
  await page.reload()
  await page.getByText('oak.txt').first().waitFor()
  await page.waitForLoadState('networkidle')
  t.is(await page.getByText('no leaves').count(), 0)
  t.is(await page.getByText('Failed extractions').count(), 0)
})

inBrowser('the home page of an admin follows the extractions of everyone', async t => {
  await bus.introduce(extractorInfo('followed'))
  const file = await upload(call, await newDataset(call), 'words', 'elm.txt')
  await server.drained()
  const { page } = await webPage(t, browser(), server.url, server.admin)
  await page.goto('/')
  await page.getByRole('link', { name: 'Spaces' }).first().waitFor()
  await page.waitForLoadState('networkidle')
  const job = await submit(call, bus, file, 'followed')
  await page.getByText('extraction is waiting or running').waitFor()
  await bus.sendStatus(job, 'StatusMessage.error: no luck')
  await page.getByText('followed failed').waitFor()
  await page.getByText('extraction is waiting or running').waitFor({ state: 'detached' })
})
