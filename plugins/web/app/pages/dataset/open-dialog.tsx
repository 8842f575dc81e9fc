import { ArchiveDialog, TagDialog } from '../../components/selection-dialogs.tsx'
import { number } from '../../lib/format.ts'
import { t } from '../../lib/i18n.ts'
import { CopyDialog } from './copy-dialog.tsx'
import type { Entry, EntryList } from './entries.ts'
import type { EntryDialog } from './entry-actions.ts'
import { type CopyPlace, countOf, type FolderPlace, type Target } from './entry-acts.ts'
import { DeleteDialog, MoveDialog, NewFolderDialog } from './entry-dialogs.tsx'

/** A dialog, and the entries that it is about. */
export type OpenDialog = { readonly kind: 'folder' } | { readonly kind: EntryDialog; readonly target: Target }

/** The entries of an archive, all loaded. */
const membersOf = async ({ entries, rest }: Target, list: EntryList): Promise<readonly Entry[]> => {
  if (!rest) return entries
  const except = new Set(rest.except)
  return [...entries, ...(await list.loadRows(0, list.count)).filter(({ kind, id }) => kind === 'file' && !except.has(id))]
}

/** The open dialog of the file list. The code of the dialogs is loaded when one is first opened. */
export const Dialogs = ({
  dialog,
  dataset,
  folder,
  open,
  list,
  onClose,
  onMove,
  onCopy,
  onDelete,
  onTag,
}: {
  readonly dialog: OpenDialog
  readonly dataset: { readonly id: string; readonly name: string }
  readonly folder: string | undefined
  readonly open: readonly string[]
  readonly list: EntryList
  readonly onClose: () => void
  readonly onMove: (target: Target, to: FolderPlace) => void
  readonly onCopy: (target: Target, to: CopyPlace) => void
  readonly onDelete: (target: Target) => void
  readonly onTag: (target: Target, tags: readonly string[], isAdding: boolean) => void
}) => {
  if (dialog.kind === 'folder') return <NewFolderDialog dataset={dataset.id} folder={folder} onClose={onClose} />
  const { kind, target } = dialog
  switch (kind) {
    case 'move':
      return <MoveDialog dataset={dataset} target={target} open={open} onMove={to => onMove(target, to)} onClose={onClose} />
    case 'copy':
      return <CopyDialog dataset={dataset} target={target} open={open} onCopy={to => onCopy(target, to)} onClose={onClose} />
    case 'delete':
      return <DeleteDialog dataset={dataset.id} target={target} onDelete={() => onDelete(target)} onClose={onClose} />
    case 'archive':
      return <ArchiveDialog dataset={dataset.id} about={target} members={() => membersOf(target, list)} onClose={onClose} />
    default:
      return (
        <TagDialog
          title={t(kind === 'tag' ? 'dataset.tag.add' : 'dataset.tag.remove', { count: countOf(target), number: number(countOf(target)) })}
          isAdding={kind === 'tag'}
          onTag={tags => onTag(target, tags, kind === 'tag')}
          onClose={onClose}
        />
      )
  }
}
