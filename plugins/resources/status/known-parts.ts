import {
  type Contributions,
  type Extractor,
  Extractors,
  Installation,
  port,
  SearchIndex,
  type Transport,
  Transports,
  wire,
} from 'pounce/sdk'

/** Which parts the installation is made of, in the words of Clowder's status page. */
export class Parts {
  #installation: Installation
  #index: SearchIndex
  #transports: Contributions<Transport>
  #extractors: Contributions<Extractor>

  constructor(installation: Installation, index: SearchIndex, transports: Contributions<Transport>, extractors: Contributions<Extractor>) {
    this.#installation = installation
    this.#index = index
    this.#transports = transports
    this.#extractors = extractors
  }

  plugins(): Record<string, unknown> {
    const services = this.#installation.plugins.map(id => [id, { status: 'enabled' }])
    return {
      ...Object.fromEntries(services),
      search: { status: 'connected', engine: this.#index.engine },
      transport: {
        status: 'connected',
        kind: this.#transports
          .all()
          .map(({ kind }) => kind)
          .join(' '),
      },
    }
  }

  /** Where bytes are: the kind for everybody, the folder for admins. */
  storage(isForAdmin: boolean): Record<string, string> {
    const store = this.#installation.plugins.find(id => id.startsWith('blobs.') && id !== 'blobs.sweep') ?? 'blobs.disk'
    const location = store.slice('blobs.'.length)
    return { location, ...(isForAdmin && location === 'disk' ? { path: this.#installation.dataFolder } : {}) }
  }

  /** Names of the extractors that run here. */
  async extractors(): Promise<string[]> {
    const queues = (await Promise.all(this.#transports.all().map(transport => transport.queues()))).flat()
    const listening = queues.filter(queue => queue.consumers > 0).map(queue => queue.queue)
    return [...new Set([...this.#extractors.all().map(extractor => extractor.info.name), ...listening])].sort()
  }
}
wire(Parts, Installation, SearchIndex, Transports, Extractors)

export const KnownParts = port<Parts>('status.parts')
