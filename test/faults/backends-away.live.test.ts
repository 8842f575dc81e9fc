import test from 'ava'
import { liveTests } from 'pounce/sdk/testing'
import type { ProxyMode } from '../support/flaky-proxy.ts'
import { until } from '../support/until.ts'
import { AwayServer, type Part, type Seen } from './away-server.ts'

const { test: live, url } = liveTests(test, 'MONGODB', 'S3', 'ELASTICSEARCH', 'RABBITMQ', 'RABBITMQ_MANAGEMENT')

const what = ['record', 'list', 'download', 'upload', 'edit', 'tag', 'comment', 'search'] as const
type What = (typeof what)[number]

const [up, down] = [200, 503]
const allUp = Object.fromEntries(what.map(name => [name, up])) as Record<What, number>

/** Statuses while a backend is unavailable: the usual one, or a refusal before the backend responds. */
const table: Readonly<Record<Part, Readonly<Record<What, number>>>> = {
  store: Object.fromEntries(what.map(name => [name, down])) as Record<What, number>,
  bytes: { ...allUp, download: down, upload: down },
  search: { ...allUp, search: down },
  broker: allUp,
}

const everything = async (server: AwayServer, part: Part, mark: string): Promise<Readonly<Record<What, Seen>>> => {
  const { dataset, file } = server
  const post = { method: 'POST' }
  const find = () => server.search('larches')
  // A search server that is busy with other tests responds to retries.
  const search = table[part].search === down ? await find() : await until('search to respond', find, ({ status }) => status === 200)
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
    `with the ${part} refusing, silent or slow, requests that do not need it succeed, others get 503 with Retry-After, and all recover`,
    async t => {
      const server = await AwayServer.begin(t, url)
      for (const mode of ['refuse', 'silent', 'slow'] as const satisfies readonly ProxyMode[]) {
        const mark = `${mode}${part}`
        await server.become(part, mode)
        const seen = await everything(server, part, mark)
        for (const name of what) {
          const status = table[part][name]
          const { status: was, retryAfter, body } = seen[name]
          const about = `${part} ${mode}: ${name} ${was} ${JSON.stringify(body).slice(0, 300)}`
          t.is(was, status, about)
          if (status !== 503) continue
          t.regex(retryAfter ?? '', /^\d+$/, about)
          t.is(typeof body.code, 'string', about)
          t.is(typeof body.requestId, 'string', about)
        }
        t.is((await server.see('/healthz')).status, 200)
        await until(
          'the expected readiness',
          () => server.see('/readyz'),
          ({ status }) => (status === 503) === (part === 'store'),
        )

        await server.become(part, 'pass')
        await server.isWell()
        const isKept = table[part].upload === up
        t.is((await server.files()).includes(`${mark}.txt`), isKept, `${mark}.txt`)
        if (!isKept) continue
        await until(
          `${mark} to be found`,
          () => server.search(mark),
          ({ body }) => (body.count ?? 0) > 0,
        )
        await until(
          'its job to be delivered',
          () => [...server.extractor.deliveries.keys()].length,
          count => count > jobsBefore(mode),
          90_000,
        )
      }
    },
  )

const jobsBefore = (mode: 'refuse' | 'silent' | 'slow'): number => ({ refuse: 0, silent: 1, slow: 2 })[mode]
