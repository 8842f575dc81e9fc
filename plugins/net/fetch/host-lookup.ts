import { type LookupAddress, type LookupAllOptions, lookup, Resolver } from 'node:dns'
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os'
import { Semaphore } from 'pounce/sdk/kit'

type Done = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void

/** All addresses of a host name, like `lookup` of `node:dns`. */
export type Lookup = (host: string, options: LookupAllOptions, done: Done) => void

interface Dependencies {
  readonly system: Lookup
  /** The current DNS servers; by default those of the system. */
  readonly servers?: () => readonly string[]
  /** Whether the system has an IPv6 address that reaches other networks. */
  readonly hasIPv6?: () => boolean
}

const isRouted = ({ family, internal, address }: NetworkInterfaceInfo): boolean =>
  family === 'IPv6' && !internal && !/^fe[89ab]/i.test(address)

const hasRoutedIPv6 = (): boolean =>
  Object.values(networkInterfaces())
    .flatMap(found => found ?? [])
    .some(isRouted)

/** DNS does not know the name. */
const absent: ReadonlySet<string | undefined> = new Set(['ENOTFOUND', 'ENODATA'])
/** The system may know these names from elsewhere, such as the hosts file. */
const unknownToDns: ReadonlySet<string | undefined> = new Set([...absent, 'ECONNREFUSED'])

const [queryTimeoutMs, tries] = [2000, 2]

/** A resolver reads the DNS servers of the system when it is created, and they and the addresses of the system may change. */
const maxAgeMs = 30_000

/**
 * Resolves host names given by users. `lookup` occupies a thread of a small pool until the DNS server of the name responds, so a few names whose
 * server is silent delay all other lookups of the process. Such names are therefore resolved by DNS queries that need no thread.
 */
export class HostLookup {
  readonly #system: Lookup
  readonly #servers: (() => readonly string[]) | undefined
  /** One thread at most is used for names from users that DNS does not know. */
  readonly #fallback = new Semaphore({
    max: 1,
    queue: { maxWaiting: 100, maxWaitMs: 10_000, refusal: 'Too many names are being resolved' },
  })
  readonly #hasIPv6: () => boolean
  #resolver: { readonly dns: Resolver; readonly families: readonly (4 | 6)[]; readonly until: number } | undefined

  constructor(
    { system, servers, hasIPv6 = hasRoutedIPv6 }: Dependencies = { system: (host, options, done) => lookup(host, options, done) },
  ) {
    this.#system = system
    this.#servers = servers
    this.#hasIPv6 = hasIPv6
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
    const { dns, families } = this.#current()
    const requested = families.filter(family => [family, `IPv${family}`, 0, undefined].includes(options.family as never))
    const answers = await Promise.allSettled(requested.map(family => recordsOf(dns, host, family)))
    const addresses = answers.flatMap(answer => (answer.status === 'fulfilled' ? answer.value : []))
    const failures = answers.flatMap(answer => (answer.status === 'rejected' ? [answer.reason as NodeJS.ErrnoException] : []))
    if (failures.some(({ code }) => !absent.has(code))) this.#resolver = undefined
    if (addresses.length > 0) return addresses
    const failure = failures.find(({ code }) => !unknownToDns.has(code))
    if (failure) throw failure
    return this.#fallback.use(() => this.#bySystem(host, options))
  }

  #current() {
    const now = performance.now()
    if (this.#resolver && now < this.#resolver.until) return this.#resolver
    const dns = new Resolver({ timeout: queryTimeoutMs, tries })
    if (this.#servers) dns.setServers(this.#servers())
    // Node abandons an address after 250 ms for the next one, so the last one must be usable.
    const families = this.#hasIPv6() ? ([6, 4] as const) : ([4] as const)
    this.#resolver = { dns, families, until: now + maxAgeMs }
    return this.#resolver
  }

  dispose(): void {
    this.#resolver?.dns.cancel()
  }

  #bySystem(host: string, options: LookupAllOptions): Promise<readonly LookupAddress[]> {
    return new Promise((resolve, reject) => {
      this.#system(host, options, (error, addresses) => (error ? reject(error) : resolve(addresses)))
    })
  }
}

const recordsOf = (dns: Resolver, host: string, family: 4 | 6): Promise<readonly LookupAddress[]> => {
  const { promise, resolve, reject } = Promise.withResolvers<readonly LookupAddress[]>()
  const done = (error: Error | null, addresses: readonly string[]): void =>
    error ? reject(error) : resolve(addresses.map(address => ({ address, family })))
  if (family === 4) dns.resolve4(host, done)
  else dns.resolve6(host, done)
  return promise
}
