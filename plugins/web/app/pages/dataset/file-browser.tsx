import { useLocation, useNavigate, useSearch } from '@tanstack/react-router'
import { type DragEvent, type MouseEvent, type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components'
import { Button, IconButton } from '../../components/controls.tsx'
import { copyText } from '../../components/copy-text.tsx'
import { fileKind } from '../../components/file-kind.ts'
import { Icon } from '../../components/icon.tsx'
import type { IconName } from '../../components/icon-names.ts'
import { DotProgress, Empty, Failure, Loading } from '../../components/page-parts.tsx'
import { chosenCount, chosenSum, isChosen, noRows, type Selection } from '../../components/selection.ts'
import { SelectionBar } from '../../components/selection-bar.tsx'
import { addFiles } from '../../components/upload-tray.tsx'
import { type GridAction, type GridColumn, type GridHandle, useNarrow, VirtualGrid } from '../../components/virtual-grid.tsx'
import { urlOf } from '../../lib/api.ts'
import { type ExtractionState, useExtractionStates } from '../../lib/extraction-states.ts'
import { bytes, exactTime, number, when } from '../../lib/format.ts'
import { t } from '../../lib/i18n.ts'
import { chooseFolder, chosenInInput } from '../../lib/uploads/chosen-files.ts'
import type { UploadTarget } from '../../lib/uploads/upload-storage.ts'
import { type Entry, type EntryList, type EntryQuery, type EntrySort, loadedEntry, useEntries, useFolderPath } from './entries.ts'
import { deleteEntries, digestsOf, downloadUrl, moveEntries, type Progress, renameEntry, startDownload, tagEntries } from './entry-acts.ts'
import { DeleteDialog, MoveDialog, NewFolderDialog, TagDialog } from './entry-dialogs.tsx'
import { FolderTree, useFolders } from './folder-tree.tsx'

/** What the browser needs to know of its dataset. */
export interface BrowserProps {
  readonly dataset: { readonly id: string; readonly name: string }
  readonly rights: ReadonlySet<string>
  /** Opens the dialog that tells the size of a download. */
  readonly onDownload: () => void
}

const sorts: readonly string[] = ['name', 'size', 'type', 'created'] satisfies readonly EntrySort[]

/** What the address says about the list. */
const useEntryQuery = (dataset: string): EntryQuery => {
  const { folder, sort = 'name', order, find = '', below } = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>
  return useMemo(
    () => ({
      dataset,
      folder: folder === '' ? undefined : folder,
      isRecursive: below === '1',
      sort: (sorts.includes(sort) ? sort : 'name') as EntrySort,
      order: order === 'descending' ? 'descending' : 'ascending',
      filter: find.slice(0, 200),
    }),
    [dataset, folder, sort, order, find, below],
  )
}

type Changes = Readonly<Partial<Record<'folder' | 'sort' | 'order' | 'find' | 'below', string | undefined>>>

const useChangeAddress = (): ((changes: Changes, replace?: boolean) => void) => {
  const navigate = useNavigate()
  return useCallback(
    (changes, replace = false) =>
      void navigate({
        to: '.',
        search: (last: Record<string, string>) =>
          Object.fromEntries(Object.entries({ ...last, ...changes }).filter(([, value]) => value !== undefined)),
        replace,
        resetScroll: false,
      } as never),
    [navigate],
  )
}

/** An act on chosen entries that is under way. */
interface Work {
  readonly label: string
  readonly done: number
  readonly total: number
  readonly stop: () => void
}

type OpenDialog =
  | { readonly kind: 'folder' }
  | { readonly kind: 'move' | 'delete' | 'tag' | 'untag'; readonly entries: readonly Entry[] }
  | undefined

let dragged: readonly Entry[] = []
const dragType = 'application/x-pounce-entries'

/** Files and folders of a dataset: the list, the tree beside it, and what can be done with them. */
export const FileBrowser = ({ dataset, rights, onDownload }: BrowserProps) => {
  const query = useEntryQuery(dataset.id)
  const list = useEntries(query)
  const change = useChangeAddress()
  const [selection, setSelection] = useState<Selection<Entry>>(noRows)
  const [dialog, setDialog] = useState<OpenDialog>()
  const [renaming, setRenaming] = useState<string>()
  const [work, setWork] = useState<Work>()
  const [cut, setCut] = useState<readonly Entry[]>([])
  const grid = useRef<GridHandle>(null)
  const path = useFolderPath(dataset.id, query.folder)
  const open = useMemo(() => path?.map(({ id }) => id) ?? [], [path])
  const key = useLocation({ select: ({ state }) => (state as { readonly __TSR_key?: string }).__TSR_key })

  const listed = `${list.query.folder ?? ''} ${list.query.filter} ${list.query.isRecursive}`
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was chosen belongs to one list
  useEffect(() => setSelection(noRows), [listed])

  const openFolder = useCallback((folder: string | undefined) => change({ folder, find: undefined, below: undefined }), [change])
  const total = list.count
  const count = chosenCount(selection, total)

  const chosen = useCallback(async (): Promise<readonly Entry[]> => {
    if (!selection.isAllBut) return [...selection.rows.values()]
    return (await list.loadRows(0, total)).filter(({ id }) => isChosen(selection, id))
  }, [selection, list.loadRows, total])

  /** The chosen rows, if the row is one of them; else the row alone. */
  const meant = async (row: Entry): Promise<readonly Entry[]> => (isChosen(selection, row.id) ? chosen() : [row])

  const run = async (label: string, all: number, act: (progress: Progress, signal: AbortSignal) => Promise<void>): Promise<void> => {
    const stop = new AbortController()
    const show = (done: number): void => setWork({ label, done, total: all, stop: () => stop.abort() })
    if (all > 8) show(0)
    try {
      await act(done => all > 8 && show(done), stop.signal)
    } finally {
      setWork(undefined)
    }
  }

  const move = (entries: readonly Entry[], to: { readonly id: string | undefined; readonly name: string }): void => {
    setCut([])
    setSelection(noRows)
    void run(t('entries.moving'), entries.length, (progress, signal) => moveEntries(dataset.id, entries, to, progress, signal))
  }
  const openDialog = (kind: 'move' | 'delete' | 'tag' | 'untag', entries: Promise<readonly Entry[]>): void =>
    void entries.then(found => setDialog({ kind, entries: kind === 'tag' || kind === 'untag' ? found.filter(isFile) : found }))

  const can = (right: string): boolean => rights.has(right)
  const canAdd = can('AddResourceToDataset')
  const canDelete = can('DeleteFile') || can('RemoveResourceFromDataset')
  const target: UploadTarget = { dataset: dataset.id, datasetName: dataset.name, folder: query.folder }

  const actions = (row: Entry): readonly GridAction[] => {
    const isOf = isChosen(selection, row.id) && count > 1
    const link = row.kind === 'file' ? `/files/${row.id}` : `/datasets/${dataset.id}?folder=${row.id}`
    return [
      { id: 'open', label: t('entries.open'), run: () => openEntry(row) },
      ...(can('DownloadFiles')
        ? [
            {
              id: 'download',
              label: t('entries.download'),
              icon: 'download' as const,
              run: () => startDownload(downloadUrl(dataset.id, [row]) ?? ''),
            },
          ]
        : []),
      {
        id: 'link',
        label: t('entries.copyLink'),
        icon: 'copy' as const,
        run: () => void copyText(new URL(urlOf(link), location.href).href, t('copied')),
      },
      ...(canAdd && (row.kind === 'folder' || can('EditFile'))
        ? [{ id: 'rename', label: t('entries.rename'), icon: 'pencil' as const, startsGroup: true, run: () => setRenaming(row.id) }]
        : []),
      ...(canAdd ? [{ id: 'move', label: t('entries.move'), icon: 'move' as const, run: () => openDialog('move', meant(row)) }] : []),
      ...(can('AddTag') && (row.kind === 'file' || isOf)
        ? [{ id: 'tag', label: t('entries.tag'), icon: 'tag' as const, run: () => openDialog('tag', meant(row)) }]
        : []),
      ...(canDelete
        ? [
            {
              id: 'delete',
              label: t('entries.delete'),
              icon: 'trash' as const,
              destroys: true,
              startsGroup: true,
              run: () => openDialog('delete', meant(row)),
            },
          ]
        : []),
    ]
  }

  const barActions = useBarActions({ dataset: dataset.id, selection, count, list, chosen, rights, onDialog: openDialog, onDownload, run })
  const navigate = useNavigate()
  const openEntry = (row: Entry): void => {
    if (row.kind === 'folder') openFolder(row.id)
    else void navigate({ to: '/files/$id', params: { id: row.id }, search: listAddress(list.query) } as never)
  }
  const upper = path && path.length > 0 ? () => openFolder(path.at(-2)?.id) : undefined

  const columns = useEntryColumns({
    dataset: dataset.id,
    query: list.query,
    renaming,
    cut,
    onOpen: openEntry,
    onRename: (row, name) => {
      setRenaming(undefined)
      if (name !== undefined) void renameEntry(dataset.id, row, name)
    },
  })

  usePaste(canAdd, target, () => cut.length > 0 && move(cut, { id: query.folder, name: path?.at(-1)?.name ?? dataset.name }))

  const drop = (folder: Entry | undefined): (() => void) | undefined => {
    if (dragged.length === 0 || !canAdd || dragged.some(({ id }) => id === folder?.id)) return undefined
    return () => move(dragged, { id: folder?.id, name: folder?.name ?? dataset.name })
  }

  return (
    <div className="browser">
      <Toolbar
        query={query}
        onFind={find => change({ find: find === '' ? undefined : find }, true)}
        onBelow={below => change({ below: below ? '1' : undefined })}
      >
        {can('DownloadFiles') && total > 0 && <ToolButton icon="download" label={t('dataset.download.button')} onPress={onDownload} />}
        {canAdd && <ToolButton icon="folder-plus" label={t('dataset.newFolder')} onPress={() => setDialog({ kind: 'folder' })} />}
        {canAdd && <AddFilesButton target={target} />}
      </Toolbar>
      <FolderPath path={path} name={dataset.name} isShown={query.folder !== undefined} onOpen={openFolder} drop={drop} />
      {work && (
        <div className="browser-work">
          <span role="status">{t('entries.progress', { label: work.label, done: number(work.done), total: number(work.total) })}</span>
          <DotProgress done={work.done} total={work.total} label={work.label} />
          <Button look="quiet" onPress={work.stop}>
            {t('entries.stop')}
          </Button>
        </div>
      )}
      <div className="browser-parts">
        <TreeSide dataset={dataset} open={open} current={query.folder} onOpen={openFolder} drop={drop} />
        <div className="browser-list" aria-busy={list.isLoading}>
          {list.error ? (
            <Failure error={list.error} retry={list.retry} />
          ) : list.isLoading && total === 0 ? (
            <Loading />
          ) : (
            <VirtualGrid<Entry>
              handle={grid}
              label={t('entries.label', { name: path?.at(-1)?.name ?? dataset.name })}
              count={total}
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
              actions={actions}
              onOpen={openEntry}
              {...(canAdd ? { onRename: (row: Entry) => setRenaming(row.id) } : {})}
              {...(canDelete ? { onDelete: (row: Entry) => openDialog('delete', meant(row)) } : {})}
              {...(upper ? { onUp: upper } : {})}
              onKey={(event, row) => {
                if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'x' || !row || !canAdd) return false
                void meant(row).then(setCut)
                return true
              }}
              {...(canAdd
                ? {
                    onDragRow: (event: DragEvent, row: Entry) => {
                      dragged = isChosen(selection, row.id) && !selection.isAllBut ? [...selection.rows.values()] : [row]
                      event.dataTransfer.setData(dragType, String(dragged.length))
                      event.dataTransfer.effectAllowed = 'move'
                      document.addEventListener(
                        'dragend',
                        () => {
                          dragged = []
                        },
                        { once: true },
                      )
                    },
                    dropOn: (row: Entry) => (row.kind === 'folder' ? drop(row) : undefined),
                  }
                : {})}
              empty={<NoEntries query={list.query} isSearching={list.isCounting} canAdd={canAdd} onBelow={() => change({ below: '1' })} />}
              restoreKey={`${key ?? ''} ${dataset.id}`}
            />
          )}
          <SelectionBar count={count} sizeBytes={sizeOf(selection, list)} actions={barActions} onClear={() => setSelection(noRows)} />
          {list.isCounting && total > 0 && <Loading label={t('entries.searching')} />}
        </div>
      </div>
      {dialog?.kind === 'folder' && (
        <NewFolderDialog dataset={dataset.id} folder={query.folder} onMade={() => undefined} onClose={() => setDialog(undefined)} />
      )}
      {dialog?.kind === 'move' && (
        <MoveDialog
          dataset={dataset.id}
          datasetName={dataset.name}
          entries={dialog.entries}
          count={dialog.entries.length}
          open={open}
          onMove={to => move(dialog.entries, to)}
          onClose={() => setDialog(undefined)}
        />
      )}
      {dialog?.kind === 'delete' && (
        <DeleteDialog
          files={dialog.entries.filter(isFile).length}
          folders={dialog.entries.filter(entry => !isFile(entry)).length}
          name={dialog.entries[0]?.name ?? ''}
          onDelete={() => {
            setSelection(noRows)
            void run(t('entries.deleting'), dialog.entries.length, (progress, signal) =>
              deleteEntries(dataset.id, dialog.entries, progress, signal),
            )
          }}
          onClose={() => setDialog(undefined)}
        />
      )}
      {(dialog?.kind === 'tag' || dialog?.kind === 'untag') && (
        <TagDialog
          count={dialog.entries.length}
          isAdding={dialog.kind === 'tag'}
          onTag={tags =>
            void run(t('entries.tagging'), dialog.entries.length, (progress, signal) =>
              tagEntries(dialog.entries, tags, dialog.kind === 'tag', progress, signal),
            )
          }
          onClose={() => setDialog(undefined)}
        />
      )}
    </div>
  )
}

