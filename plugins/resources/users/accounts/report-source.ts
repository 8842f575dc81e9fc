import type { ReportSource } from 'pounce/sdk'
import { users } from '../collections.ts'

/** Accounts in reports. */
export class UserSource implements ReportSource {
  readonly kind = 'user'
  readonly records = users
  readonly byCreated = { using: 'byCreated', where: [] }
}
