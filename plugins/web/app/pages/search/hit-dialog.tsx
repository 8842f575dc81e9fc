import { FormDialog } from '../../components/dialog.tsx'
import { ArchiveDialog, TagDialog } from '../../components/selection-dialogs.tsx'
import { number } from '../../lib/format.ts'
import { t } from '../../lib/i18n.ts'
import { useSession } from '../../lib/session.ts'
import type { SelectableHit } from './hit-selection.tsx'

type Hits = readonly SelectableHit[]

/** A dialog, and the hits that it is about. */
export type OpenHitDialog =
  | { readonly kind: 'archive'; readonly members: readonly { readonly kind: 'file' | 'dataset'; readonly id: string }[] }
  | { readonly kind: 'tag' | 'untag' | 'delete'; readonly hits: Hits }

export const HitDialog = ({
  dialog,
  onTag,
  onDelete,
  onClose,
}: {
  readonly dialog: OpenHitDialog
  readonly onTag: (hits: Hits, tags: readonly string[], isAdding: boolean) => void
  readonly onDelete: (hits: Hits) => void
  readonly onClose: () => void
}) => {
  if (dialog.kind === 'archive') {
    const { members } = dialog
    return <ArchiveDialog about={members.map(({ id }) => id)} members={async () => members} onClose={onClose} />
  }
  const { kind, hits } = dialog
  if (kind === 'delete') return <DeleteHitsDialog hits={hits} onDelete={() => onDelete(hits)} onClose={onClose} />
  return (
    <TagDialog
      title={t(kind === 'tag' ? 'selection.tag' : 'selection.untag', { count: hits.length, number: number(hits.length) })}
      isAdding={kind === 'tag'}
      onTag={tags => onTag(hits, tags, kind === 'tag')}
      onClose={onClose}
    />
  )
}

/** Confirms a deletion, and says what is deleted permanently. */
const DeleteHitsDialog = ({
  hits,
  onDelete,
  onClose,
}: {
  readonly hits: Hits
  readonly onDelete: () => void
  readonly onClose: () => void
}) => {
  const hasTrash = useSession()?.capabilities.trash.datasets != null
  const count = hits.length
  const files = hits.filter(({ kind }) => kind === 'file').length
  const datasets = count - files
  return (
    <FormDialog
      title={count === 1 ? t('dataset.delete.one', { name: hits[0]?.name ?? '' }) : t('dataset.delete.many', { number: number(count) })}
      action={t('dataset.delete.action', { count, number: number(count) })}
      destroys
      isOpen
      onClose={onClose}
      onSubmit={async () => onDelete()}
    >
      {files > 0 && <p>{t('dataset.delete.text', { count: files, number: number(files) })}</p>}
      {datasets > 0 && (
        <p>{t(hasTrash ? 'search.delete.trashed' : 'search.delete.datasets', { count: datasets, number: number(datasets) })}</p>
      )}
    </FormDialog>
  )
}
