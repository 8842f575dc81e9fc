import test from 'ava'
import { adminKey, type ChildServer, dataFolder, startChild } from './support/child-server.ts'
import { newDataset, ok } from './support/scene.ts'
import { until } from './support/until.ts'

const count = 300

interface Job {
  readonly id: string
  readonly state: string
  readonly done: number
  readonly failed: number
}

for (const act of ['copy', 'delete'] as const) {
  test(`a bulk job (${act}) resumes after the server is killed, and each resource has the right outcome`, async t => {
    t.timeout(120_000)
    const folder = await dataFolder(t)
    let server: ChildServer = await startChild(folder, {}).ready
    t.teardown(async () => {
      server.signal('SIGKILL')
      await server.ended
    })
    const key = await adminKey(server)
    const call: ReturnType<ChildServer['as']> = (path, init) => server.as(key)(path, init)
    const dataset = await newDataset(call)
    const body = new FormData()
    for (let n = 0; n < count; n++) body.append('File', new Blob([`${n}`]), `f${n}.txt`)
    await ok(call(`/api/uploadToDataset/${dataset}?extract=false`, { method: 'POST', body }))
    const target = await newDataset(call)
    const json = { act, to: { dataset: target }, select: { dataset } }
    const { id } = await ok<Job>(call('/api/bulk', { method: 'POST', json }))
    const jobNow = () => ok<Job>(call(`/api/bulk/${id}`))
    for (const least of [0, 120]) {
      await until('the job to make progress', jobNow, ({ done }) => done >= least)
      server.signal('SIGKILL')
      await server.ended
      server = await startChild(folder, {}).ready
    }
    const job = await until('the job to finish', jobNow, ({ state }) => state === 'finished', 60_000)
    t.like(job, { done: count, failed: 0, total: count })
    const files = await ok<{ id: string }[]>(call(`/api/datasets/${dataset}/files`))
    t.is(files.length, act === 'delete' ? 0 : count)
    const copies = await ok<{ id: string; filename: string }[]>(call(`/api/datasets/${target}/files`))
    t.is(new Set(copies.map(({ filename }) => filename)).size, act === 'copy' ? count : 0)
    t.is(copies.length, act === 'copy' ? count : 0, 'no file is copied twice')
    for (const { id, filename } of copies.filter((_, n) => n % 97 === 0))
      t.is(`f${await (await call(`/api/files/${id}`)).text()}.txt`, filename)
  })
}
