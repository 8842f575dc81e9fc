import { StartupError } from '../../kernel/startup-error.ts'
import { UsageError } from '../built-in.ts'
import { clientOf, numberOption, type RunUserCommand, type UserContext } from './command-context.ts'
import type { ContentPlace } from './dataset-contents.ts'
import { exclusionOf } from './exclusion.ts'
import { emptyFolders, forEachOf, type LocalFile, type LocalTree, requireDistinctPaths, treeOfSource } from './local-files.ts'
import { isFatal, type ServerClient } from './server-client.ts'
import { notFound, placeOf, readTarget, walk } from './target.ts'
import { TransferProgress, type TransferResult } from './transfer-progress.ts'
import { type CheckedFileOf, ResumableUploads, SingleRequestUploads, type Uploader } from './uploads.ts'

const maxBatchFiles = 500
const maxBatchBytes = 1024 ** 3

/** Transfers retry longer than other commands. */
const usualRetries = 9

export const transferOptions = (context: UserContext) => ({
  jobs: numberOption(context, 'jobs', { usual: 4, min: 1, max: 32 }),
  retries: numberOption(context, 'retries', { usual: usualRetries, min: 0, max: 100 }),
})

/** A client with more retries by default. */
export const transferClient = (context: UserContext, page: string | undefined): Promise<ServerClient> => {
  const { retries } = transferOptions(context)
  return clientOf({ ...context, options: { ...context.options, retries: String(retries) } }, page)
}

