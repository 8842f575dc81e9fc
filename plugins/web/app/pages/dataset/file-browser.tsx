import { useLocation, useNavigate } from '@tanstack/react-router'
import { type DragEvent, type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { Button } from '../../components/controls.tsx'
import { late } from '../../components/late.tsx'
import { Empty, Failure, Loading } from '../../components/page-parts.tsx'
import { chosenCount, isChosen, noRows } from '../../components/selection.ts'
import { SelectionBar } from '../../components/selection-bar.tsx'
import { toastFailure } from '../../components/toasts.tsx'
import { type GridHandle, VirtualGrid } from '../../components/virtual-grid.tsx'
import { useWork, WorkLine } from '../../components/work-line.tsx'
import { t } from '../../lib/i18n.ts'
import { isNotFound } from '../../lib/messages.ts'
import { useSession } from '../../lib/session.ts'
import type { UploadTarget } from '../../lib/uploads/upload-storage.ts'
import { AddFilesButton, ToolButton, Toolbar, usePaste } from './browser-tools.tsx'
import { chosenRows, chosenTarget, sizeOf } from './chosen-entries.ts'
import { type Entry, type EntryList, type EntryQuery, useEntries, useFolderPath } from './entries.ts'
import { barActions, type EntryDialog, rowActions } from './entry-actions.ts'
import {
  type CopyPlace,
  copyEntries,
  countOf,
  deleteEntries,
  type FolderPlace,
  filesOf,
  moveEntries,
  renameEntry,
  type Target,
  tagEntries,
} from './entry-acts.ts'
import { listAddress, useChangeAddress, useEntryQuery } from './entry-address.ts'
import { type Renaming, useEntryColumns } from './entry-columns.tsx'
import { type DropOn, FolderPath, TreeSide } from './folder-nav.tsx'
import { useKeptSelection } from './kept-selection.ts'
import type { OpenDialog } from './open-dialog.tsx'

/** The dataset, and the caller's rights on it. */
export interface BrowserProps {
  readonly dataset: { readonly id: string; readonly name: string }
  readonly rights: ReadonlySet<string>
  /** Opens the dialog that shows the size of a download of the whole dataset. */
  readonly onDownload: () => void
}

const Dialogs = late(async () => (await import('./open-dialog.tsx')).Dialogs)

let dragged: readonly Entry[] = []
const dragType = 'application/x-pounce-entries'
/** Maximum number of rows searched for the folder that was left. */
const maxLooked = 1000

/** Files and folders of a dataset: the list, the tree beside it, and their actions. */
export const FileBrowser = ({ dataset, rights, onDownload }: BrowserProps) => {
  const query = useEntryQuery(dataset.id)
  const list = useEntries(query)
  const change = useChangeAddress()
  const navigate = useNavigate()
  const [dialog, setDialog] = useState<OpenDialog>()
  const [renaming, setRenaming] = useState<Renaming>()
  const [cut, setCut] = useState<Target>({ entries: [] })
  const { work, run } = useWork()
  const session = useSession()
  const restoreKey = useRestoreKey(dataset.id)
  const [selection, setSelection] = useKeptSelection(restoreKey, query)
  const path = useFolderPath(dataset.id, query.folder)
  const open = useMemo(() => path?.map(({ id }) => id) ?? [], [path])
  const here: FolderPlace = { id: query.folder, name: (query.folder === undefined ? undefined : path?.at(-1)?.name) ?? dataset.name }
  const count = chosenCount(selection, list.count)

  const can = (right: string): boolean => rights.has(right)
  const isGone = query.folder !== undefined && isNotFound(list.error)
  const canAdd = can('AddResourceToDataset') && !isGone
  // A copy is owned by its creator, so it requires an account.
  const canCopy = session?.user != null && can('DownloadFiles')
  const canDelete = can('DeleteFile') || can('RemoveResourceFromDataset')
  const target: UploadTarget = { dataset: dataset.id, datasetName: dataset.name, folder: query.folder }

  /** The selected rows if the row is one of them, otherwise only the row. */
  const targetOf = (row: Entry): Promise<Target> =>
    isChosen(selection, row.id) ? chosenTarget(selection, list) : Promise.resolve({ entries: [row] })
  /** The target of a keyboard shortcut: the selected rows, as for the buttons, or the focused row if none is selected. */
  const keyed = (row: Entry): Promise<Target> => (count > 0 ? chosenTarget(selection, list) : targetOf(row))
  const ask = (kind: EntryDialog, about: Promise<Target>): void =>
    void about.then(found => setDialog({ kind, target: kind === 'tag' || kind === 'untag' ? filesOf(found) : found })).catch(toastFailure)
  const move = (what: Target, to: FolderPlace): void => {
    setCut({ entries: [] })
    setSelection(noRows)
    void run(t('entries.moving'), countOf(what), (progress, signal) => moveEntries(dataset.id, what, to, progress, signal))
  }

  const copy = (what: Target, to: CopyPlace): void => {
    setSelection(noRows)
    void run(t('entries.copying'), countOf(what), (progress, signal) => copyEntries(dataset.id, what, to, progress, signal))
  }

  const openFolder = useCallback((folder: string | undefined) => change({ folder, find: undefined, below: undefined }), [change])
  const grid = useRef<GridHandle>(null)
  const walkTo = useWalk(query, list, grid, openFolder)
  useReturn(restoreKey, list, grid)
  const openEntry = (row: Entry): void => {
    if (row.kind === 'folder') walkTo(row.id)
    else {
      leftForFile.add(restoreKey)
      void navigate({ to: '/files/$id', params: { id: row.id }, search: listAddress(list.query) } as never)
    }
  }
  const columns = useEntryColumns({
    dataset: dataset.id,
    query: list.query,
    renaming,
    cut: cut.entries,
    onOpen: openEntry,
    onRename: (row, name, before) => {
      setRenaming(undefined)
      if (name === undefined) return
      void renameEntry(dataset.id, { ...row, name: before }, name).then(
        isDone => isDone || setRenaming(now => now ?? { id: row.id, refused: name }),
      )
    },
  })
  usePaste(canAdd, target, () => countOf(cut) > 0 && move(cut, here))

  const drop: DropOn = folder => {
    if (dragged.length === 0 || !canAdd || dragged.some(({ id }) => id === folder?.id)) return undefined
    return () => move({ entries: dragged }, { id: folder?.id, name: folder?.name ?? dataset.name })
  }
  const drag = (event: DragEvent, row: Entry): void => {
    dragged = isChosen(selection, row.id) && !selection.isAllBut ? chosenRows(selection, dataset.id) : [row]
    event.dataTransfer.setData(dragType, String(dragged.length))
    event.dataTransfer.effectAllowed = 'move'
    document.addEventListener('dragend', endDrag, { once: true })
  }

  return (
    <div className="browser">
      <Toolbar
        query={query}
        onFind={find => change({ find: find === '' ? undefined : find }, true)}
        onBelow={below => change({ below: below ? '1' : undefined })}
      >
        {can('DownloadFiles') && list.count > 0 && <ToolButton icon="download" label={t('dataset.download.button')} onPress={onDownload} />}
        {canAdd && <ToolButton icon="folder-plus" label={t('dataset.newFolder')} onPress={() => setDialog({ kind: 'folder' })} />}
        {canAdd && <AddFilesButton target={target} />}
      </Toolbar>
      {query.folder !== undefined && <FolderPath dataset={dataset} path={path ?? []} onOpen={walkTo} drop={drop} />}
      {work && <WorkLine work={work} />}
      <div className="browser-parts">
        <TreeSide dataset={dataset} open={open} current={query.folder} onOpen={openFolder} drop={drop} />
        <div className="browser-list" aria-busy={list.isLoading}>
          {isGone ? (
            <Empty title={t('entries.noFolder')}>
              <Button onPress={() => walkTo(undefined)}>{t('entries.toRoot')}</Button>
            </Empty>
          ) : list.error ? (
            <Failure error={list.error} retry={list.retry} />
          ) : list.isLoading && list.count === 0 ? (
            <Loading />
          ) : (
            <VirtualGrid<Entry>
              label={t('entries.label', { name: here.name })}
              count={list.count}
              row={list.row}
              idOf={idOf}
              nameOf={nameOf}
              columns={columns}
              onRange={list.onRange}
              sort={{ column: list.query.sort, order: list.query.order }}
              onSort={({ column, order }) =>
                change({ sort: column === 'name' ? undefined : column, order: order === 'ascending' ? undefined : order }, true)
              }
              selection={selection}
              onSelect={setSelection}
              loadRows={list.loadRows}
              actions={row =>
                rowActions({
                  row,
                  dataset: dataset.id,
                  ...{ rights, canCopy },
                  onOpen: () => openEntry(row),
                  onRename: () => setRenaming({ id: row.id }),
                  onAsk: kind => ask(kind, targetOf(row)),
                })
              }
              onOpen={openEntry}
              onKey={(event, row) => {
                if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'x' || !row || !canAdd) return false
                void keyed(row).then(setCut, toastFailure)
                return true
              }}
              {...(canAdd ? { onRename: (row: Entry) => setRenaming({ id: row.id }) } : {})}
              {...(canDelete ? { onDelete: (row: Entry) => ask('delete', keyed(row)) } : {})}
              {...(query.folder === undefined ? {} : { onUp: () => walkTo(path?.at(-2)?.id) })}
              {...(canAdd ? { onDragRow: drag, dropOn: (row: Entry) => (row.kind === 'folder' ? drop(row) : undefined) } : {})}
              empty={<NoEntries query={list.query} isSearching={list.isCounting} canAdd={canAdd} onBelow={() => change({ below: '1' })} />}
              restoreKey={restoreKey}
              handle={grid}
            />
          )}
          <SelectionBar
            count={count}
            sizeBytes={sizeOf(selection, list)}
            actions={barActions({
              dataset: dataset.id,
              selection,
              count,
              list,
              ...{ rights, canCopy },
              run,
              onDownload,
              onAsk: kind => ask(kind, chosenTarget(selection, list)),
            })}
            onClear={() => setSelection(noRows)}
            focusList={() => grid.current?.focusRow()}
          />
          {list.isCounting && list.count > 0 && <Loading label={t('entries.searching')} />}
        </div>
      </div>
      {dialog && (
        <Dialogs
          dialog={dialog}
          dataset={dataset}
          folder={query.folder}
          open={open}
          list={list}
          onClose={() => setDialog(undefined)}
          onMove={move}
          onCopy={copy}
          onDelete={what => {
            setSelection(noRows)
            void run(t('entries.deleting'), countOf(what), (progress, signal) => deleteEntries(dataset.id, what, progress, signal))
          }}
          onTag={(what, tags, isAdding) =>
            void run(t('entries.tagging'), countOf(what), (progress, signal) => tagEntries(what, tags, isAdding, progress, signal))
          }
        />
      )}
    </div>
  )
}

