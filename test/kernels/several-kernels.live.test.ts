import test from 'ava'
import { liveTests } from 'pounce/sdk/testing'
import { switchedPlugin } from '../faults/switching.ts'
import { childAdmin, runPounceWith, startChild } from '../support/child-server.ts'
import { sha256 } from '../support/main-job.ts'
import { basic } from '../support/people.ts'
import { formWith, newDataset, ok } from '../support/scene.ts'
import { drained, until } from '../support/until.ts'
import { SeveralKernels } from './several-kernels.ts'

const { test: live, url } = liveTests(test, 'MONGODB', 'S3', 'ELASTICSEARCH')

live.serial('three kernels that start at the same time on empty servers form one installation with one admin', async t => {
  const kernels = await SeveralKernels.begin(t, url, 3)
  const names = await Promise.all([0, 1, 2].map(n => ok<{ instance: string }>(kernels.call(n, '/api/status'))))
  t.is(new Set(names.map(({ instance }) => instance)).size, 1)
  t.regex(names[0]?.instance ?? '', /^[a-z0-9]{10}$/)
  const users = await ok<{ email: string }[]>(kernels.call(2, '/api/users'))
  t.deepEqual(
    users.map(({ email }) => email).filter(email => email === childAdmin.email),
    [childAdmin.email],
  )
  for (const n of [0, 1, 2]) t.is((await kernels.call(n, '/readyz')).status, 200)
})

live.serial('a plugin switched on one kernel or by a command is switched on all, and its events are kept', async t => {
  const kernels = await SeveralKernels.begin(t, url, 2, { POUNCE_PLUGINS: `+${switchedPlugin}` })
  const set = (n: number, enabled: boolean) =>
    ok(kernels.call(n, '/api/admin/plugins/test.switched-plugin', { method: 'PUT', json: { enabled } }))
  const becomes = (n: number, status: number) =>
    until(
      `status ${status} from kernel ${n}`,
      async () => (await kernels.call(n, '/api/switched/echo/1')).status,
      seen => seen === status,
    )
  await set(0, false)
  await becomes(1, 404)
  const dataset = await newDataset((path, init) => kernels.call(1, path, init))
  await set(1, true)
  await becomes(0, 200)
  const seen = async () => (await ok<{ seen: boolean }>(kernels.call(0, `/api/switched/seen/${dataset}`))).seen
  await until('the kept event to be handled', seen)
  const { code, err } = await runPounceWith(kernels.settings, kernels.folderOf(2), 'plugin', 'off', 'test.switched-plugin')
  t.is(code, 0, err)
  await Promise.all([0, 1].map(n => becomes(n, 404)))
})

live.serial('the other kernel refuses deleted keys, ended sessions and sessions of an old password within a second', async t => {
  const kernels = await SeveralKernels.begin(t, url, 2)
  const ann = { email: 'ann@example.org', password: 'a long password', firstName: 'Ann', lastName: 'Ash' }
  await ok(kernels.call(0, '/api/users', { method: 'POST', json: ann }))
  const headers = { authorization: basic(ann.email, ann.password) }
  const { key } = await ok<{ key: string }>(kernels.at(0).as()('/api/users/keys?name=first', { method: 'POST', headers }))
  const signIn = async () => {
    const json = { email: ann.email, password: ann.password }
    const answer = await kernels.at(0).as()('/api/login', { method: 'POST', json })
    return { cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '', origin: kernels.at(0).url }
  }
  const [one, two] = [await signIn(), await signIn()]
  type Shown = Readonly<Record<string, string>>
  const seenBy = async (n: number, shown: Shown) => (await kernels.at(n).as()('/api/me', { headers: shown })).status
  for (const n of [0, 1]) for (const shown of [{ 'x-api-key': key }, one, two]) t.is(await seenBy(n, shown), 200)
  const refusedWithin = (n: number, shown: Shown) =>
    until(
      'the credential to be refused',
      () => seenBy(n, shown),
      status => status === 401,
      1000,
    )

  t.true((await kernels.at(0).as()('/api/users/keys/first', { method: 'DELETE', headers })).ok)
  t.is(await refusedWithin(1, { 'x-api-key': key }), 401)
  t.true((await kernels.at(0).as()('/api/logout', { method: 'POST', headers: one })).ok)
  t.is(await refusedWithin(1, one), 401)
  t.is(await seenBy(1, two), 200)
  const changed = await runPounceWith(kernels.settings, kernels.folderOf(1), 'user', 'passwd', ann.email)
  t.is(changed.code, 0, changed.err)
  t.is(await refusedWithin(0, two), 401)
})

