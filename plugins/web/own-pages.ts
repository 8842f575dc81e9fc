import { type PageAddresses, wire } from 'pounce/sdk'

/** The pages that links in emails, and the printed one, lead to. */
export class OwnPages implements PageAddresses {
  readonly setUp = '/welcome'
  readonly signUp = '/signup'
  readonly reset = '/reset'
}
wire(OwnPages)