const idOf = ({ id }: Entry): string => id
const nameOf = ({ name }: Entry): string => name
const endDrag = (): void => {
  dragged = []
}

/** Opens a folder from the list. The focused row is removed with the old list, so the focus moves to the folder that was left, if listed, to the first row, or to the empty list. */
const useWalk = (
  { folder }: EntryQuery,
  list: EntryList,
  grid: RefObject<GridHandle | null>,
  open: (folder: string | undefined) => void,
): ((folder: string | undefined) => void) => {
  const [left, setLeft] = useState<{ readonly folder: string | undefined }>()
  const isListed = list.query.folder === folder && !list.isLoading
  useEffect(() => {
    if (!left || left.folder === folder || !isListed || !grid.current) return
    setLeft(undefined)
    const at = Array.from({ length: Math.min(list.count, maxLooked) }, (_, index) => list.row(index)).findIndex(
      row => row?.id === left.folder,
    )
    grid.current.focusRow(Math.max(0, at))
  }, [left, folder, isListed, list, grid])
  return to => {
    setLeft({ folder })
    open(to)
  }
}

/** The history entries that were left for a file. */
const leftForFile = new Set<string>()

/** Back from a file, its row gets the focus. */
const useReturn = (restoreKey: string, { count, isLoading }: EntryList, grid: RefObject<GridHandle | null>): void => {
  const isReady = count > 0 && !isLoading
  useEffect(() => {
    // After the page itself, which gets the focus when it is opened.
    if (isReady && leftForFile.delete(restoreKey)) setTimeout(() => grid.current?.focusRow())
  }, [restoreKey, isReady, grid])
}

/** A key per history entry, so that going back restores the list's position. */
const useRestoreKey = (dataset: string): string => {
  const key = useLocation({ select: ({ state }) => (state as { readonly __TSR_key?: string }).__TSR_key })
  return `${key ?? ''} ${dataset}`
}

const NoEntries = ({
  query,
  isSearching,
  canAdd,
  onBelow,
}: {
  readonly query: EntryQuery
  readonly isSearching: boolean
  readonly canAdd: boolean
  readonly onBelow: () => void
}) => {
  if (isSearching) return <Loading label={t('entries.searching')} />
  if (query.filter !== '')
    return (
      <Empty title={t('entries.noneFound', { text: query.filter })}>
        {!query.isRecursive && (
          <Button icon="search" onPress={onBelow}>
            {t('entries.findBelow')}
          </Button>
        )}
      </Empty>
    )
  return (
    <Empty title={t(query.folder === undefined ? 'entries.noneYet' : 'entries.emptyFolder')}>
      {canAdd && <p>{t('entries.howToAdd')}</p>}
    </Empty>
  )
}
