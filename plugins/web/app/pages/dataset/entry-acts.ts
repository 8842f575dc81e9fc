import { toast, toastFailure } from '../../components/toasts.tsx'
import { api, urlOf } from '../../lib/api.ts'
import {
  type BulkChange,
  changedName,
  filesChangedBy,
  jobsFor,
  type NewBulkJob,
  never,
  type Outcome,
  type Progress,
  runJobs,
  toastFailures,
  unseen,
} from '../../lib/bulk-jobs.ts'
import { number } from '../../lib/format.ts'
import { t } from '../../lib/i18n.ts'
import { messageOf } from '../../lib/messages.ts'
import { saveText, TextConflict } from '../../lib/save-text.ts'
import { serverTime } from '../../lib/session.ts'
import { allEntries, changeEntry, type Entry, type EntryQuery, refreshEntries } from './entries.ts'

/** The targets of an action: known entries and, where all of a list except some were selected, the rest of its files. */
export interface Target {
  readonly entries: readonly Entry[]
  readonly rest?: { readonly query: EntryQuery; readonly except: readonly string[]; readonly count: number }
}

export const countOf = ({ entries, rest }: Target): number => entries.length + (rest?.count ?? 0)
export const filesOf = ({ entries, rest }: Target): Target => ({
  entries: entries.filter(({ kind }) => kind === 'file'),
  ...(rest ? { rest } : {}),
})

/** Maximum number of concurrent requests of one action. */
const maxConcurrent = 4
/** Above this number, a server job is used. */
const maxDirect = 20

/** Applies an action to each entry, a few at a time, until it is stopped. */
const forEach = async (
  entries: readonly Entry[],
  act: (entry: Entry) => Promise<unknown>,
  progress: Progress,
  signal: AbortSignal,
): Promise<Outcome> => {
  let done = 0
  let failed = 0
  let reason: unknown
  let only: string | undefined
  let next = 0
  const work = async (): Promise<void> => {
    while (next < entries.length && !signal.aborted) {
      const entry = entries[next++]
      if (!entry) return
      try {
        await act(entry)
        done++
        only = entry.id
      } catch (error) {
        failed++
        reason ??= error
      }
      progress(done + failed)
    }
  }
  await Promise.all(Array.from({ length: maxConcurrent }, work))
  return { done, failed, reason, only }
}

/** A few entries one by one, so that the page shows each at once; many as server jobs. */
const act = async (
  { entries, rest }: Target,
  one: (entry: Entry) => Promise<unknown>,
  job: BulkChange,
  progress: Progress,
  signal: AbortSignal,
): Promise<Outcome> => {
  if (!rest && entries.length <= maxDirect) return forEach(entries, one, progress, signal)
  return runJobs(jobsOf({ entries, ...(rest ? { rest } : {}) }, job), progress, signal)
}

const jobsOf = ({ entries, rest }: Target, job: BulkChange): readonly NewBulkJob[] => {
  const jobs = [...jobsFor(entries, job)]
  if (rest) {
    const { dataset, folder, isRecursive, filter } = rest.query
    const select = {
      dataset,
      recursive: isRecursive,
      except: rest.except,
      ...(folder === undefined ? {} : { folder }),
      ...(filter === '' ? {} : { filter }),
    }
    jobs.push({ ...job, select })
  }
  return jobs
}

/** The names that running renames leave on the server, by entry: the next rename begins from there. */
const renames = new Map<string, Promise<string>>()

/** Resolves with the saved name. */
const saveName = async (dataset: string, { kind, id }: Entry, before: string, name: string): Promise<string> => {
  if (kind === 'file') {
    await saveText({ kind, id }, 'name', before, name)
    return name
  }
  const { newname } = await api('PUT /api/datasets/{id}/updateName/{folder}', { path: { id: dataset, folder: id }, body: { name } })
  return newname
}

/** Changes the name at once, and reverts it when the server rejects it: then resolves with false. */
export const renameEntry = async (dataset: string, entry: Entry, name: string): Promise<boolean> => {
  if (name === entry.name || name === '') return true
  let isDone = true
  changeEntry(dataset, entry.id, { name })
  const last = renames.get(entry.id) ?? Promise.resolve(entry.name)
  const rename = last.then(before =>
    saveName(dataset, entry, before, name).catch((error: unknown) => {
      isDone = false
      toast(messageOf(error))
      return error instanceof TextConflict ? error.theirs : before
    }),
  )
  renames.set(entry.id, rename)
  const saved = await rename
  if (renames.get(entry.id) === rename) {
    renames.delete(entry.id)
    changeEntry(dataset, entry.id, { name: saved })
    void refreshEntries(dataset)
  }
  return isDone
}

