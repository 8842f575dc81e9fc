import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { freePort } from '../support/free-port.ts'
import { type BrowserName, blankPage, browserTests } from '../support/real-browsers.ts'
import { newDataset, upload } from '../support/scene.ts'
import { until } from '../support/until.ts'

for (const name of ['chromium', 'firefox'] satisfies BrowserName[]) {
  const { test: inBrowser, launch } = browserTests(test, name)

  inBrowser(`the EventSource of ${name} reconnects by itself after a restart and misses no event`, async t => {
    const port = await freePort()
    const server = await bootForTest({
      t,
      config: { access: { private: true }, http: { port }, resources: { live: { retrySeconds: 0.2 } } },
    })
    const { admin } = server
    const call = server.as(admin.key)
    const dataset = await newDataset(call)
    await server.drained()
    const browser = await launch()
    t.teardown(() => browser.close())
    const page = await blankPage(browser, server.url)
    const status = await page.evaluate(
      async body => (await fetch('/api/login', { method: 'POST', headers: { 'content-type': 'application/json' }, body })).status,
      JSON.stringify({ email: admin.email, password: admin.password }),
    )
    t.is(status, 200)
    await page.evaluate(address => {
      const source = new EventSource(address)
      const names: string[] = []
      Object.assign(globalThis, { names })
      source.addEventListener('message', ({ data }) => {
        const { type, data: about } = JSON.parse(data)
        if (type === 'file.created') names.push(about.name)
      })
      return new Promise(resolve => source.addEventListener('open', resolve, { once: true }))
    }, `/api/live?type=file.created&id=${dataset}`)
    const names = () => page.evaluate(() => (globalThis as unknown as { names: string[] }).names)
    const sent: string[] = []
    const send = async (word: string): Promise<void> => {
      sent.push(word)
      await upload(server.as(admin.key), dataset, 'x', word)
    }
    // Firefox takes no position from the stream before its first event.
    await send('first.txt')
    await until('the first event', async () => (await names()).length === 1)
    for (let round = 0; round < 3; round += 1) {
      for (let at = 0; at < 5; at += 1) await send(`${round}.${at} before.txt`)
      await server.restart()
      for (let at = 0; at < 5; at += 1) await send(`${round}.${at} after.txt`)
    }
    await until('the events of all files', async () => (await names()).length >= sent.length)
    t.deepEqual(await names(), sent)
  })
}
