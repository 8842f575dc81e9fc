import { useInfiniteQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { Button } from '../../components/controls.tsx'
import { Icon } from '../../components/icon.tsx'
import { t } from '../../lib/i18n.ts'
import { queries } from '../../lib/queries.ts'
import { type Entry, isLastPage, listingOf, pageQuery } from './entries.ts'

/** The direct subfolders of a folder, or of the root. Folders are listed before files, so reading stops at the first file. */
export const useFolders = (dataset: string, folder: string | undefined, isEnabled = true) => {
  const query = useInfiniteQuery({
    queryKey: ['dataset', dataset, 'folders', folder ?? 'root'],
    // Usually cached: the list beside the tree loads the same page.
    queryFn: ({ pageParam }) => queries.fetchQuery(pageQuery(listingOf(dataset, folder), pageParam)),
    initialPageParam: 0,
    getNextPageParam: (page, _, at) => (page.entries.at(-1)?.kind === 'folder' && !isLastPage(page, at) ? at + 1 : undefined),
    enabled: isEnabled,
  })
  const folders = query.data?.pages.flatMap(({ entries }) => entries.filter(({ kind }) => kind === 'folder'))
  return { folders, hasMore: query.hasNextPage, more: () => void query.fetchNextPage() }
}

interface TreeProps {
  readonly dataset: string
  /** Ids of the folders expanded initially, such as the ancestors of the current one. */
  readonly open: readonly string[]
  /** Ids of folders that are not listed, nor what is in them. */
  readonly without?: readonly string[]
  /** Renders a folder; undefined is the root. */
  readonly render: (folder: Entry | undefined) => ReactNode
}

/** The folders of a dataset. Each level is loaded when it is expanded. */
export const FolderTree = (props: TreeProps) => (
  <ul className="folder-tree">
    <li>
      <div className="folder-line">{props.render(undefined)}</div>
      <Level {...props} folder={undefined} />
    </li>
  </ul>
)

const Level = ({ folder, ...props }: TreeProps & { readonly folder: string | undefined }) => {
  const { folders, hasMore, more } = useFolders(props.dataset, folder)
  if (!folders) return null
  if (folders.length === 0) return folder === undefined ? null : <p className="folder-none">{t('dataset.tree.none')}</p>
  return (
    <ul>
      {folders
        .filter(({ id }) => !props.without?.includes(id))
        .map(each => (
          <Branch key={each.id} {...props} folder={each} />
        ))}
      {hasMore && (
        <li>
          <Button look="quiet" onPress={more}>
            {t('dataset.tree.more')}
          </Button>
        </li>
      )}
    </ul>
  )
}

const Branch = ({ folder, ...props }: TreeProps & { readonly folder: Entry }) => {
  const isAbove = props.open.includes(folder.id)
  const [isOpen, setOpen] = useState(isAbove)
  useEffect(() => {
    if (isAbove) setOpen(true)
  }, [isAbove])
  const isEmpty = folder.entries === 0
  return (
    <li>
      <div className="folder-line">
        <button
          type="button"
          className="folder-toggle"
          aria-expanded={isOpen}
          aria-label={t(isOpen ? 'dataset.tree.close' : 'dataset.tree.open', { name: folder.name })}
          disabled={isEmpty}
          onClick={() => setOpen(!isOpen)}
        >
          {!isEmpty && <Icon name={isOpen ? 'chevron-down' : 'chevron-right'} />}
        </button>
        {props.render(folder)}
      </div>
      {isOpen && !isEmpty && <Level {...props} folder={folder.id} />}
    </li>
  )
}
