import { type DragEvent, useState } from 'react'
import { IconButton } from '../../components/controls.tsx'
import { useNarrow } from '../../components/virtual-grid.tsx'
import { t } from '../../lib/i18n.ts'
import { folderUrl, onPlainClick } from './entry-address.ts'
import { FolderTree, useFolders } from './folder-tree.tsx'

/** Returns the action for dropping rows on a folder, or on the root; undefined where they cannot be dropped. */
export type DropOn = (folder: { readonly id: string; readonly name: string } | undefined) => (() => void) | undefined

const dropHandlers = (drop: () => (() => void) | undefined) => ({
  onDragOver: (event: DragEvent) => {
    if (!drop()) return
    event.preventDefault()
    event.stopPropagation()
    event.currentTarget.classList.add('drop-target')
  },
  onDragLeave: (event: DragEvent) => event.currentTarget.classList.remove('drop-target'),
  onDrop: (event: DragEvent) => {
    event.currentTarget.classList.remove('drop-target')
    const act = drop()
    if (!act) return
    event.preventDefault()
    event.stopPropagation()
    act()
  },
})

/** The breadcrumb of folders down to the listed one. */
export const FolderPath = ({
  dataset: { id, name },
  path,
  onOpen,
  drop,
}: {
  readonly dataset: { readonly id: string; readonly name: string }
  readonly path: readonly { readonly id: string; readonly name: string }[]
  readonly onOpen: (folder: string | undefined) => void
  readonly drop: DropOn
}) => {
  const steps = [{ id: undefined, name }, ...path]
  return (
    <nav aria-label={t('dataset.folderPath')}>
      <ol className="path folder-path">
        {steps.map((step, at) => (
          <li key={step.id ?? 'root'}>
            {at === steps.length - 1 ? (
              <span aria-current="page" dir="auto">
                {step.name}
              </span>
            ) : (
              <a
                href={folderUrl(id, step.id)}
                dir="auto"
                onClick={onPlainClick(() => onOpen(step.id))}
                {...dropHandlers(() => drop(path[at - 1]))}
              >
                {step.name}
              </a>
            )}
          </li>
        ))}
      </ol>
    </nav>
  )
}

const treeSetting = 'pounce.tree'
const readTreeSetting = (): boolean => {
  try {
    return localStorage.getItem(treeSetting) !== 'closed'
  } catch {
    return true
  }
}
const keepTreeSetting = (isOpen: boolean): void => {
  try {
    localStorage.setItem(treeSetting, isOpen ? 'open' : 'closed')
  } catch {
    // Local storage is full or disabled: the setting is lost with the page.
  }
}

/** The folder tree beside the list; hidden in narrow windows and in datasets without folders. */
export const TreeSide = ({
  dataset,
  open,
  current,
  onOpen,
  drop,
}: {
  readonly dataset: { readonly id: string; readonly name: string }
  readonly open: readonly string[]
  readonly current: string | undefined
  readonly onOpen: (folder: string | undefined) => void
  readonly drop: DropOn
}) => {
  const [isOpen, setOpen] = useState(readTreeSetting)
  const { folders = [] } = useFolders(dataset.id, undefined)
  const isNarrow = useNarrow()
  if (folders.length === 0 || isNarrow) return null
  const toggle = (): void => {
    setOpen(!isOpen)
    keepTreeSetting(!isOpen)
  }
  return (
    <nav className={isOpen ? 'tree-side' : 'tree-side folded'} aria-label={t('dataset.tree.label')}>
      <IconButton
        icon={isOpen ? 'chevron-left' : 'chevron-right'}
        label={t(isOpen ? 'dataset.tree.fold' : 'dataset.tree.unfold')}
        onPress={toggle}
      />
      {isOpen && (
        <FolderTree
          dataset={dataset.id}
          open={open}
          render={folder => (
            <a
              className="folder-link"
              href={folderUrl(dataset.id, folder?.id)}
              aria-current={folder?.id === current ? 'page' : undefined}
              dir="auto"
              title={folder?.name ?? dataset.name}
              onClick={onPlainClick(() => onOpen(folder?.id))}
              {...dropHandlers(() => drop(folder))}
            >
              {folder?.name ?? t('dataset.tree.all')}
            </a>
          )}
        />
      )}
    </nav>
  )
}
