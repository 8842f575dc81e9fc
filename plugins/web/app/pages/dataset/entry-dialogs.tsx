import { useState } from 'react'
import { Radio, RadioGroup } from 'react-aria-components'
import { TextField } from '../../components/controls.tsx'
import { FormDialog } from '../../components/dialog.tsx'
import { Icon } from '../../components/icon.tsx'
import { namesIn } from '../../components/tag-list.tsx'
import { api } from '../../lib/api.ts'
import { t } from '../../lib/i18n.ts'
import { type Entry, refreshEntries } from './entries.ts'
import { FolderTree } from './folder-tree.tsx'

interface Shared {
  readonly onClose: () => void
}

/** Makes a folder in a folder, or in the root. */
export const NewFolderDialog = ({
  dataset,
  folder,
  onMade,
  onClose,
}: Shared & { readonly dataset: string; readonly folder: string | undefined; readonly onMade: (id: string) => void }) => {
  const [name, setName] = useState('')
  const make = async (): Promise<void> => {
    const { id } = await api('POST /api/datasets/{id}/newFolder', {
      path: { id: dataset },
      body: { name: name.trim(), parentId: folder ?? dataset, parentType: folder === undefined ? 'dataset' : 'folder' },
    })
    await refreshEntries(dataset)
    onMade(id)
  }
  return (
    <FormDialog title={t('dataset.newFolder')} action={t('dataset.newFolderNow')} isOpen onClose={onClose} onSubmit={make}>
      <TextField label={t('dataset.folderName')} value={name} onChange={setName} isRequired autoFocus maxLength={255} />
    </FormDialog>
  )
}

const root = 'root'

/** Moves entries to a folder that is chosen in the tree. */
export const MoveDialog = ({
  dataset,
  datasetName,
  entries,
  count,
  open,
  onMove,
  onClose,
}: Shared & {
  readonly dataset: string
  readonly datasetName: string
  /** Those that are known; a folder cannot be moved into itself. */
  readonly entries: readonly Entry[]
  readonly count: number
  readonly open: readonly string[]
  readonly onMove: (to: { readonly id: string | undefined; readonly name: string }) => void
}) => {
  const [chosen, setChosen] = useState<string>()
  const [names] = useState(() => new Map<string, string>())
  const moved = new Set(entries.map(({ id }) => id))
  return (
    <FormDialog
      title={t('dataset.move.title', { count, name: entries[0]?.name ?? '' })}
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
      </RadioGroup>
    </FormDialog>
  )
}

/** Says what is deleted, by name or number, before it is. */
export const DeleteDialog = ({
  files,
  folders,
  name,
  onDelete,
  onClose,
}: Shared & {
  readonly files: number
  readonly folders: number
  /** Of the one that is deleted, if it is one. */
  readonly name: string
  readonly onDelete: () => void
}) => {
  const count = files + folders
  return (
    <FormDialog
      title={count === 1 ? t('dataset.delete.one', { name }) : t('dataset.delete.many', { count })}
      action={t('dataset.delete.action', { count })}
      destroys
      isOpen
      onClose={onClose}
      onSubmit={async () => onDelete()}
    >
      <p>{folders > 0 ? t('dataset.delete.withFolders', { count: folders }) : t('dataset.delete.text', { count: files })}</p>
    </FormDialog>
  )
}

/** Adds tags to chosen files, or takes them off. */
export const TagDialog = ({
  count,
  isAdding,
  onTag,
  onClose,
}: Shared & { readonly count: number; readonly isAdding: boolean; readonly onTag: (tags: readonly string[]) => void }) => {
  const [text, setText] = useState('')
  return (
    <FormDialog
      title={t(isAdding ? 'dataset.tag.add' : 'dataset.tag.remove', { count })}
      action={t(isAdding ? 'tags.addNow' : 'tags.removeNow')}
      isOpen
      onClose={onClose}
      onSubmit={async () => onTag(namesIn(text))}
    >
      <TextField label={t('tags.label')} help={t('tags.help')} value={text} onChange={setText} isRequired autoFocus />
    </FormDialog>
  )
}
