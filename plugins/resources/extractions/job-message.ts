import type { FileRecord, Json, Stored } from 'pounce/sdk'

/** What kind of event asks for the run, and with what. */
export interface Asked {
  readonly jobId: string
  readonly host: string
  readonly dataset: string
  readonly notifies: readonly string[]
  readonly extractor: string
  readonly parameters: Readonly<Record<string, unknown>>
}

/** `application/vnd.ms-excel` → `application.vnd_ms-excel`: dots first, then the slash (reference, extraction §1.3). */
const asKey = (contentType: string): string => contentType.replaceAll('.', '_').replaceAll('/', '.')

const entity = (kind: string, id: string, more: Readonly<Record<string, Json>>) => ({
  // the apostrophe is on the wire in Clowder 1.x and extractors have learned to live with it
  id: { resourceType: `'${kind}`, id },
  ...more,
})

const common = ({ jobId, host, notifies }: Asked, id: string, dataset: string, fileSize: number) => ({
  msgid: jobId,
  jobid: jobId,
  id,
  intermediateId: id,
  datasetId: dataset,
  fileSize: String(fileSize),
  host,
  flags: '',
  notifies,
})

/** The message of a new file (reference, extraction §2.2, "file created"). */
export const fileCreated = (file: FileRecord & Stored, asked: Asked): Readonly<Record<string, unknown>> => ({
  ...common(asked, file.id, asked.dataset, file.sizeBytes),
  routing_key: `clowder.file.${asKey(file.contentType)}`,
  activity: 'created',
  filename: file.name,
  source: entity('file', file.id, { mimeType: file.contentType, extra: { filename: file.name } }),
  target: '{}',
})

/** The message of a run that somebody asked for on a file: parameters are an object. */
export const fileSubmitted = (file: FileRecord & Stored, asked: Asked): Readonly<Record<string, unknown>> => ({
  ...fileCreated(file, asked),
  routing_key: `extractors.${asked.extractor}`,
  activity: 'submitted',
  parameters: asked.parameters,
  action: 'manual-submission',
})

/** The message of a run that somebody asked for on a dataset: parameters are text. */
export const datasetSubmitted = (
  dataset: { readonly id: string; readonly name: string },
  asked: Asked,
): Readonly<Record<string, unknown>> => ({
  ...common(asked, dataset.id, dataset.id, 0),
  routing_key: `extractors.${asked.extractor}`,
  activity: 'submitted',
  datasetname: dataset.name,
  parameters: JSON.stringify(asked.parameters),
  action: 'manual-submission',
  source: entity('dataset', dataset.id, { extra: {} }),
  target: '{}',
})
