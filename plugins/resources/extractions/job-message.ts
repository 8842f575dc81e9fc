import { createHash } from 'node:crypto'
import type { FileRecord, Json, MetadataRecord, Ref, Stored } from 'pounce/sdk'

/** The fields that all messages have besides their event. */
export interface MessageContext {
  readonly jobId: string
  readonly host: string
  readonly notifies: readonly string[]
}
/** The fields of a file in messages; it may be deleted already. */
export type JobFile = Pick<FileRecord & Stored, 'id' | 'name' | 'contentType' | 'sizeBytes'>
export type Message = Readonly<Record<string, unknown>>
type Parameters = Readonly<Record<string, unknown>>

/** An id derived from others, so that a repeated request creates nothing new. */
export const derivedId = (...parts: readonly string[]): string => createHash('sha256').update(parts.join('/')).digest('hex').slice(0, 24)

/** `application/vnd.ms-excel` → `application.vnd_ms-excel`: dots first, then the slash (reference, extraction §1.3). */
const toRoutingKey = (contentType: string): string => contentType.replaceAll('.', '_').replaceAll('/', '.')

/** Routing keys in message bodies; patterns of extractors and legacy bindings are matched against them. */
export const routingKeys = {
  fileCreated: (contentType: string): string => `clowder.file.${toRoutingKey(contentType)}`,
  datasetFile: (what: 'added' | 'removed'): string => `clowder.dataset.file.${what}`,
  filesAdded: (): string => 'clowder.dataset.files.added',
  metadata: (what: 'added' | 'removed', { kind }: Ref): string => `clowder.metadata.${what}.${kind}`,
}

// The apostrophe is part of Clowder 1.x's wire format, and extractors expect it.
const entity = (kind: string, id: string, extra: Readonly<Record<string, Json>> = {}, mimeType?: string) => ({
  id: { resourceType: `'${kind}`, id },
  ...(mimeType === undefined ? {} : { mimeType }),
  extra,
})

const fileEntity = ({ id, name, contentType }: JobFile) => entity('file', id, { filename: name }, contentType)

/** Value of the member without a target. */
const noTarget = '{}'

const common = ({ jobId, host, notifies }: MessageContext, id: string, dataset: string, sizeBytes: number) => ({
  // The id of the SUBMITTED record, which is that of the job here: one id identifies the job in a reply, in a queue and when it is
  // cancelled.
  msgid: jobId,
  jobid: jobId,
  id,
  intermediateId: id,
  datasetId: dataset,
  fileSize: String(sizeBytes),
  host,
  flags: '',
  notifies,
})

/** A new file in a dataset. */
export const fileCreated = (file: JobFile, dataset: string, context: MessageContext): Message => ({
  ...common(context, file.id, dataset, file.sizeBytes),
  routing_key: routingKeys.fileCreated(file.contentType),
  activity: 'created',
  filename: file.name,
  source: fileEntity(file),
  target: noTarget,
})

/** A file was added to or removed from a dataset. */
export const datasetFile = (what: 'added' | 'removed', file: JobFile, dataset: string, context: MessageContext): Message => ({
  ...common(context, file.id, dataset, file.sizeBytes),
  routing_key: routingKeys.datasetFile(what),
  activity: what,
  source: fileEntity(file),
  target: entity('dataset', dataset),
})

/** Several files were added to a dataset at once. Their names are formatted like a Scala list. */
export const filesAdded = (files: readonly JobFile[], dataset: string, context: MessageContext): Message => {
  const names = files.map(({ name }) => name)
  return {
    ...common(
      context,
      dataset,
      dataset,
      files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    ),
    routing_key: routingKeys.filesAdded(),
    activity: 'added',
    filenames: `List(${names.join(', ')})`,
    source: entity('dataset', dataset, { filenames: names }),
    target: noTarget,
  }
}

const onMetadata = (what: 'added' | 'removed', id: string, target: Ref, context: MessageContext): Message => ({
  ...common(context, target.id, target.kind === 'dataset' ? target.id : '', 0),
  routing_key: routingKeys.metadata(what, target),
  activity: what,
  resourceType: target.kind,
  resourceId: target.id,
  source: entity('metadata', id),
  target: entity(target.kind, target.id),
})

/** Metadata was added to a file or dataset. */
export const metadataAdded = ({ id, target, content }: MetadataRecord & Stored, context: MessageContext): Message => ({
  ...onMetadata('added', id, target, context),
  metadata: content,
})

/** Metadata was removed from a file or dataset; it is deleted, so the message does not contain it. */
export const metadataRemoved = (id: string, target: Ref, context: MessageContext): Message => onMetadata('removed', id, target, context)

/** A run on a file was requested: parameters are an object. */
export const fileSubmitted = (file: JobFile, dataset: string, queue: string, parameters: Parameters, context: MessageContext): Message => ({
  ...fileCreated(file, dataset, context),
  routing_key: `extractors.${queue}`,
  activity: 'submitted',
  parameters,
  action: 'manual-submission',
})

/** A run on a dataset was requested: parameters are a string. */
export const datasetSubmitted = (
  dataset: { readonly id: string; readonly name: string },
  queue: string,
  parameters: Parameters,
  context: MessageContext,
): Message => ({
  ...common(context, dataset.id, dataset.id, 0),
  routing_key: `extractors.${queue}`,
  activity: 'submitted',
  datasetname: dataset.name,
  parameters: JSON.stringify(parameters),
  action: 'manual-submission',
  source: entity('dataset', dataset.id),
  target: noTarget,
})