const idOf = ({ id }: Entry): string => id
const nameOf = ({ name }: Entry): string => name
const isFile = ({ kind }: Entry): boolean => kind === 'file'

/** What the page of a file needs to know the list that one came from. */
const listAddress = ({ dataset, folder, sort, order, filter, isRecursive }: EntryQuery): Record<string, string> => ({
  dataset,
  ...(folder === undefined ? {} : { folder }),
  ...(sort === 'name' ? {} : { sort }),
  ...(order === 'ascending' ? {} : { order }),
  ...(filter === '' ? {} : { find: filter }),
  ...(isRecursive ? { below: '1' } : {}),
})

/** Bytes of the chosen files; undefined where folders are chosen, whose size the list does not tell. */
const sizeOf = (selection: Selection<Entry>, list: EntryList): number | undefined => {
  const first = list.row(0)
  if (selection.isAllBut ? first === undefined || !isFile(first) : [...selection.rows.values()].some(entry => !isFile(entry)))
    return undefined
  return chosenSum(selection, ({ size }) => size ?? 0, list.totalBytes)
}

const useBarActions = ({
  dataset,
  selection,
  count,
  list,
  chosen,
  rights,
  onDialog,
  onDownload,
  run,
}: {
  readonly dataset: string
  readonly selection: Selection<Entry>
  readonly count: number
  readonly list: EntryList
  readonly chosen: () => Promise<readonly Entry[]>
  readonly rights: ReadonlySet<string>
  readonly onDialog: (kind: 'move' | 'delete' | 'tag' | 'untag', entries: Promise<readonly Entry[]>) => void
  readonly onDownload: () => void
  readonly run: (label: string, total: number, act: (progress: Progress, signal: AbortSignal) => Promise<void>) => Promise<void>
}): readonly GridAction[] => {
  const can = (right: string): boolean => rights.has(right)
  const isEverything = selection.isAllBut && selection.rows.size === 0 && list.query.folder === undefined && list.query.filter === ''
  const url = selection.isAllBut ? undefined : downloadUrl(dataset, [...selection.rows.values()])
  const download = (): void => {
    if (isEverything) onDownload()
    else if (url !== undefined) startDownload(url)
  }
  const copyDigests = (progress: Progress, signal: AbortSignal): Promise<void> =>
    chosen().then(async entries => {
      const files = entries.filter(isFile)
      const text = await digestsOf(files, progress, signal)
      await copyText(text, t('entries.copiedDigests', { count: files.length }))
    })
  return [
    ...(can('DownloadFiles')
      ? [
          {
            id: 'download',
            label: t('entries.download'),
            icon: 'download' as const,
            isDisabled: url === undefined && !isEverything,
            run: download,
          },
        ]
      : []),
    ...(can('AddTag') ? [{ id: 'tag', label: t('entries.tag'), icon: 'tag' as const, run: () => onDialog('tag', chosen()) }] : []),
    ...(can('AddResourceToDataset')
      ? [{ id: 'move', label: t('entries.move'), icon: 'move' as const, run: () => onDialog('move', chosen()) }]
      : []),
    ...(can('DeleteFile') || can('RemoveResourceFromDataset')
      ? [{ id: 'delete', label: t('entries.delete'), icon: 'trash' as const, destroys: true, run: () => onDialog('delete', chosen()) }]
      : []),
    ...(can('DeleteTag') ? [{ id: 'untag', label: t('entries.untag'), icon: 'x' as const, run: () => onDialog('untag', chosen()) }] : []),
    {
      id: 'names',
      label: t('entries.copyNames'),
      icon: 'copy' as const,
      run: () =>
        void chosen().then(entries =>
          copyText(
            entries.map(({ path = [], name }) => [...path, name].join('/')).join('\n'),
            t('entries.copiedNames', { count: entries.length }),
          ),
        ),
    },
    {
      id: 'digests',
      label: t('entries.copyDigests'),
      icon: 'copy' as const,
      run: () => void run(t('entries.copyDigests'), count, copyDigests),
    },
  ]
}