const moveOne = (dataset: string, { id, kind, folder }: Entry, to: string | undefined): Promise<unknown> => {
  if (kind === 'folder')
    return api('POST /api/datasets/{id}/moveFolder/{folder}', { path: { id: dataset, folder: id }, query: { into: to } })
  if (to !== undefined)
    return api('POST /api/datasets/{dataset}/moveFile/{toFolder}/{file}', {
      path: { dataset, toFolder: to, file: id },
      body: folder === null ? {} : { folderId: folder },
    })
  return api('POST /api/datasets/{dataset}/moveToDataset/{fromFolder}/{file}', { path: { dataset, fromFolder: folder ?? '', file: id } })
}

/** A folder of the dataset, or its root. */
export interface FolderPlace {
  readonly id: string | undefined
  readonly name: string
}

const placeIn = (dataset: string, folder: string | undefined) => ({ dataset, ...(folder === undefined ? {} : { folder }) })

const moveAll = (dataset: string, target: Target, to: string | undefined, progress: Progress, signal: AbortSignal): Promise<Outcome> => {
  const [from, ...others] = new Set(target.entries.map(({ folder }) => folder))
  // Entries of several folders are moved out of the one that each is in.
  const isOne = from !== undefined && others.length === 0 && target.rest?.query.isRecursive !== true
  const job = { act: 'move', to: placeIn(dataset, to), ...(isOne ? { from: placeIn(dataset, from ?? undefined) } : {}) } as const
  return act(target, entry => moveOne(dataset, entry, to), job, progress, signal)
}

/** From more files than this, in folders that are not known, a move has no undo. */
export const maxOrigins = 10_000

/** Whether a move can be undone: the folders that the files are in are known, or can be read before. */
export const canMoveBack = ({ rest }: Target): boolean => !rest?.query.isRecursive || rest.count <= maxOrigins

/** The target with the files that are in unknown folders, if their move can be undone. */
const withOrigins = async (target: Target, signal: AbortSignal): Promise<Target> => {
  const { entries, rest } = target
  if (!rest?.query.isRecursive || !canMoveBack(target)) return target
  const except = new Set(rest.except)
  const files = (await allEntries(rest.query, signal)).filter(({ kind, id }) => kind === 'file' && !except.has(id))
  return { entries: [...entries, ...files] }
}

