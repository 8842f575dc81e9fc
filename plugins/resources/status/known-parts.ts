import {
  type Contributions,
  type Extractor,
  Extractors,
  Installation,
  SearchIndex,
  type StatusPart,
  StatusParts,
  type Transport,
  Transports,
  wire,
} from 'pounce/sdk'

type Facts = Readonly<Record<string, unknown>>

/** How long a part may take to answer. */
const patienceMs = 1000

/** Which parts the installation is made of, in the words of Clowder's status page. A part that is unavailable holds up no answer. */
export class ComponentStatus {
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
      ...Object.fromEntries(await Promise.all(parts.map(async part => [part.name, await factsOf(part, isForAdmin)]))),
    }
  }

  /** Where bytes are: the kind for everybody, the address for admins. */
  async storage(isForAdmin: boolean): Promise<Facts> {
    const part = this.#parts.all().find(({ name }) => name === 'storage')
    if (!part) return { location: 'unknown' }
    const { status, ...facts } = (await factsOf(part, isForAdmin)) as Facts
    return status === 'connected' ? facts : { ...facts, status }
  }

  /** Names of the extractors that run here. */
  async extractors(): Promise<string[]> {
    const queues = await Promise.all(this.#transports.all().map(transport => inTime(transport.queues()).catch(() => [])))
    // The queue of a private extractor holds its key.
    const listening = queues.flat().flatMap(({ queue, consumers }) => (consumers > 0 && !queue.startsWith('private.') ? [queue] : []))
    return [...new Set([...this.#extractors.all().map(extractor => extractor.info.name), ...listening])].sort()
  }
}
wire(ComponentStatus, Installation, SearchIndex, Transports, Extractors, StatusParts)

/** Rejects when it takes longer than anybody waits for a status. */
export async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no response within ${patienceMs} ms`)), patienceMs)
  })
  try {
    return await Promise.race([work, limit])
  } finally {
    clearTimeout(timer)
  }
}

async function factsOf(part: StatusPart, isForAdmin: boolean): Promise<Facts | boolean> {
  const answer = await inTime(part.check()).then(
    found => ({ isThere: true, found }),
    () => ({ isThere: false, found: undefined }),
  )
  if (part.isPlain && !isForAdmin) return answer.isThere
  const status = answer.isThere ? 'connected' : 'disconnected'
  return { status, ...part.facts, ...(isForAdmin ? { ...part.details, ...answer.found } : {}) }
}
