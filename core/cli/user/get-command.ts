import { mkdir, stat } from 'node:fs/promises'
import { StartupError } from '../../kernel/startup-error.ts'
import { UsageError } from '../built-in.ts'
import type { RunUserCommand, UserContext } from './command-context.ts'
import { type ContentEntry, type ContentPlace, treeOf } from './dataset-contents.ts'
import { download, downloadTo, localName, localPathsIn, presentIds, type RemoteFileOf } from './downloads.ts'
import { type Exclusion, exclusionOf } from './exclusion.ts'
import { emptyFolders, forEachOf } from './local-files.ts'
import { transferClient, transferOptions } from './put-command.ts'
import { isFatal, type ServerClient } from './server-client.ts'
import { placeOf, type ResolvedTarget, readTarget, resolveTarget } from './target.ts'
import { TransferProgress } from './transfer-progress.ts'

/** The files to download, without excluded ones. Throws if two would have the same local name. */
export const localFilesOf = async (
  files: ReadonlyMap<string, ContentEntry>,
  fileOf: (path: string) => Promise<string>,
  isExcluded: Exclusion,
): Promise<readonly RemoteFileOf[]> => {
  const taken = new Map<string, string>()
  const found: RemoteFileOf[] = []
  for (const [path, { id, size }] of files) {
    if (isExcluded(path)) continue
    const file = await fileOf(path)
    const other = taken.get(file)
    if (other !== undefined) throw new StartupError(`${other} and ${path} have the same local name: rename one of them on the server`)
    taken.set(file, path)
    found.push({ id, path, size, file })
  }
  return found
}

/** The source of the files, and whether to overwrite local files that differ. */
interface DownloadChoice {
  readonly place: ContentPlace | undefined
  readonly jobs: number
  readonly isOverwriting: boolean
  readonly isDryRun?: boolean
}

const batchFiles = 500

/** Downloads the files that do not exist locally yet, several concurrently. */
export const downloadAll = async (
  client: ServerClient,
  files: readonly RemoteFileOf[],
  progress: TransferProgress,
  { place, jobs, isOverwriting, isDryRun = false }: DownloadChoice,
): Promise<void> => {
  const fetchOne = async (remote: RemoteFileOf): Promise<void> => {
    const { id, path, size, file } = remote
    const bytes = size === undefined ? {} : { bytes: size }
    try {
      const isThere = await stat(file).then(
        () => true,
        () => false,
      )
      if (isThere && !isOverwriting) {
        // Another command may have completed it since the batch was compared.
        if (isDryRun || !(await presentIds(client, [remote], place)).has(id))
          throw new StartupError(`${file} exists and differs: add --overwrite to replace it`)
        progress.skip(size ?? 0)
        return progress.result({ path, state: 'unchanged', id })
      }
      if (isDryRun) return progress.result({ path, state: 'would download', id, ...bytes })
      const sha256 = await download(client, remote, progress)
      progress.result({ path, state: 'downloaded', id, ...bytes, sha256 })
    } catch (error) {
      if (isFatal(error)) throw error
      progress.failure(path, error)
    }
  }
  for (let start = 0; start < files.length; start += batchFiles) {
    const batch = files.slice(start, start + batchFiles)
    const present = await presentIds(client, batch, place)
    for (const { id, path, size = 0 } of batch) {
      if (!present.has(id)) continue
      progress.skip(size)
      progress.result({ path, state: 'unchanged', id })
    }
    await forEachOf(
      batch.filter(({ id }) => !present.has(id)),
      jobs,
      fetchOne,
    )
  }
}

const filesOf = async (
  client: ServerClient,
  target: ResolvedTarget,
  folder: string,
  { isContent, isExcluded }: { readonly isContent: boolean; readonly isExcluded: Exclusion },
  progress: TransferProgress,
): Promise<{
  readonly place: ContentPlace | undefined
  readonly files: readonly RemoteFileOf[]
  /** Folders without contents. */
  readonly empty: readonly { readonly path: string; readonly folder: string }[]
}> => {
  const inFolder = localPathsIn(folder)
  if (target.kind === 'file') {
    const { id, name, size } = target
    return { place: undefined, files: [{ id, path: name, size, file: await inFolder(localName(name)) }], empty: [] }
  }
  const place = placeOf(target)
  if (!place) throw new UsageError('get downloads files, folders and datasets: specify one of these (pounce ls lists them)')
  const { files, folders, older } = await treeOf(client, place)
  const skipped = [...older.values()].flat().length
  if (skipped > 0) progress.warn(`${skipped} older file versions skipped`)
  const pathOf = target.kind === 'root' || isContent ? inFolder : localPathsIn(await inFolder(localName(target.name)))
  const wanted = await localFilesOf(files, pathOf, isExcluded)
  const empty = emptyFolders(
    [...folders.keys()].filter(path => !isExcluded(path)),
    wanted,
  )
  return { place, files: wanted, empty: await Promise.all(empty.map(async path => ({ path, folder: await pathOf(path) }))) }
}

/** Writes one file to standard output. */
const print = async (context: UserContext, client: ServerClient, target: ResolvedTarget, source: string): Promise<void> => {
  if (target.kind !== 'file') throw new UsageError(`${source} is not a file: only a single file can be written to standard output`)
  const { id, name, size } = target
  const progress = new TransferProgress(context)
  progress.expect(1, size ?? 0)
  await downloadTo(client, { id, path: name, size }, process.stdout, progress)
  context.progress.end()
}

/** Downloads files, folders and datasets. */
export const get: RunUserCommand = async context => {
  const [source, folder = '.'] = context.arguments as [string, string | undefined]
  const wanted = readTarget(source)
  const isPrinted = folder === '-'
  if (isPrinted && context.asJson) throw new UsageError('--json and - both write to standard output: use only one of them')
  const client = await transferClient(context, wanted.page)
  const target = await resolveTarget(client, wanted)
  if (isPrinted) return print(context, client, target, source)
  const progress = new TransferProgress(context)
  const choice = { isContent: wanted.isContent, isExcluded: exclusionOf(context) }
  const { place, files, empty } = await filesOf(client, target, folder, choice, progress)
  progress.expect(
    files.length,
    files.reduce((sum, { size = 0 }) => sum + size, 0),
  )
  const { jobs } = transferOptions(context)
  for (const { path, folder: own } of empty) await mkdir(own, { recursive: true }).catch(error => progress.failure(path, error))
  await downloadAll(client, files, progress, { place, jobs, isOverwriting: context.options['overwrite'] === true })
  progress.end()
  return undefined
}