/** Moves entries to a folder, or to the root. Offers an undo unless they were in too many folders that are not known. */
export const moveEntries = async (
  dataset: string,
  what: Target,
  to: FolderPlace,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> => {
  const { entries, rest } = await withOrigins(what, signal)
  const others = entries.filter(({ id, folder }) => (folder ?? undefined) !== to.id && id !== to.id)
  const target = { entries: others, ...(rest ? { rest } : {}) }
  if (countOf(target) === 0) return
  const outcome = await moveAll(dataset, target, to.id, progress, signal)
  await refreshEntries(dataset)
  const origins = [...new Set(others.map(({ folder }) => folder ?? undefined))]
  const moved = others.map(entry => ({ ...entry, folder: to.id ?? null }))
  const moveBack = async (): Promise<void> => {
    for (const origin of origins) {
      const some = moved.filter((_, at) => (others[at]?.folder ?? undefined) === origin)
      toastFailures(await moveAll(dataset, { entries: some }, origin, unseen, never))
    }
    if (rest) {
      const job = { act: 'move', to: placeIn(dataset, rest.query.folder), from: placeIn(dataset, to.id) } as const
      toastFailures(await runJobs(jobsFor(await filesChangedBy(outcome), job), unseen, never))
    }
    await refreshEntries(dataset)
  }
  if (outcome.done > 0)
    toast(
      t('entries.moved', { count: outcome.done, number: number(outcome.done), name: changedName(outcome, others), folder: to.name }),
      canMoveBack(what) ? { label: t('undo'), run: () => void moveBack().catch(toastFailure) } : undefined,
    )
  toastFailures(outcome)
}

/** A location in any dataset. */
export interface CopyPlace extends FolderPlace {
  readonly dataset: string
}

/** Copies files, and folders with their contents, to a location in any dataset. */
export const copyEntries = async (
  dataset: string,
  { entries, rest }: Target,
  { dataset: to, id: folder, name }: CopyPlace,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> => {
  const files = filesOf({ entries, ...(rest ? { rest } : {}) })
  const jobs = [...jobsOf(files, { act: 'copy', to: placeIn(to, folder) })]
  let outcome: Outcome = { done: 0, failed: 0, reason: undefined }
  try {
    for (const entry of entries) {
      if (entry.kind !== 'folder') continue
      // Not the folder of this name that may be there already: the copy is `name (1)` then.
      const parent =
        folder === undefined ? ({ parentId: to, parentType: 'dataset' } as const) : ({ parentId: folder, parentType: 'folder' } as const)
      const created = await api('POST /api/datasets/{id}/newFolder', { path: { id: to }, body: { name: entry.name, ...parent } })
      const select = { dataset, folder: entry.id, recursive: true }
      jobs.push({ act: 'copy', to: placeIn(to, created.id), select })
    }
    outcome = await runJobs(jobs, progress, signal)
  } catch (error) {
    outcome = { ...outcome, failed: 1, reason: error }
  }
  await refreshEntries(to)
  const folders = entries.length - files.entries.length
  const count = outcome.done + (outcome.failed === 0 ? folders : 0)
  const copied = changedName(outcome, entries) || (entries[0]?.name ?? '')
  if (count > 0) toast(t('entries.copied', { count, number: number(count), name: copied, folder: name }))
  toastFailures(outcome)
}

/** Deletes files, and folders with their contents. */
export const deleteEntries = async (dataset: string, target: Target, progress: Progress, signal: AbortSignal): Promise<void> => {
  const remove = ({ id, kind }: Entry): Promise<unknown> =>
    kind === 'file'
      ? api('DELETE /api/files/{id}', { path: { id } })
      : api('DELETE /api/datasets/{id}/deleteFolder/{folder}', { path: { id: dataset, folder: id } })
  const outcome = await act(target, remove, { act: 'delete' }, progress, signal)
  await refreshEntries(dataset)
  if (outcome.done > 0)
    toast(t('entries.deleted', { count: outcome.done, number: number(outcome.done), name: changedName(outcome, target.entries) }))
  toastFailures(outcome)
}

/** Adds tags to files, or removes them. Adding offers an undo, which keeps tags that were there before. */
export const tagEntries = async (
  target: Target,
  tags: readonly string[],
  isAdding: boolean,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> => {
  const change = ({ id }: Entry): Promise<unknown> =>
    isAdding
      ? api('POST /api/files/{id}/tags', { path: { id }, body: { tags } })
      : api('DELETE /api/files/{id}/tags', { path: { id }, body: { tags } })
  const begun = serverTime(performance.now())
  const toastOutcome = (outcome: Outcome, key: 'entries.tagged' | 'entries.untagged', undo?: () => Promise<void>): void => {
    const about = { count: outcome.done, number: number(outcome.done), name: changedName(outcome, target.entries) }
    if (outcome.done > 0) toast(t(key, about), undo && { label: t('undo'), run: () => void undo().catch(toastFailure) })
    toastFailures(outcome)
  }
  const undo = async (addedSince: string): Promise<void> =>
    toastOutcome(await runJobs(jobsOf(target, { act: 'untag', tags, addedSince }), unseen, never), 'entries.untagged')
  const outcome = await act(target, change, { act: isAdding ? 'tag' : 'untag', tags }, progress, signal)
  toastOutcome(outcome, isAdding ? 'entries.tagged' : 'entries.untagged', isAdding && begun !== undefined ? () => undo(begun) : undefined)
}

/** SHA-256 digests of files, in the format of `sha256sum`. */
export const digestsOf = async (files: readonly Entry[], progress: Progress, signal: AbortSignal): Promise<string> => {
  const lines = new Map<string, string>()
  const outcome = await forEach(
    files,
    async ({ id, name }) => {
      const { sha256 } = await api('GET /api/files/{id}/metadata', { path: { id } })
      lines.set(id, `${sha256}  ${name}`)
    },
    progress,
    signal,
  )
  toastFailures(outcome)
  return files.flatMap(({ id }) => lines.get(id) ?? []).join('\n')
}

/** Where a single entry is downloaded. */
export const downloadUrl = (dataset: string, { id, kind }: Entry): string =>
  kind === 'file' ? urlOf(`/api/files/${id}`) : urlOf(`/api/datasets/${dataset}/downloadFolder`, { folderId: id })
