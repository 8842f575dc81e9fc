import { and, eq, isIn, type ReportSource } from 'pounce/sdk'
import { datasets } from './collection.ts'

/** Datasets in reports. What is in the trash is no news, but it takes space. */
export class DatasetSource implements ReportSource {
  readonly kind = 'dataset'
  readonly records = datasets
  readonly byCreated = { using: 'byCreated', where: [eq('state', 'live')] }

  inSpace(space: string) {
    return { using: 'bySpace', where: and(isIn('state', ['live', 'trashed']), eq('spaces', space)) }
  }
}
