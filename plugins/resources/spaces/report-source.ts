import { eq, type ReportSource } from 'pounce/sdk'
import { spaces } from './collection.ts'

/** Spaces in reports. */
export class SpaceSource implements ReportSource {
  readonly kind = 'space'
  readonly records = spaces
  readonly byCreated = { using: 'byCreated', where: [eq('state', 'live')] }
}
