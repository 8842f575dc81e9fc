import { mkdir, rm, rmdir, stat } from 'node:fs/promises'
import { StartupError } from '../../kernel/startup-error.ts'
import { UsageError } from '../built-in.ts'
import type { RunUserCommand, UserContext } from './command-context.ts'
import { type ContentPlace, treeOf } from './dataset-contents.ts'
import { localPathsIn } from './downloads.ts'
import { type Exclusion, exclusionOf } from './exclusion.ts'
import { downloadAll, localFilesOf } from './get-command.ts'
import { emptyFolders, emptyTree, forEachOf, requireDistinctPaths, treeOfFolder } from './local-files.ts'
import { isInteractive, promptLine } from './prompt.ts'
import { reportOmitted, transferClient, transferOptions, uploadAll, uploaderFor, uploadPlace } from './put-command.ts'
import { RequestRefused, type ServerClient } from './server-client.ts'
import { readTarget } from './target.ts'
import { TransferProgress } from './transfer-progress.ts'

interface Choices {
  readonly jobs: number
  readonly isDryRun: boolean
  readonly isDeleting: boolean
  /** Files and folders to ignore on both sides. */
  readonly isExcluded: Exclusion
}

/** Requires confirmation of deletions, at the terminal or by `--yes`. */
const confirm = async (context: UserContext, count: number, where: string): Promise<void> => {
  if (count === 0 || context.options['yes'] === true || context.options['dryRun'] === true) return
  context.progress.end()
  const answer = await promptLine(`Delete ${count} ${count === 1 ? 'file' : 'files'} in ${where}? [y/N] `)
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new StartupError('Nothing was deleted')
}

/** Deepest first. */
const deepestFirst = (paths: Iterable<string>): string[] => [...paths].sort((one, other) => other.split('/').length - one.split('/').length)

/** Deletes the empty folders of a dataset that do not exist locally. Reports the folders that fail. */
const deleteFolders = async (
  client: ServerClient,
  place: ContentPlace,
  { kept, isKept }: { readonly kept: readonly string[]; readonly isKept: Exclusion },
  progress: TransferProgress,
): Promise<void> => {
  const { files, folders } = await treeOf(client, place)
  const parents = [...files.keys()].map(path => path.split('/').slice(0, -1).join('/'))
  const used = new Set(
    [...kept, ...parents, ...[...folders.keys()].filter(isKept)].flatMap(path =>
      path.split('/').map((_, at, names) => names.slice(0, at + 1).join('/')),
    ),
  )
  for (const path of deepestFirst(folders.keys())) {
    const id = folders.get(path)?.id
    if (used.has(path) || id === undefined) continue
    try {
      await deleted(client, `/api/datasets/${place.dataset}/deleteFolder/${id}`)
    } catch (error) {
      progress.failure(path, error, false)
    }
  }
}

/** Ignores a file or folder that no longer exists. */
const deleted = async (client: ServerClient, path: string): Promise<void> => {
  try {
    await client.json('DELETE', path)
  } catch (error) {
    if (!(error instanceof RequestRefused) || error.status !== 404) throw error
  }
}