live.serial('a command can use the data folder of a running kernel, a second server cannot', async t => {
  const kernels = await SeveralKernels.begin(t, url, 1)
  const made = await runPounceWith(kernels.settings, kernels.folderOf(0), 'user', 'create', 'bob@example.org')
  t.is(made.code, 0, made.err)
  const users = await ok<{ email: string }[]>(kernels.call(0, '/api/users'))
  t.true(users.some(({ email }) => email === 'bob@example.org'))
  const second = await startChild(kernels.folderOf(0), kernels.settings).ended
  t.is(second.code, 1)
  t.regex(second.err, /is used by the process \d+/)
})

live.serial('events of a kernel with only the role http are handled by a worker', async t => {
  const kernels = await SeveralKernels.begin(t, url, 1, { POUNCE_ROLES: 'http' })
  const dataset = await newDataset((path, init) => kernels.call(0, path, init), { name: 'Found by the worker' })
  const hits = async () => (await ok<{ count: number }>(kernels.call(0, '/api/search?query=worker'))).count
  t.is(await hits(), 0)
  const worker = startChild(kernels.folderOf(1), { ...kernels.settings, POUNCE_ROLES: 'worker' })
  t.teardown(async () => {
    worker.signal('SIGKILL')
    await worker.ended
  })
  await until('the dataset to be found', hits, count => count === 1, 60_000)
  t.truthy(dataset)
  worker.signal('SIGTERM')
  t.is((await worker.ended).code, 0)
})

live.serial(
  'during a rolling restart of kernels, one of which is killed, clients that retry once see no failure and lose nothing',
  async t => {
    const kernels = await SeveralKernels.begin(t, url, 2)
    const up = new Set([0, 1])
    const dataset = await newDataset((path, init) => kernels.call(0, path, init))
    const acked = new Map<string, string>()
    const failures: string[] = []
    let isOver = false
    t.teardown(() => {
      isOver = true
    })

    /** Like a client behind a proxy: uses the next running kernel, and another one if that does not respond. */
    const send = async (turn: number, path: string, init?: RequestInit): Promise<Response> => {
      const ready = [...up]
      const first = ready[turn % ready.length] ?? 0
      try {
        const answer = await kernels.call(first, path, init)
        if (answer.status !== 503) return answer
      } catch {
        // connection closed: try the other one
      }
      return kernels.call([...up].find(n => n !== first) ?? 1 - first, path, init)
    }
    const work = async (client: number): Promise<void> => {
      for (let n = 0; !isOver; n += 1) {
        const text = `client ${client} file ${n}`
        try {
          const answer = await send(client + n, `/api/uploadToDataset/${dataset}?extract=false`, {
            method: 'POST',
            body: formWith(text, `${client}-${n}.txt`),
          })
          const { id } = (await answer.json()) as { id?: string }
          if (answer.ok && id !== undefined) acked.set(id, sha256(Buffer.from(text)))
          else failures.push(`upload ${answer.status}`)
          const read = await send(client + n + 1, `/api/datasets/${dataset}`)
          if (!read.ok) failures.push(`read ${read.status}`)
          await read.arrayBuffer()
        } catch (error) {
          failures.push(String(error))
        }
      }
    }
    const workers = [0, 1, 2, 3].map(work)
    for (const [n, signal] of [
      [0, 'SIGTERM'],
      [1, 'SIGTERM'],
      [0, 'SIGKILL'],
    ] as const) {
      const enough = acked.size + 5
      await until(
        'uploads to be acknowledged',
        () => acked.size,
        count => count >= enough,
      )
      up.delete(n)
      const code = await kernels.end(n, signal)
      t.is(code, signal === 'SIGTERM' ? 0 : null)
      await kernels.start(n)
      up.add(n)
    }
    isOver = true
    await Promise.all(workers)
    t.deepEqual(failures, [])
    t.true(acked.size >= 15)
    for (const [id, hash] of acked) {
      const answer = await kernels.call(acked.size % 2, `/api/files/${id}`)
      const bytes = Buffer.from(await answer.arrayBuffer())
      t.is(answer.status, 200, `${id} ${bytes}`)
      t.is(sha256(bytes), hash, id)
    }
    await drained([0, 1].map(n => (path: string) => kernels.call(n, path)))
  },
)