/** Text is looked for while it is typed, once the keys rest for a moment. */
const Toolbar = ({
  query,
  onFind,
  onBelow,
  children,
}: {
  readonly query: EntryQuery
  readonly onFind: (text: string) => void
  readonly onBelow: (below: boolean) => void
  readonly children: ReactNode
}) => {
  const [text, setText] = useState(query.filter)
  const asked = useRef(query.filter)
  useEffect(() => {
    if (query.filter === asked.current) return
    asked.current = query.filter
    setText(query.filter)
  }, [query.filter])
  useEffect(() => {
    if (text === asked.current) return undefined
    const timer = setTimeout(() => {
      asked.current = text
      onFind(text)
    }, 150)
    return () => clearTimeout(timer)
  }, [text, onFind])
  return (
    <div className="browser-tools">
      <div className="browser-find">
        <input
          type="search"
          className="input"
          aria-label={t('entries.find')}
          placeholder={t('entries.find')}
          value={text}
          maxLength={200}
          onChange={({ target }) => setText(target.value)}
        />
        {(text !== '' || query.isRecursive) && (
          <label className="browser-below">
            <input type="checkbox" checked={query.isRecursive} onChange={({ target }) => onBelow(target.checked)} />
            {t('entries.below')}
          </label>
        )}
      </div>
      <div className="actions end">{children}</div>
    </div>
  )
}

