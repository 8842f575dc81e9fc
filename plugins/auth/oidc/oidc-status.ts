import { type StatusPart, wire } from 'pounce/sdk'
import { Issuers } from './issuers.ts'

/** Whether the providers answer, for the status page. */
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
