import { CopyDialog } from './copy-dialog.tsx'
import type { EntryList } from './entries.ts'
import type { Question } from './entry-actions.ts'
import { type CopyPlace, countOf, type FolderPlace, type Target } from './entry-acts.ts'
import { ArchiveDialog, DeleteDialog, MoveDialog, NewFolderDialog, TagDialog } from './entry-dialogs.tsx'

/** A dialog, and the entries that it is about. */
export type OpenDialog = { readonly kind: 'folder' } | { readonly kind: Question; readonly target: Target }

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
      return <ArchiveDialog dataset={dataset.id} target={target} list={list} onClose={onClose} />
    default:
      return (
        <TagDialog
          count={countOf(target)}
          isAdding={kind === 'tag'}
          onTag={tags => onTag(target, tags, kind === 'tag')}
          onClose={onClose}
        />
      )
  }
}
