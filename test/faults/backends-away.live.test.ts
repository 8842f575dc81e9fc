import test from 'ava'
import { liveTests } from 'pounce/sdk/testing'
import type { ProxyMode } from '../support/flaky-proxy.ts'
import { until } from '../support/until.ts'
import { AwayServer, type Part, type Seen } from './away-server.ts'

const { test: live, url } = liveTests(test, 'MONGODB', 'S3', 'ELASTICSEARCH', 'RABBITMQ', 'RABBITMQ_MANAGEMENT')

const what = ['record', 'list', 'download', 'upload', 'edit', 'tag', 'comment', 'search'] as const
type What = (typeof what)[number]

/** A refusal within so many milliseconds, or the usual answer. */
const down = (withinMs: number) => ({ status: 503, withinMs })
const up = { status: 200, withinMs: 10_000 }

/** What people see while a part is away. */
const table: Readonly<Record<Part, Readonly<Record<What, { readonly status: number; readonly withinMs: number }>>>> = {
  store: Object.fromEntries(what.map(name => [name, down(5_000)])) as Record<What, ReturnType<typeof down>>,
  bytes: { record: up, list: up, download: down(10_000), upload: down(10_000), edit: up, tag: up, comment: up, search: up },
  search: { record: up, list: up, download: up, upload: up, edit: up, tag: up, comment: up, search: down(2_000) },
  broker: { record: up, list: up, download: up, upload: up, edit: up, tag: up, comment: up, search: up },
}
/** What reading and writing the test's own side of a request may take on a busy machine. */
const ownMs = 500

const everything = async (server: AwayServer, mark: string): Promise<Readonly<Record<What, Seen>>> => {
  const { dataset, file } = server
  const post = { method: 'POST' }
  // Alone, for it has the shortest limit of all.
  const search = await server.search('larches')
  const requests: Record<What, Promise<Seen> | Seen> = {
    record: server.see(`/api/datasets/${dataset}`),
    list: server.see('/api/datasets'),
    download: server.see(`/api/files/${file}`),
    upload: server.upload(mark),
    edit: server.see(`/api/datasets/${dataset}/description`, { method: 'PUT', json: { description: `as of ${mark}` } }),
    tag: server.see(`/api/files/${file}/tags`, { ...post, json: { tags: [mark] } }),
    comment: server.see(`/api/files/${file}/comment`, { ...post, json: { text: mark } }),
    search,
  }
  return Object.fromEntries(await Promise.all(what.map(async name => [name, await requests[name]]))) as Record<What, Seen>
}

for (const part of ['store', 'bytes', 'search', 'broker'] as const)
  live(
    `${part} away, refused, silent or slow: what does not need it goes on, the rest says when to come back, and all is well after`,
    async t => {
      const server = await AwayServer.begin(t, url)
      for (const mode of ['refuse', 'silent', 'slow'] as const satisfies readonly ProxyMode[]) {
        const mark = `${mode}${part}`
        await server.become(part, mode)
        const seen = await everything(server, mark)
        for (const name of what) {
          const { status, withinMs } = table[part][name]
          const { status: was, ms, retryAfter, body } = seen[name]
          const about = `${part} ${mode}: ${name} ${was} after ${ms} ms ${JSON.stringify(body).slice(0, 300)}`
          t.is(was, status, about)
          t.true(ms <= withinMs + ownMs, about)
          if (status !== 503) continue
          t.regex(retryAfter ?? '', /^\d+$/, about)
          t.is(typeof body.code, 'string', about)
          t.is(typeof body.requestId, 'string', about)
        }
        t.is((await server.see('/healthz')).status, 200)
        await until(
          'readiness to tell',
          () => server.see('/readyz'),
          ({ status }) => (status === 503) === (part === 'store'),
        )

        await server.become(part, 'pass')
        await server.isWell()
        const isKept = table[part].upload.status === 200
        t.is((await server.files()).includes(`${mark}.txt`), isKept, `${mark}.txt`)
        if (!isKept) continue
        await until(
          `${mark} to be found`,
          () => server.search(mark),
          ({ body }) => (body.count ?? 0) > 0,
        )
        await until(
          'its job to be done',
          () => [...server.extractor.deliveries.keys()].length,
          count => count > jobsBefore(mode),
          30_000,
        )
      }
    },
  )

const jobsBefore = (mode: 'refuse' | 'silent' | 'slow'): number => ({ refuse: 0, silent: 1, slow: 2 })[mode]
