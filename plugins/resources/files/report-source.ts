import type { ReportSource } from 'pounce/sdk'
import { files } from './collection.ts'

/** Files in reports. */
export class FileSource implements ReportSource {
  readonly kind = 'file'
  readonly records = files
  readonly byCreated = { using: 'byCreated', where: [] }
}
