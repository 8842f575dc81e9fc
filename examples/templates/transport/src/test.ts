import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Installation } from 'pounce/sdk'
import { bootForTest, FixedClock, silent, type TestContext, transportContract, transportStatusContract } from 'pounce/sdk/testing'
import { FolderTransport } from './folder-transport.ts'
import { plugin } from './index.ts'

const temporaryFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'template-'))
const info = {
  ...{ name: 'tides', version: '1.0.0', description: 'Tides', author: '', maturity: 'Development' },
  ...{ contributors: [], contexts: [], repository: [], external_services: [], libraries: [], bibtex: [], defaultLabels: [] },
  ...{ process: { file: ['text/plain'] }, categories: ['EXTRACT'], parameters: {} },
}
const until = async (condition: () => Promise<boolean>): Promise<void> => {
  const limit = Date.now() + 30_000
  while (!(await condition())) {
    assert.ok(Date.now() < limit, 'timed out after 30 s')
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

const makeTransport = async (t: TestContext) => {
  const folder = await temporaryFolder()
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const keys = { jobKey: async () => undefined, isOutdated: () => false }
  let transport: FolderTransport | undefined
  const reopen = async (): Promise<FolderTransport> => {
    await transport?.dispose()
    transport = new FolderTransport(
      { folder, pollMs: 50 },
      { roles: new Set(['worker']) } as unknown as Installation,
      keys,
      new FixedClock(),
      silent,
    )
    await transport.start()
    return transport
  }
  t.teardown(() => transport?.dispose())
  return { folder, transport: await reopen(), reopen, prepare: async () => undefined, store: async () => '' }
}

transportContract(test, makeTransport)

transportStatusContract(test, async t => {
  const { folder, ...made } = await makeTransport(t)
  let replies = 0
  return {
    ...made,
    take: ({ id }) => rename(join(folder, `jobs/${id}.json`), join(folder, `running/${id}.json`)),
    async report({ id }, status) {
      replies += 1
      await writeFile(join(folder, 'tmp/reply'), JSON.stringify({ jobId: id, status }))
      await rename(join(folder, 'tmp/reply'), join(folder, `replies/${replies}.json`))
    },
  }
})

test('a program takes a job from the folder, and the server shows what it replies', async t => {
  const folder = await temporaryFolder()
  t.after(() => rm(folder, { recursive: true, force: true }))
  await mkdir(join(folder, 'extractors'))
  await writeFile(join(folder, 'extractors/tides.json'), JSON.stringify(info))
  const server = await bootForTest({ t, also: [plugin], config: { example: { template: { folder, pollMs: 50 } } } })
  const me = server.as(server.admin.key)
  await until(async () => (await (await me('/api/extractors')).text()).includes('tides'))

  const body = new FormData()
  body.set('file', new Blob(['some text'], { type: 'text/plain' }), 'gauge.txt')
  const { id } = (await (await me('/api/files', { method: 'POST', body })).json()) as { readonly id: string }
  const submitted = await me(`/api/files/${id}/extractions`, { method: 'POST', json: { extractor: 'tides' } })
  assert.equal(submitted.status, 200)

  const waiting = async (): Promise<readonly string[]> => readdir(join(folder, 'jobs'))
  await until(async () => (await waiting()).length === 1)
  const [file = ''] = await waiting()
  await rename(join(folder, 'jobs', file), join(folder, 'running', file))
  const { job } = JSON.parse(await readFile(join(folder, 'running', file), 'utf8')) as { readonly job: { readonly id: string } }
  await writeFile(join(folder, 'tmp/reply'), JSON.stringify({ jobId: job.id, status: 'DONE' }))
  await rename(join(folder, 'tmp/reply'), join(folder, 'replies/1.json'))

  await until(async () => (await (await me(`/api/extractions/${id}/status`)).text()).includes('"tides":"DONE"'))
  assert.deepEqual(await readdir(join(folder, 'running')), [])
})
