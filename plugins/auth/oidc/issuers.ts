import { Fetch, Invalid, Log, type StatusPart, wire } from 'pounce/sdk'
import { Config, type OidcConfig, type ProviderConfig } from './config.ts'
import { Issuer, type Libraries } from './issuer.ts'

/** Names used by other sign-in methods and by routes. */
const takenNames: ReadonlySet<string> = new Set(['userpass', 'ldap', 'local', 'oidc', 'providers'])

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/** Rejects unusable or unsafe settings, with a message that names the setting. */
const checkProviders = (providers: readonly ProviderConfig[]): void => {
  for (const { name, issuer, alsoAt, scopes } of providers) {
    const setting = `auth.oidc.providers.${name}`
    if (!/^[a-z][a-z0-9-]{0,39}$/.test(name)) throw new Invalid(`${setting}: a name has up to 40 lower-case letters, digits and dashes`)
    if (takenNames.has(name)) throw new Invalid(`${setting}: ${name} is reserved; choose another name`)
    for (const address of [issuer, ...alsoAt]) {
      if (!URL.canParse(address)) throw new Invalid(`${setting}: ${address} is not a URL`)
      const { protocol, hostname } = new URL(address)
      if (protocol !== 'https:' && !loopback.test(hostname)) throw new Invalid(`${setting}: ${address} must begin with https://`)
    }
    if (!scopes.includes('openid')) throw new Invalid(`${setting}.scopes: openid must be among them`)
  }
}

/** The configured providers. None of them is contacted before the first sign-in. */
export class Issuers {
  readonly #config: OidcConfig
  readonly #fetch: Fetch
  readonly #log: Log
  #all: readonly Issuer[] = []

  constructor(config: OidcConfig, fetch: Fetch, log: Log) {
    this.#config = config
    this.#fetch = fetch
    this.#log = log
  }

  async start(): Promise<void> {
    const providers = Object.entries(this.#config.providers).map(([name, provider]) => ({ name, ...provider }))
    checkProviders(providers)
    const [client, jose] = await Promise.all([import('openid-client'), import('jose')])
    const libraries: Libraries = { client, jose }
    this.#all = providers.map(provider => new Issuer(provider, this.#config, this.#fetch, this.#log, libraries))
  }

  all(): readonly Issuer[] {
    return this.#all
  }
}
wire(Issuers, Config, Fetch, Log)

/** Whether the providers respond, for the status page. */
export class OidcStatus implements StatusPart {
  readonly name = 'oidc'
  readonly #issuers: Issuers

  constructor(issuers: Issuers) {
    this.#issuers = issuers
  }

  get details(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#issuers.all().map(({ provider }) => [provider.name, provider.issuer]))
  }

  async check(): Promise<undefined> {
    await Promise.all(this.#issuers.all().map(issuer => issuer.configuration()))
  }
}
wire(OidcStatus, Issuers)
