import { copyText } from '../../components/copy-text.tsx'
import type { GridAction } from '../../components/grid-menu.tsx'
import type { Selection } from '../../components/selection.ts'
import { toastFailure } from '../../components/toasts.tsx'
import { urlOf } from '../../lib/api.ts'
import type { Progress } from '../../lib/bulk-jobs.ts'
import { maxInArchive, startDownload } from '../../lib/downloads.ts'
import { number } from '../../lib/format.ts'
import { t } from '../../lib/i18n.ts'
import { chosenEntries, isFile } from './chosen-entries.ts'
import type { Entry, EntryList } from './entries.ts'
import { digestsOf, downloadUrl } from './entry-acts.ts'

/** Actions on entries that open a dialog first. */
export type EntryDialog = 'move' | 'copy' | 'delete' | 'tag' | 'untag' | 'archive'

const mayDelete = (rights: ReadonlySet<string>): boolean => rights.has('DeleteFile') || rights.has('RemoveResourceFromDataset')

/** Items of a row's menu. */
export const rowActions = ({
  row,
  dataset,
  rights,
  canCopy,
  onOpen,
  onRename,
  onAsk,
}: {
  readonly row: Entry
  readonly dataset: string
  readonly rights: ReadonlySet<string>
  readonly canCopy: boolean
  readonly onOpen: () => void
  readonly onRename: () => void
  readonly onAsk: (dialog: EntryDialog) => void
}): readonly GridAction[] => {
  const path = isFile(row) ? `/files/${row.id}` : `/datasets/${dataset}?folder=${row.id}`
  const canAdd = rights.has('AddResourceToDataset')
  const all: readonly (GridAction | false)[] = [
    { id: 'open', label: t('entries.open'), run: onOpen },
    rights.has('DownloadFiles') && {
      id: 'download',
      label: t('entries.download'),
      icon: 'download',
      run: () => startDownload(downloadUrl(dataset, row)),
    },
    {
      id: 'link',
      label: t('entries.copyLink'),
      icon: 'copy',
      run: () => void copyText(new URL(urlOf(path), location.href).href, t('copied')),
    },
    canAdd &&
      (!isFile(row) || rights.has('EditFile')) && {
        id: 'rename',
        label: t('entries.rename'),
        icon: 'pencil',
        startsGroup: true,
        run: onRename,
      },
    canAdd && { id: 'move', label: t('entries.move'), icon: 'move', run: () => onAsk('move') },
    canCopy && { id: 'copy', label: t('entries.copy'), icon: 'copy', run: () => onAsk('copy') },
    rights.has('AddTag') && isFile(row) && { id: 'tag', label: t('entries.tag'), icon: 'tag', run: () => onAsk('tag') },
    mayDelete(rights) && {
      id: 'delete',
      label: t('entries.delete'),
      icon: 'trash',
      destroys: true,
      startsGroup: true,
      run: () => onAsk('delete'),
    },
  ]
  return all.filter(action => action !== false)
}

/** Actions in the toolbar for the selected rows. */
export const barActions = ({
  dataset,
  selection,
  count,
  list,
  rights,
  canCopy,
  run,
  onDownload,
  onAsk,
}: {
  readonly dataset: string
  readonly selection: Selection<Entry>
  readonly count: number
  readonly list: EntryList
  readonly rights: ReadonlySet<string>
  readonly canCopy: boolean
  readonly run: (label: string, total: number, act: (progress: Progress, signal: AbortSignal) => Promise<void>) => Promise<void>
  readonly onDownload: () => void
  readonly onAsk: (dialog: EntryDialog) => void
}): readonly GridAction[] => {
  const { folder, filter } = list.query
  const isEverything = selection.isAllBut && selection.rows.size === 0 && folder === undefined && filter === ''
  const [only] = selection.rows.values()
  const download = (): void => {
    if (isEverything) onDownload()
    else if (count === 1 && only && !selection.isAllBut) startDownload(downloadUrl(dataset, only))
    else onAsk('archive')
  }
  const copyNames = async (): Promise<void> => {
    const entries = await chosenEntries(selection, list)
    await copyText(
      entries.map(({ path = [], name }) => [...path, name].join('/')).join('\n'),
      t('entries.copiedNames', { count: entries.length, number: number(entries.length) }),
    )
  }
  const copyDigests = async (progress: Progress, signal: AbortSignal): Promise<void> => {
    const files = (await chosenEntries(selection, list)).filter(isFile)
    const text = await digestsOf(files, progress, signal)
    if (!signal.aborted) await copyText(text, t('entries.copiedDigests', { count: files.length, number: number(files.length) }))
  }
  const all: readonly (GridAction | false)[] = [
    rights.has('DownloadFiles') && {
      id: 'download',
      label: t('entries.download'),
      icon: 'download',
      isDisabled: !isEverything && count > maxInArchive,
      run: download,
    },
    rights.has('AddTag') && { id: 'tag', label: t('entries.tag'), icon: 'tag', run: () => onAsk('tag') },
    rights.has('AddResourceToDataset') && { id: 'move', label: t('entries.move'), icon: 'move', run: () => onAsk('move') },
    canCopy && { id: 'copy', label: t('entries.copy'), icon: 'copy', run: () => onAsk('copy') },
    mayDelete(rights) && { id: 'delete', label: t('entries.delete'), icon: 'trash', destroys: true, run: () => onAsk('delete') },
    rights.has('DeleteTag') && { id: 'untag', label: t('entries.untag'), icon: 'x', run: () => onAsk('untag') },
    { id: 'names', label: t('entries.copyNames'), icon: 'copy', run: () => void copyNames().catch(toastFailure) },
    { id: 'digests', label: t('entries.copyDigests'), icon: 'copy', run: () => void run(t('entries.copyDigests'), count, copyDigests) },
  ]
  return all.filter(action => action !== false)
}