/** Batches, each of which is read, compared with the server and uploaded before the next. */
function* batchesOf(files: readonly LocalFile[]): Iterable<readonly LocalFile[]> {
  let batch: LocalFile[] = []
  let bytes = 0
  for (const file of files) {
    batch.push(file)
    bytes += file.size
    if (batch.length < maxBatchFiles && bytes < maxBatchBytes) continue
    yield batch
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield batch
}

/** Options of an upload. */
interface UploadChoice {
  readonly jobs: number
  readonly isDryRun?: boolean
  /** The id of a file's newest version, which an identical file must have. */
  readonly newest?: (path: string) => string | undefined
}

/** Uploads the files that the server does not have yet, several concurrently. */
export const uploadAll = async (
  files: readonly LocalFile[],
  uploader: Uploader,
  progress: TransferProgress,
  { jobs, isDryRun = false, newest }: UploadChoice,
): Promise<void> => {
  const upload = async (file: CheckedFileOf): Promise<void> => {
    const { path, size: bytes, sha256 } = file
    const isUpdate = file.state !== 'absent'
    if (isDryRun) return progress.result({ path, state: isUpdate ? 'would update' : 'would upload', bytes })
    try {
      const id = await uploader.upload(file)
      const state: TransferResult['state'] = isUpdate ? 'updated' : 'uploaded'
      progress.result({ path, state, id, bytes, ...(sha256 === undefined ? {} : { sha256 }) })
    } catch (error) {
      if (isFatal(error)) throw error
      progress.failure(path, error)
    }
  }
  for (const batch of batchesOf(files)) {
    const wanted: CheckedFileOf[] = []
    for (const file of await uploader.check(batch)) {
      const { path, state, id, size, message = 'the server does not support this path' } = file
      if (state === 'invalid') progress.result({ path, state: 'failed', message })
      else if (state === 'same' && (newest === undefined || newest(path) === id)) {
        progress.skip(size)
        progress.result({ path, state: 'unchanged', ...(id === undefined ? {} : { id }) })
      } else wanted.push(file)
    }
    await forEachOf(wanted, jobs, upload)
  }
}

/** Reports the local entries that are not uploaded. */
export const reportOmitted = ({ skipped, unreadable }: LocalTree, progress: TransferProgress): void => {
  for (const { file } of skipped) progress.warn(`${file} is not a regular file; skipped`)
  for (const { path, error } of unreadable) progress.failure(path, error, false)
}

/** The uploader for a location, depending on the kind of server. */
export const uploaderFor = (
  client: ServerClient,
  place: ContentPlace,
  missing: readonly string[],
  progress: TransferProgress,
): Uploader => {
  if (client.kind === 'clowder') return new SingleRequestUploads(client, place, progress)
  return new ResumableUploads(client, { dataset: place.dataset, path: [...(place.folder?.path ?? []), ...missing] }, progress)
}

const createDataset = async (
  client: ServerClient,
  { kind, id }: { readonly kind: string; readonly id?: string },
  name: string,
): Promise<string> => {
  const place = kind === 'space' ? { space: [id] } : kind === 'collection' ? { collection: [id] } : {}
  const created = await client.json<{ readonly id: string }>('POST', '/api/datasets/createempty', {
    json: { name, description: '', ...place },
  })
  return created.id
}

/**
 * The target of an upload: an existing or new dataset, and missing folders of an existing one, which are created with the files. Only the last name of
 * a target can become a dataset, so that a misspelled space or collection does not.
 */
export const uploadPlace = async (
  client: ServerClient,
  text: string,
  { isCreated, isDryRun = false }: { readonly isCreated: boolean; readonly isDryRun?: boolean },
): Promise<{ readonly place: ContentPlace; readonly missing: readonly string[] }> => {
  const found = await walk(client, readTarget(text))
  const { target, missing } = found
  const place = placeOf(target)
  if (place) return { place, missing }
  const [name, ...folders] = missing
  if (target.kind === 'file') throw new UsageError(`${text} is a file: specify its dataset or folder`)
  if (name === undefined) throw new UsageError(`${text} is a ${target.kind}: files can only be uploaded to a dataset, so specify one in it`)
  if (folders.length > 0) throw new StartupError(`${notFound(found).message}. --create can only create the last name of a target`)
  if (!isCreated || isDryRun) throw new StartupError(`${notFound(found).message}. To create the dataset, add --create`)
  return { place: { dataset: await createDataset(client, target, name) }, missing: [] }
}

/** The folders to create, in order and without duplicates. */
const foldersWith = (folders: readonly string[], missing: readonly string[]): readonly string[] => [
  ...(missing.length === 0 ? [] : [missing.join('/')]),
  ...folders.map(folder => [...missing, folder].join('/')),
]

/** Uploads files and folders. */
export const put: RunUserCommand = async context => {
  const [paths] = context.arguments as [readonly string[]]
  const sources = paths.slice(0, -1)
  const target = paths.at(-1)
  if (target === undefined || sources.length === 0)
    throw new UsageError('Specify at least one file or folder, followed by the target: pounce put photos "/My space/My dataset"')
  const { jobs } = transferOptions(context)
  const isExcluded = exclusionOf(context)
  const trees = await Promise.all(sources.map(source => treeOfSource(source, isExcluded)))
  const files = trees.flatMap(tree => tree.files)
  requireDistinctPaths(files)
  const client = await transferClient(context, readTarget(target).page)
  const progress = new TransferProgress(context)
  const { place, missing } = await uploadPlace(client, target, { isCreated: context.options['create'] === true })
  for (const tree of trees) reportOmitted(tree, progress)
  progress.expect(
    files.length,
    files.reduce((sum, { size }) => sum + size, 0),
  )
  const isOfClowder = client.kind === 'clowder'
  const uploader = uploaderFor(client, place, isOfClowder ? [] : missing, progress)
  const folders = trees.flatMap(tree => tree.folders.map(({ path }) => path))
  await uploader.ensureFolders(isOfClowder ? foldersWith(folders, missing) : emptyFolders(folders, files))
  const placed = isOfClowder ? files.map(file => ({ ...file, path: [...missing, file.path].join('/') })) : files
  await uploadAll(placed, uploader, progress, { jobs })
  progress.end()
  return undefined
}
