import { eq, type ReportSource } from 'pounce/sdk'
import { collections } from './collection.ts'

/** Collections in reports. */
export class CollectionSource implements ReportSource {
  readonly kind = 'collection'
  readonly records = collections
  readonly byCreated = { using: 'byCreated', where: [eq('state', 'live')] }
}
