import { type LookupAddress, type LookupAllOptions, lookup, Resolver } from 'node:dns'
import { Semaphore } from 'pounce/sdk/kit'

type Done = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void

/** All addresses of a host name, like `lookup` of `node:dns`. */
export type Lookup = (host: string, options: LookupAllOptions, done: Done) => void

interface Dependencies {
  readonly system: Lookup
  /** DNS servers; by default those of the system. */
  readonly servers?: readonly string[]
}

/** DNS does not know the name, or there is no DNS server: the system may know it from elsewhere, such as the hosts file. */
const unknownToDns: ReadonlySet<string | undefined> = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED'])

const [queryTimeoutMs, tries] = [2000, 2]

/**
 * Resolves host names given by users. `lookup` occupies a thread of a small pool until the DNS server of the name responds, so a few names whose
 * server is silent delay all other lookups of the process. Such names are therefore resolved by DNS queries that need no thread.
 */
export class HostLookup {
  readonly #system: Lookup
  readonly #servers: readonly string[] | undefined
  /** One thread at most is used for names from users that DNS does not know. */
  readonly #fallback = new Semaphore({ max: 1 })
  #resolver: Resolver | undefined

  constructor({ system, servers }: Dependencies = { system: (host, options, done) => lookup(host, options, done) }) {
    this.#system = system
    this.#servers = servers
  }

  /** Names chosen by the operator, and names without a dot, which no foreign DNS server answers for, are resolved as the system does. */
  of(host: string, options: LookupAllOptions, isConfigured: boolean, done: Done): void {
    if (isConfigured || !host.replace(/\.$/, '').includes('.')) this.#system(host, options, done)
    else
      this.#query(host, options).then(
        addresses => done(null, [...addresses]),
        (error: unknown) => done(error as NodeJS.ErrnoException, []),
      )
  }

  async #query(host: string, options: LookupAllOptions): Promise<readonly LookupAddress[]> {
    const families = ([4, 6] as const).filter(family => [family, `IPv${family}`, 0, undefined].includes(options.family as never))
    const answers = await Promise.allSettled(families.map(family => this.#records(host, family)))
    const addresses = answers.flatMap(answer => (answer.status === 'fulfilled' ? answer.value : []))
    if (addresses.length > 0) return addresses
    const failed = answers.find(answer => answer.status === 'rejected' && !unknownToDns.has((answer.reason as NodeJS.ErrnoException).code))
    if (failed?.status === 'rejected') throw failed.reason
    return this.#fallback.use(() => this.#bySystem(host, options))
  }

  #records(host: string, family: 4 | 6): Promise<readonly LookupAddress[]> {
    this.#resolver ??= this.#newResolver()
    const { promise, resolve, reject } = Promise.withResolvers<readonly LookupAddress[]>()
    const done = (error: Error | null, addresses: readonly string[]): void =>
      error ? reject(error) : resolve(addresses.map(address => ({ address, family })))
    if (family === 4) this.#resolver.resolve4(host, done)
    else this.#resolver.resolve6(host, done)
    return promise
  }

  #newResolver(): Resolver {
    const resolver = new Resolver({ timeout: queryTimeoutMs, tries })
    if (this.#servers) resolver.setServers(this.#servers)
    return resolver
  }

  dispose(): void {
    this.#resolver?.cancel()
  }

  #bySystem(host: string, options: LookupAllOptions): Promise<readonly LookupAddress[]> {
    return new Promise((resolve, reject) => {
      this.#system(host, options, (error, addresses) => (error ? reject(error) : resolve(addresses)))
    })
  }
}
