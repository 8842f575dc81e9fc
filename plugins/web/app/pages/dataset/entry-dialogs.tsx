import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Radio, RadioGroup } from 'react-aria-components/RadioGroup'
import { FieldRefusal, TextField } from '../../components/controls.tsx'
import { FormDialog } from '../../components/dialog.tsx'
import { Icon } from '../../components/icon.tsx'
import { api } from '../../lib/api.ts'
import { number } from '../../lib/format.ts'
import { t } from '../../lib/i18n.ts'
import { type Entry, refreshEntries } from './entries.ts'
import { canMoveBack, countOf, type FolderPlace, maxOrigins, type Target } from './entry-acts.ts'
import { FolderTree } from './folder-tree.tsx'

interface Shared {
  readonly onClose: () => void
}

/** Creates a folder in the root or in another folder. */
export const NewFolderDialog = ({
  dataset,
  folder,
  onClose,
}: Shared & { readonly dataset: string; readonly folder: string | undefined }) => {
  const [name, setName] = useState('')
  const make = async (): Promise<void> => {
    await api('POST /api/datasets/{id}/newFolder', {
      path: { id: dataset },
      body: { name: name.trim(), parentId: folder ?? dataset, parentType: folder === undefined ? 'dataset' : 'folder' },
    })
    await refreshEntries(dataset)
  }
  return (
    <FormDialog title={t('dataset.newFolder')} action={t('dataset.newFolderNow')} isOpen onClose={onClose} onSubmit={make}>
      <TextField label={t('dataset.folderName')} value={name} onChange={setName} isRequired autoFocus maxLength={255} />
    </FormDialog>
  )
}

const root = 'root'

/** Moves entries to a folder selected in the tree. */
export const MoveDialog = ({
  dataset: { id: dataset, name: datasetName },
  target,
  open,
  onMove,
  onClose,
}: Shared & {
  readonly dataset: { readonly id: string; readonly name: string }
  readonly target: Target
  /** Ids of the folders expanded in the tree. */
  readonly open: readonly string[]
  readonly onMove: (to: FolderPlace) => void
}) => {
  const [chosen, setChosen] = useState<string>()
  const [names] = useState(() => new Map<string, string>())
  const count = countOf(target)
  // A folder cannot be moved into itself.
  const moved = new Set(target.entries.map(({ id }) => id))
  return (
    <FormDialog
      title={t('dataset.move.title', { count, number: number(count), name: target.entries[0]?.name ?? '' })}
      action={t('dataset.move.action')}
      isOpen
      onClose={onClose}
      onSubmit={async () => {
        if (chosen !== undefined)
          onMove(chosen === root ? { id: undefined, name: datasetName } : { id: chosen, name: names.get(chosen) ?? '' })
      }}
    >
      <RadioGroup aria-label={t('dataset.move.to')} value={chosen ?? null} onChange={setChosen} isRequired className="folder-choice">
        <FolderTree
          dataset={dataset}
          open={open}
          render={folder => {
            if (folder) names.set(folder.id, folder.name)
            return (
              <Radio value={folder?.id ?? root} isDisabled={folder !== undefined && moved.has(folder.id)} className="folder-radio">
                <Icon name="folder" />
                <span dir="auto">{folder?.name ?? datasetName}</span>
              </Radio>
            )
          }}
        />
        <FieldRefusal missing={t('field.unchosen')} />
      </RadioGroup>
      {!canMoveBack(target) && <p>{t('dataset.move.noUndo', { number: number(maxOrigins) })}</p>}
    </FormDialog>
  )
}

/** The entries of more folders than this are not counted. */
const maxCounted = 20

/** Number of entries in the folders, at any depth; null where the server does not compute it. */
const countIn = async (dataset: string, folders: readonly Entry[], signal: AbortSignal): Promise<number | null> => {
  const lists = folders.map(({ id: folder }) =>
    api('GET /api/datasets/{id}/entries', { path: { id: dataset }, query: { folder, recursive: true, limit: 1 }, signal }),
  )
  const totals = (await Promise.all(lists)).map(({ total }) => total)
  return totals.reduce((sum, total) => (sum === null || total === null ? null : sum + total), 0)
}

/** Confirms a deletion, showing the name or number of the entries. */
export const DeleteDialog = ({
  dataset,
  target,
  onDelete,
  onClose,
}: Shared & { readonly dataset: string; readonly target: Target; readonly onDelete: () => void }) => {
  const count = countOf(target)
  const inside = target.entries.filter(({ kind }) => kind === 'folder')
  const folders = inside.length
  const { data: contents } = useQuery({
    queryKey: ['dataset', dataset, 'contents', inside.map(({ id }) => id)],
    queryFn: ({ signal }) => countIn(dataset, inside, signal),
    enabled: folders > 0 && folders <= maxCounted,
    gcTime: 0,
  })
  return (
    <FormDialog
      title={
        count === 1 ? t('dataset.delete.one', { name: target.entries[0]?.name ?? '' }) : t('dataset.delete.many', { number: number(count) })
      }
      action={t('dataset.delete.action', { count, number: number(count) })}
      destroys
      isOpen
      onClose={onClose}
      onSubmit={async () => onDelete()}
    >
      <p>
        {folders > 0
          ? t('dataset.delete.withFolders', { count: folders, number: number(folders) })
          : t('dataset.delete.text', { count, number: number(count) })}
      </p>
      {contents != null && <p>{t('dataset.delete.contents', { number: number(contents) })}</p>}
    </FormDialog>
  )
}
