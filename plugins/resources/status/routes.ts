import {
  type Contributions,
  Counters,
  type Extractor,
  Extractors,
  Installation,
  isServerAdmin,
  Policy,
  routesFor,
  SearchIndex,
  type StatusPart,
  StatusParts,
  s,
  type Transport,
  Transports,
  wire,
} from 'pounce/sdk'
import { withTimeLimit } from 'pounce/sdk/kit'

type StatusDetails = Readonly<Record<string, unknown>>

/** Timeout for the response of a component. */
const timeoutMs = 1000

/**
 * The components of the installation, with the names used by Clowder's status page. An unavailable component does not block the response.
 */
class ComponentStatus {
  #installation: Installation
  #index: SearchIndex
  #transports: Contributions<Transport>
  #extractors: Contributions<Extractor>
  #parts: Contributions<StatusPart>

  constructor(
    installation: Installation,
    index: SearchIndex,
    transports: Contributions<Transport>,
    extractors: Contributions<Extractor>,
    parts: Contributions<StatusPart>,
  ) {
    this.#installation = installation
    this.#index = index
    this.#transports = transports
    this.#extractors = extractors
    this.#parts = parts
  }

  async plugins(isForAdmin: boolean): Promise<Record<string, unknown>> {
    const services = this.#installation.plugins.map(id => [id, { status: 'enabled' }])
    const kinds = this.#transports.all().map(({ kind }) => kind)
    const parts = this.#parts.all().filter(({ name }) => name !== 'storage')
    return {
      ...Object.fromEntries(services),
      search: { status: 'enabled', engine: this.#index.engine },
      transport: { status: 'enabled', kind: kinds.join(' ') },
      ...Object.fromEntries(await Promise.all(parts.map(async part => [part.name, await detailsOf(part, isForAdmin)]))),
    }
  }

  /** The storage of bytes: its kind for everyone, its location for admins. */
  async storage(isForAdmin: boolean): Promise<StatusDetails> {
    const part = this.#parts.all().find(({ name }) => name === 'storage')
    if (!part) return { location: 'unknown' }
    const { status, ...details } = (await detailsOf(part, isForAdmin)) as StatusDetails
    return status === 'connected' ? details : { ...details, status }
  }

  /** Names of the connected extractors. */
  async extractors(): Promise<string[]> {
    const queues = await Promise.all(this.#transports.all().map(transport => inTime(transport.queues()).catch(() => [])))
    // The queue name of a private extractor contains its key.
    const listening = queues.flat().flatMap(({ queue, consumers }) => (consumers > 0 && !queue.startsWith('private.') ? [queue] : []))
    return [...new Set([...this.#extractors.all().map(extractor => extractor.info.name), ...listening])].sort()
  }
}
wire(ComponentStatus, Installation, SearchIndex, Transports, Extractors, StatusParts)

/** Rejects after the timeout. */
const inTime = <T>(work: Promise<T>): Promise<T> => withTimeLimit(work, timeoutMs, `no response within ${timeoutMs} ms`)

async function detailsOf(part: StatusPart, isForAdmin: boolean): Promise<StatusDetails | boolean> {
  const answer = await inTime(Promise.try(() => part.check())).then(
    found => ({ isThere: true, found }),
    () => ({ isThere: false, found: undefined }),
  )
  if (part.isPlain && !isForAdmin) return answer.isThere
  const status = answer.isThere ? 'connected' : 'disconnected'
  return { status, ...part.publicDetails, ...(isForAdmin ? { ...part.details, ...answer.found } : {}) }
}

type Totals = Awaited<ReturnType<Counters['instance']>>

/** The totals, or the last known ones while the store is unavailable. */
class CachedTotals {
  readonly #counters: Counters
  #last: Totals = { spaces: 0, collections: 0, datasets: 0, files: 0, bytes: 0, users: 0 }

  constructor(counters: Counters) {
    this.#counters = counters
  }

  async known(): Promise<Totals> {
    this.#last = await inTime(this.#counters.instance()).catch(() => this.#last)
    return { ...this.#last }
  }
}
wire(CachedTotals, Counters)

const route = routesFor('status', { totals: CachedTotals, installation: Installation, policy: Policy, componentStatus: ComponentStatus })

const untold = { spaces: 0, collections: 0, datasets: 0, files: 0, bytes: 0, users: 0 } as const

const Version = s.model('Version', s.Object({ number: s.String(), build: s.String(), branch: s.String(), gitsha1: s.String() }))

export const getVersion = route({
  method: 'GET',
  path: '/api/version',
  summary: 'Get the version of the server',
  permission: 'anyone',
  jobKeys: 'allowed',
  responses: { 200: s.Object({ version: Version }) },
  async handle(_request, { installation }) {
    return { status: 200, body: { version: { number: installation.version, build: 'pounce', branch: '', gitsha1: '' } } }
  },
})

export const getStatus = route({
  method: 'GET',
  path: '/api/status',
  summary: 'Get the status of the server',
  description:
    'On a private server the totals are for server admins; others get 0, because totals would reveal hidden resources. Server admins also see the storage locations. An unavailable component is `disconnected` (MongoDB: `false`), and the totals are then the last known ones.',
  permission: 'anyone',
  responses: {
    200: s.model(
      'Status',
      s.Object({
        instance: s.String(),
        version: Version,
        counts: s.Object({
          spaces: s.Integer(),
          collections: s.Integer(),
          datasets: s.Integer(),
          files: s.Integer(),
          bytes: s.Integer(),
          users: s.Integer(),
        }),
        plugins: s.Record(s.String(), s.Unknown()),
        storage: s.Record(s.String(), s.Unknown()),
        extractors: s.Array(s.String()),
      }),
    ),
  },
  async handle({ caller }, { totals, installation, policy, componentStatus }) {
    const isForAdmin = isServerAdmin(caller)
    const [counts, plugins, storage, extractors] = await Promise.all([
      isForAdmin || !policy.isPrivate ? totals.known() : untold,
      componentStatus.plugins(isForAdmin),
      componentStatus.storage(isForAdmin),
      componentStatus.extractors(),
    ])
    return {
      status: 200,
      body: {
        instance: installation.instance,
        version: { number: installation.version, build: 'pounce', branch: '', gitsha1: '' },
        counts: { ...counts },
        plugins,
        storage,
        extractors,
      },
    }
  },
})