const syncUp = async (
  context: UserContext,
  client: ServerClient,
  folder: string,
  target: string,
  { jobs, isDryRun, isDeleting: wantsDeletion, isExcluded }: Choices,
): Promise<void> => {
  const local = await treeOfFolder(folder, isExcluded)
  requireDistinctPaths(local.files)
  const progress = new TransferProgress(context)
  reportOmitted(local, progress)
  // The contents of unreadable folders are unknown, and must not be taken for deleted.
  const isDeleting = wantsDeletion && local.unreadable.length === 0
  if (wantsDeletion && !isDeleting) progress.warn('Nothing is deleted in the dataset, because not everything could be read')
  const { place, missing } = await uploadPlace(client, target, { isCreated: context.options['create'] === true, isDryRun })
  if (missing.length > 0)
    throw new StartupError(`There is no folder ${missing.join('/')} in ${target}: create it first, or specify the dataset`)
  const remote = await treeOf(client, place)
  const here = new Set(local.files.map(({ path }) => path))
  // A link to a folder or to an unavailable disk exists locally.
  const skipped = new Set(local.skipped.map(({ path }) => path))
  const isKept: Exclusion = path =>
    isExcluded(path) || path.split('/').some((_, at, names) => skipped.has(names.slice(0, at + 1).join('/')))
  const surplus = isDeleting ? [...remote.files].filter(([path]) => !here.has(path) && !isKept(path)) : []
  await confirm(context, surplus.length, target)
  progress.expect(
    local.files.length,
    local.files.reduce((sum, { size }) => sum + size, 0),
  )
  const uploader = uploaderFor(client, place, [], progress)
  const folders = local.folders.map(({ path }) => path)
  const needed = client.kind === 'clowder' ? folders : emptyFolders(folders, local.files)
  if (!isDryRun) await uploader.ensureFolders(needed.filter(path => !remote.folders.has(path)))
  await uploadAll(local.files, uploader, progress, { jobs, isDryRun, newest: path => remote.files.get(path)?.id })
  await forEachOf(surplus, jobs, async ([path, { id }]) => {
    if (isDryRun) return progress.result({ path, state: 'would delete', id }, false)
    try {
      // The older versions first: they would take its place.
      for (const version of [...(remote.older.get(path) ?? []), { id }]) await deleted(client, `/api/files/${version.id}`)
      progress.result({ path, state: 'deleted', id }, false)
    } catch (error) {
      progress.failure(path, error)
    }
  })
  if (isDeleting && !isDryRun) await deleteFolders(client, place, { kept: folders, isKept }, progress)
  progress.end()
}

const syncDown = async (
  context: UserContext,
  client: ServerClient,
  folder: string,
  target: string,
  { jobs, isDryRun, isDeleting, isExcluded }: Choices,
): Promise<void> => {
  const { place, missing } = await uploadPlace(client, target, { isCreated: false })
  if (missing.length > 0) throw new StartupError(`There is no folder ${missing.join('/')} in ${target}`)
  const progress = new TransferProgress(context)
  const remote = await treeOf(client, place)
  const isFolder = await stat(folder).then(
    found => found.isDirectory(),
    () => false,
  )
  const local = isFolder ? await treeOfFolder(folder, isExcluded) : emptyTree
  if (isDeleting) for (const { path, error } of local.unreadable) progress.failure(path, error, false)
  const pathOf = localPathsIn(folder)
  const files = await localFilesOf(remote.files, pathOf, isExcluded)
  const wanted = new Set(files.map(({ file }) => file))
  const surplus = isDeleting ? local.files.filter(({ file }) => !wanted.has(file)) : []
  await confirm(context, surplus.length, folder)
  progress.expect(
    files.length,
    files.reduce((sum, { size = 0 }) => sum + size, 0),
  )
  const kept = await Promise.all([...remote.folders.keys()].filter(path => !isExcluded(path)).map(pathOf))
  if (!isDryRun) {
    await mkdir(folder, { recursive: true })
    for (const path of kept) await mkdir(path, { recursive: true }).catch(error => progress.failure(path, error, false))
  }
  await downloadAll(client, files, progress, { place, jobs, isDryRun, isOverwriting: true })
  for (const { file, path } of surplus) {
    if (!isDryRun) await rm(file, { force: true })
    progress.result({ path, state: isDryRun ? 'would delete' : 'deleted' }, false)
  }
  const isKept = new Set(kept)
  if (isDeleting && !isDryRun)
    // A folder that is not empty contains partial downloads or special files.
    for (const { file } of local.folders.toReversed()) if (!isKept.has(file)) await rmdir(file).catch(() => undefined)
  progress.end()
}

/** Makes a dataset match a folder, or with `--down` a folder match a dataset. */
export const sync: RunUserCommand = async context => {
  const [folder, target] = context.arguments as [string, string]
  const { options } = context
  const isDryRun = options['dryRun'] === true
  const isDeleting = options['delete'] === true
  if (isDeleting && !isDryRun && options['yes'] !== true && !isInteractive())
    throw new UsageError('--delete requires --yes without a terminal for confirmation; --dry-run shows what would be deleted')
  const found = await stat(folder).catch(() => undefined)
  const mayBeCreated = options['down'] === true && found === undefined
  if (!mayBeCreated && !found?.isDirectory()) throw new UsageError(`${folder} is not a folder`)
  const client = await transferClient(context, readTarget(target).page)
  const choices = { jobs: transferOptions(context).jobs, isDryRun, isDeleting, isExcluded: exclusionOf(context) }
  await (options['down'] === true ? syncDown : syncUp)(context, client, folder, target, choices)
  return undefined
}