/** With words where there is room for them. */
const ToolButton = ({ icon, label, onPress }: { readonly icon: IconName; readonly label: string; readonly onPress: () => void }) =>
  useNarrow() ? (
    <IconButton look="plain" icon={icon} label={label} onPress={onPress} />
  ) : (
    <Button icon={icon} onPress={onPress}>
      {label}
    </Button>
  )

const AddFilesButton = ({ target }: { readonly target: UploadTarget }) => {
  const files = useRef<HTMLInputElement>(null)
  const folder = useRef<HTMLInputElement>(null)
  const add = (input: HTMLInputElement): void => {
    void addFiles(target, chosenInInput(input.files ?? []))
    input.value = ''
  }
  const pickFolder = async (): Promise<void> => {
    const chosen = await chooseFolder()
    if (chosen === undefined) folder.current?.click()
    else if (chosen) await addFiles(target, chosen)
  }
  return (
    <>
      <input ref={files} type="file" multiple hidden data-add="files" onChange={event => add(event.currentTarget)} />
      <input
        ref={element => {
          folder.current = element
          element?.setAttribute('webkitdirectory', '')
        }}
        type="file"
        hidden
        onChange={event => add(event.currentTarget)}
      />
      <MenuTrigger>
        <Button look="filled" icon="upload">
          {t('dataset.addFiles')}
        </Button>
        <Popover className="popover" placement="bottom end">
          <Menu onAction={what => (what === 'files' ? files.current?.click() : void pickFolder())}>
            <MenuItem id="files" className="menu-item">
              <Icon name="file" />
              {t('dataset.chooseFiles')}
            </MenuItem>
            <MenuItem id="folder" className="menu-item">
              <Icon name="folder" />
              {t('dataset.chooseFolder')}
            </MenuItem>
          </Menu>
        </Popover>
      </MenuTrigger>
    </>
  )
}

