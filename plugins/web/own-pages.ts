import { wire } from 'pounce/sdk'
import type { PageAddresses } from 'pounce/sdk/kit'

/** The pages that links in emails, and the printed one, lead to. */
export class OwnPages implements PageAddresses {
  readonly setUp = '/welcome'
  readonly signUp = '/signup'
  readonly reset = '/reset'
}
wire(OwnPages)
