import { toast } from '../../components/toasts.tsx'
import { api, urlOf } from '../../lib/api.ts'
import { t } from '../../lib/i18n.ts'
import { messageOf } from '../../lib/messages.ts'
import { changeEntry, type Entry, refreshEntries } from './entries.ts'

/** How many requests of one act are on their way at a time. */
const maxAtOnce = 4

export type Progress = (done: number) => void

/** Does something to each entry, a few at a time, until it is stopped. Returns the entries that it failed for, with the first reason. */
const forEach = async (
  entries: readonly Entry[],
  act: (entry: Entry) => Promise<unknown>,
  progress: Progress,
  signal: AbortSignal,
): Promise<{ readonly done: readonly Entry[]; readonly failed: number; readonly reason: unknown }> => {
  const done: Entry[] = []
  let failed = 0
  let reason: unknown
  let next = 0
  const work = async (): Promise<void> => {
    while (next < entries.length && !signal.aborted) {
      const entry = entries[next++]
      if (!entry) return
      try {
        await act(entry)
        done.push(entry)
      } catch (error) {
        failed++
        reason ??= error
      }
      progress(done.length + failed)
    }
  }
  await Promise.all(Array.from({ length: maxAtOnce }, work))
  return { done, failed, reason }
}

const sayFailures = (failed: number, reason: unknown): void => {
  if (failed > 0) toast(t('entries.failed', { count: failed, reason: messageOf(reason) }))
}

/** Changes the name at once, and back when the server refuses it. */
export const renameEntry = async (dataset: string, entry: Entry, name: string): Promise<void> => {
  if (name === entry.name || name === '') return
  changeEntry(dataset, entry.id, { name })
  try {
    if (entry.kind === 'file') await api('PUT /api/files/{id}/filename', { path: { id: entry.id }, body: { name } })
    else {
      const { newname } = await api('PUT /api/datasets/{id}/updateName/{folder}', {
        path: { id: dataset, folder: entry.id },
        body: { name },
      })
      changeEntry(dataset, entry.id, { name: newname })
    }
  } catch (error) {
    changeEntry(dataset, entry.id, { name: entry.name })
    toast(messageOf(error))
  }
  void refreshEntries(dataset)
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

/** Moves entries to a folder, or to the root. Offers to move them back. */
export const moveEntries = async (
  dataset: string,
  entries: readonly Entry[],
  to: { readonly id: string | undefined; readonly name: string },
  progress: Progress,
  signal: AbortSignal,
): Promise<void> => {
  const others = entries.filter(({ id, folder }) => (folder ?? undefined) !== to.id && id !== to.id)
  if (others.length === 0) return
  const { done, failed, reason } = await forEach(others, entry => moveOne(dataset, entry, to.id), progress, signal)
  await refreshEntries(dataset)
  if (done.length > 0)
    toast(t('entries.moved', { count: done.length, name: done[0]?.name ?? '', folder: to.name }), {
      label: t('undo'),
      run: () => {
        const moved = done.map(entry => ({ ...entry, folder: to.id ?? null, from: entry.folder }))
        void Promise.allSettled(moved.map(entry => moveOne(dataset, entry, entry.from ?? undefined))).then(() => refreshEntries(dataset))
      },
    })
  sayFailures(failed, reason)
}

const maxRemoved = 1000

/** Deletes files and folders with all that is in them. */
export const deleteEntries = async (dataset: string, entries: readonly Entry[], progress: Progress, signal: AbortSignal): Promise<void> => {
  const files = entries.filter(({ kind }) => kind === 'file')
  const folders = entries.filter(({ kind }) => kind === 'folder')
  let failed = 0
  let reason: unknown
  for (let from = 0; from < files.length && !signal.aborted; from += maxRemoved) {
    const some = files.slice(from, from + maxRemoved)
    try {
      const answer = await api('POST /api/files/bulkRemove', { body: { fileIds: some.map(({ id }) => id) } })
      failed += some.length - answer.deleted.length - answer['not found'].length
    } catch (error) {
      failed += some.length
      reason ??= error
    }
    progress(from + some.length)
  }
  const rest = await forEach(
    folders,
    ({ id }) => api('DELETE /api/datasets/{id}/deleteFolder/{folder}', { path: { id: dataset, folder: id } }),
    done => progress(files.length + done),
    signal,
  )
  await refreshEntries(dataset)
  const count = entries.length - failed - rest.failed
  if (count > 0) toast(t('entries.deleted', { count, name: entries[0]?.name ?? '' }))
  if (failed + rest.failed > 0)
    toast(
      reason === undefined && rest.reason === undefined
        ? t('entries.notDeleted', { count: failed })
        : t('entries.failed', { count: failed + rest.failed, reason: messageOf(reason ?? rest.reason) }),
    )
}

/** Adds tags to files, or takes them off. */
export const tagEntries = async (
  files: readonly Entry[],
  tags: readonly string[],
  isAdding: boolean,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> => {
  const change = ({ id }: Entry): Promise<unknown> =>
    isAdding
      ? api('POST /api/files/{id}/tags', { path: { id }, body: { tags } })
      : api('DELETE /api/files/{id}/tags', { path: { id }, body: { tags } })
  const { done, failed, reason } = await forEach(files, change, progress, signal)
  if (done.length > 0) toast(t(isAdding ? 'entries.tagged' : 'entries.untagged', { count: done.length, name: done[0]?.name ?? '' }))
  sayFailures(failed, reason)
}

/** SHA-256 digests of files, as `sha256sum` writes them. */
export const digestsOf = async (files: readonly Entry[], progress: Progress, signal: AbortSignal): Promise<string> => {
  const lines = new Map<string, string>()
  const { failed, reason } = await forEach(
    files,
    async ({ id, name }) => {
      const { sha256 } = await api('GET /api/files/{id}/metadata', { path: { id } })
      lines.set(id, `${sha256}  ${name}`)
    },
    progress,
    signal,
  )
  sayFailures(failed, reason)
  return files.flatMap(({ id }) => lines.get(id) ?? []).join('\n')
}

/** An address has room for so many ids. */
const maxInAddress = 500

/** Where chosen entries are downloaded; undefined for what no single address has. */
export const downloadUrl = (dataset: string, entries: readonly Entry[]): string | undefined => {
  const [one] = entries
  if (entries.length === 1 && one)
    return one.kind === 'file' ? urlOf(`/api/files/${one.id}`) : urlOf(`/api/datasets/${dataset}/downloadFolder`, { folderId: one.id })
  if (entries.length === 0 || entries.length > maxInAddress || entries.some(({ kind }) => kind === 'folder')) return undefined
  return urlOf(`/api/datasets/${dataset}/downloadPartial`, { fileList: entries.map(({ id }) => id).join(',') })
}

/** Lets the browser download an address. */
export const startDownload = (url: string): void => {
  const link = document.createElement('a')
  link.href = url
  link.download = ''
  document.body.append(link)
  link.click()
  link.remove()
}