type DropOn = (folder: Entry | undefined) => (() => void) | undefined

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

/** A plain press opens within the page; with Ctrl, Shift or the middle button the browser does what it always does. */
const onPlainClick = (act: () => void) => (event: MouseEvent) => {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
  event.preventDefault()
  act()
}

const folderUrl = (dataset: string, folder: string | undefined): string => urlOf(`/datasets/${dataset}`, { folder })

const FolderPath = ({
  path,
  name,
  isShown,
  onOpen,
  drop,
}: {
  readonly path: readonly { readonly id: string; readonly name: string }[] | undefined
  readonly name: string
  readonly isShown: boolean
  readonly onOpen: (folder: string | undefined) => void
  readonly drop: DropOn
}) => {
  const { pathname } = useLocation()
  if (!isShown) return null
  const dataset = pathname.split('/').at(-1) ?? ''
  const steps = [{ id: undefined, name }, ...(path ?? [])]
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
                href={folderUrl(dataset, step.id)}
                dir="auto"
                onClick={onPlainClick(() => onOpen(step.id))}
                {...dropHandlers(() => drop(step.id === undefined ? undefined : loadedEntry(dataset, step.id)))}
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
    // The storage of the browser is full or forbidden: the choice lasts as long as the page.
  }
}

/** The tree beside the list: only where there are folders, and room. */
const TreeSide = ({
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

/** Files from the clipboard are added; rows that were cut are moved here. */
const usePaste = (canAdd: boolean, target: UploadTarget, onPasteCut: () => void): void => {
  const latest = useRef({ target, onPasteCut })
  latest.current = { target, onPasteCut }
  useEffect(() => {
    if (!canAdd) return undefined
    const paste = (event: ClipboardEvent): void => {
      if ((event.target as HTMLElement).closest('input, textarea, [contenteditable], [role="dialog"]')) return
      const files = [...(event.clipboardData?.files ?? [])]
      if (files.length > 0) {
        event.preventDefault()
        void addFiles(latest.current.target, chosenInInput(files))
      } else latest.current.onPasteCut()
    }
    document.addEventListener('paste', paste)
    return () => document.removeEventListener('paste', paste)
  }, [canAdd])
}

const useEntryColumns = ({
  dataset,
  query,
  renaming,
  cut,
  onOpen,
  onRename,
}: {
  readonly dataset: string
  readonly query: EntryQuery
  readonly renaming: string | undefined
  readonly cut: readonly Entry[]
  readonly onOpen: (row: Entry) => void
  readonly onRename: (row: Entry, name: string | undefined) => void
}): readonly GridColumn<Entry>[] => {
  const states = useExtractionStates()
  const latest = useRef({ onOpen, onRename })
  latest.current = { onOpen, onRename }
  return useMemo(() => {
    const cutIds = new Set(cut.map(({ id }) => id))
    const address = new URLSearchParams(listAddress(query)).toString()
    return [
      {
        id: 'name',
        title: t('entries.name'),
        isSortable: true,
        cell: row =>
          row.id === renaming ? (
            <RenameField name={row.name} onEnd={name => latest.current.onRename(row, name)} />
          ) : (
            <NameCell
              row={row}
              isCut={cutIds.has(row.id)}
              href={row.kind === 'file' ? urlOf(`/files/${row.id}?${address}`) : folderUrl(dataset, row.id)}
              state={states.get(row.id)}
              onOpen={() => latest.current.onOpen(row)}
            />
          ),
      },
      {
        id: 'size',
        title: t('entries.size'),
        width: '6rem',
        isNumber: true,
        isSortable: true,
        cell: row =>
          row.kind === 'file' ? bytes(row.size ?? 0) : t('entries.items', { count: row.entries ?? 0, number: number(row.entries ?? 0) }),
      },
      {
        id: 'created',
        title: t('entries.added'),
        width: '7.5rem',
        isSortable: true,
        cell: row => (
          <time dateTime={row.created} data-tip={exactTime(row.created)}>
            {when(row.created)}
          </time>
        ),
      },
    ]
  }, [dataset, query, renaming, cut, states])
}

const NameCell = ({
  row,
  href,
  isCut,
  state,
  onOpen,
}: {
  readonly row: Entry
  readonly href: string
  readonly isCut: boolean
  readonly state: ExtractionState | undefined
  readonly onOpen: () => void
}) => {
  const { icon, kind } = row.kind === 'folder' ? { icon: 'folder' as const, kind: 'folder' } : fileKind(row.type)
  return (
    <span className={isCut ? 'entry-name is-cut' : 'entry-name'}>
      <span className={`entry-icon kind-${kind}`}>
        <Icon name={icon} />
      </span>
      {row.path && row.path.length > 0 && <span className="entry-path faded">{row.path.join('/')}/</span>}
      <a href={href} tabIndex={-1} draggable={false} data-tip="" dir="auto" onClick={onPlainClick(onOpen)}>
        {shownName(row.name)}
      </a>
      <EntryStatus row={row} state={state} />
    </span>
  )
}

/** Characters that turn the order of writing around would make `gnp.exe` look like `exe.png`: they are shown as what they are. */
const shownName = (name: string): string => name.replace(/[\u202a-\u202e\u2066-\u2069\u200e\u200f]/g, '\ufffd').replace(/[\n\r\t]/g, '␣')

const EntryStatus = ({ row, state }: { readonly row: Entry; readonly state: ExtractionState | undefined }) => {
  if (row.kind === 'folder') return null
  if (state?.state === 'failed')
    return (
      <span className="entry-status failed" data-tip={state.extractor}>
        {t('entries.status.failed')}
      </span>
    )
  if (state?.state === 'working' || row.status === 'CREATED' || row.status === 'UPLOADED')
    return (
      <span className="entry-status at-work" data-tip={state?.extractor}>
        <span className="entry-dots" />
        {t('entries.status.working')}
      </span>
    )
  return row.status === 'ARCHIVED' ? <span className="entry-status faded">{t('entries.status.archived')}</span> : null
}

/** The name in its row while it is changed; the part before the extension is marked. */
const RenameField = ({ name, onEnd }: { readonly name: string; readonly onEnd: (name: string | undefined) => void }) => {
  const isEnded = useRef(false)
  const end = (row: HTMLElement | null, text: string | undefined): void => {
    if (isEnded.current) return
    isEnded.current = true
    onEnd(text)
    row?.focus()
  }
  const mark = useCallback((input: HTMLInputElement | null) => {
    if (!input) return
    input.focus()
    const dot = input.value.lastIndexOf('.')
    input.setSelectionRange(0, dot > 0 ? dot : input.value.length)
  }, [])
  return (
    <input
      ref={mark}
      className="input rename"
      aria-label={t('entries.newName')}
      defaultValue={name}
      maxLength={255}
      onBlur={event => end(null, event.currentTarget.value.trim())}
      onKeyDown={event => {
        const row = event.currentTarget.closest<HTMLElement>('[role="row"]')
        if (event.key === 'Enter') {
          event.preventDefault()
          end(row, event.currentTarget.value.trim())
        } else if (event.key === 'Escape') end(row, undefined)
      }}
    />
  )
}
