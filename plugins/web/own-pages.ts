import { wire } from 'pounce/sdk'
import type { PageAddresses } from 'pounce/sdk/kit'

/** Paths of the pages that links in emails and the printed setup link lead to. */
export class OwnPages implements PageAddresses {
  readonly setUp = '/welcome'
  readonly signUp = '/signup'
  readonly reset = '/reset'
  readonly link = '/login/link'
}
wire(OwnPages)
