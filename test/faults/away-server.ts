import { FaultExtractor } from '../../scripts/faults/extractor.ts'
import { adminKey, type ChildServer, childServer, dataFolder } from '../support/child-server.ts'
import { type FlakyProxy, flakyProxy } from '../support/flaky-proxy.ts'
import { formWith, newDataset, ok, upload } from '../support/scene.ts'
import { placesOn } from '../support/server-places.ts'
import { until } from '../support/until.ts'

interface Ending {
  teardown(end: () => Promise<void>): void
}

/** A backend server. */
export type Part = 'store' | 'bytes' | 'search' | 'broker'

/** The outcome of one request. */
export interface Seen {
  readonly status: number
  readonly retryAfter: string | null
  readonly body: { readonly id?: string; readonly code?: string; readonly requestId?: string; readonly count?: number }
}

const servers = { store: 'MONGODB', bytes: 'S3', search: 'ELASTICSEARCH', broker: 'RABBITMQ' } as const
const extractorName = 'test.away'
/** Twice the longest timeout: a request without a timeout gets its late response, which the test detects. */
const slowMs = 20_000

/** A Pounce server that uses all backend servers, each behind a proxy that can make it unavailable. */
export class AwayServer {
  readonly dataset: string
  readonly file: string
  readonly extractor: FaultExtractor
  readonly #server: ChildServer
  readonly #key: string
  readonly #proxies: Readonly<Record<Part, FlakyProxy>>

  private constructor(
    server: ChildServer,
    key: string,
    proxies: Readonly<Record<Part, FlakyProxy>>,
    things: { readonly dataset: string; readonly file: string; readonly extractor: FaultExtractor },
  ) {
    this.#server = server
    this.#key = key
    this.#proxies = proxies
    this.dataset = things.dataset
    this.file = things.file
    this.extractor = things.extractor
  }

  static async begin(t: Ending, url: Parameters<typeof placesOn>[1]): Promise<AwayServer> {
    const parts = ['documents.mongodb', 'blobs.s3', 'search.elasticsearch', 'transport.rabbitmq'] as const
    const { settings, broker = '' } = await placesOn(t, url, parts)
    const proxyOf = (part: Part) => flakyProxy(t, url(servers[part]), { slowMs })
    const [store, bytes, search, bus] = await Promise.all([proxyOf('store'), proxyOf('bytes'), proxyOf('search'), proxyOf('broker')])
    const through = {
      POUNCE_DOCUMENTS__MONGODB__URI: store.urlFor(url('MONGODB')),
      POUNCE_BLOBS__S3__ENDPOINT: bytes.urlFor(url('S3')),
      POUNCE_SEARCH__ELASTICSEARCH__NODES: search.urlFor(url('ELASTICSEARCH')),
      POUNCE_TRANSPORT__RABBITMQ__URI: bus.urlFor(broker),
    }
    const server = await childServer(t, await dataFolder(t), { ...settings, ...through, POUNCE_LOG__LEVEL: 'silent' })
    const key = await adminKey(server)
    const call = server.as(key)
    const extractor = new FaultExtractor(extractorName, broker)
    t.teardown(() => extractor.end())
    extractor.start()
    // A store that is busy with work of other tests may refuse a request.
    const known = async () => (await call('/api/extractors')).text()
    await until('the extractor to be registered', known, text => text.includes(`"${extractorName}"`))
    const { enabled } = await ok<{ enabled: string[] }>(call('/api/extractors/enabled'))
    await ok(call('/api/extractors/enabled', { method: 'POST', json: { enabled: [...enabled, extractorName] } }))
    const dataset = await newDataset(call, { name: 'Larches' })
    const away = new AwayServer(
      server,
      key,
      { store, bytes, search, broker: bus },
      { dataset, file: await upload(call, dataset), extractor },
    )
    // The backends may still be busy with work of other tests.
    await away.isWell(60_000)
    return away
  }

  /** Makes a backend unavailable, or available again. */
  become(part: Part, mode: Parameters<FlakyProxy['become']>[0]): Promise<void> {
    return this.#proxies[part].become(mode)
  }

  async see(path: string, init?: RequestInit & { readonly json?: unknown }): Promise<Seen> {
    const answer = await this.#server.as(this.#key)(path, init)
    const text = await answer.text()
    const isJson = answer.headers.get('content-type')?.includes('json') ?? false
    return { status: answer.status, retryAfter: answer.headers.get('retry-after'), body: isJson ? JSON.parse(text) : {} }
  }

  upload(name: string): Promise<Seen> {
    return this.see(`/api/uploadToDataset/${this.dataset}`, { method: 'POST', body: formWith(`words of ${name}`, `${name}.txt`) })
  }

  search(word: string): Promise<Seen> {
    return this.see(`/api/search?query=${word}`)
  }

  /** Names of the files in the dataset. */
  async files(): Promise<readonly string[]> {
    const files = await ok<{ filename: string }[]>(this.#server.as(this.#key)(`/api/datasets/${this.dataset}/files`))
    return files.map(({ filename }) => filename)
  }

  /** Waits until everything works again. */
  async isWell(limitMs = 60_000): Promise<void> {
    const look = async () => {
      const all = await Promise.all([
        this.see(`/api/datasets/${this.dataset}`),
        this.see(`/api/files/${this.file}`),
        this.search('larches'),
        this.see('/readyz'),
      ])
      return all.map(({ status, body }) => (status === 200 ? status : { status, body }))
    }
    await until('all requests to succeed', look, seen => seen.every(each => each === 200), limitMs)
  }
}
