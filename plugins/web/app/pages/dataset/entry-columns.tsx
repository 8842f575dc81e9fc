import { type RefObject, useCallback, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { fileKind } from '../../components/file-kind.ts'
import { Icon } from '../../components/icon.tsx'
import type { GridColumn } from '../../components/virtual-grid.tsx'
import { urlOf } from '../../lib/api.ts'
import { useExtractionState } from '../../lib/extraction-states.ts'
import { bytes, exactTime, number, when } from '../../lib/format.ts'
import { t } from '../../lib/i18n.ts'
import { useLanguage } from '../../lib/use-language.ts'
import type { Entry, EntryQuery } from './entries.ts'
import { folderUrl, listAddress, onPlainClick } from './entry-address.ts'

const wideScreens = matchMedia('(min-width: 1400px)')
const subscribeToWidth = (listener: () => void): (() => void) => {
  wideScreens.addEventListener('change', listener)
  return () => wideScreens.removeEventListener('change', listener)
}

/** Whether there is room for the type beside the tree and the sidebar. */
const useWide = (): boolean => useSyncExternalStore(subscribeToWidth, () => wideScreens.matches)

/** The entry being renamed. */
export interface Renaming {
  readonly id: string
  /** The previous input, which was rejected. */
  readonly refused?: string
}

/** Columns of the list. */
export const useEntryColumns = ({
  dataset,
  query,
  renaming,
  cut,
  onOpen,
  onRename,
}: {
  readonly dataset: string
  readonly query: EntryQuery
  readonly renaming: Renaming | undefined
  readonly cut: readonly Entry[]
  readonly onOpen: (row: Entry) => void
  /** `before` is the name when the user began to change it. */
  readonly onRename: (row: Entry, name: string | undefined, before: string) => void
}): readonly GridColumn<Entry>[] => {
  const hasRoom = useWide()
  const language = useLanguage()
  const latest = useRef({ onOpen, onRename })
  latest.current = { onOpen, onRename }
  const draft = useRef<Draft>(undefined)
  // biome-ignore lint/correctness/useExhaustiveDependencies: titles and cells are in the language
  return useMemo(() => {
    const cutIds = new Set(cut.map(({ id }) => id))
    const address = new URLSearchParams(listAddress(query)).toString()
    return [
      {
        id: 'name',
        title: t('entries.name'),
        isSortable: true,
        cell: row =>
          row.id === renaming?.id ? (
            <RenameField
              row={row}
              refused={renaming.refused}
              draft={draft}
              onEnd={(name, before) => latest.current.onRename(row, name, before)}
            />
          ) : (
            <NameCell
              row={row}
              isCut={cutIds.has(row.id)}
              href={row.kind === 'file' ? urlOf(`/files/${row.id}?${address}`) : folderUrl(dataset, row.id)}
              onOpen={() => latest.current.onOpen(row)}
            />
          ),
      },
      ...(hasRoom
        ? [
            {
              id: 'type',
              title: t('entries.type'),
              width: '9rem',
              isSortable: true,
              cell: (row: Entry) => <span data-tip="">{row.type ?? ''}</span>,
            },
          ]
        : []),
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
  }, [dataset, query, renaming, cut, hasRoom, language])
}

const NameCell = ({
  row,
  href,
  isCut,
  onOpen,
}: {
  readonly row: Entry
  readonly href: string
  readonly isCut: boolean
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
      {row.kind === 'file' && <FileStatus file={row} />}
    </span>
  )
}

/** Characters that reverse the text direction would make `gnp.exe` look like `exe.png`: they are shown as visible symbols. */
const shownName = (name: string): string => name.replace(/[\u202a-\u202e\u2066-\u2069\u200e\u200f]/g, '\ufffd').replace(/[\n\r\t]/g, '␣')

const FileStatus = ({ file: { id, status } }: { readonly file: Entry }) => {
  const state = useExtractionState(id)
  if (state?.state === 'failed')
    return (
      <span className="entry-status failed" data-tip={state.extractor}>
        {t('entries.status.failed')}
      </span>
    )
  if (state?.state === 'working' || status === 'CREATED' || status === 'UPLOADED')
    return (
      <span className="entry-status at-work" data-tip={state?.extractor}>
        <span className="entry-dots" />
        {t('entries.status.working')}
      </span>
    )
  return status === 'ARCHIVED' ? <span className="entry-status faded">{t('entries.status.archived')}</span> : null
}

/** A name while it is edited. */
interface Draft {
  readonly id: string
  /** The name when the user began: others may change it meanwhile. */
  readonly before: string
  readonly text: string
  /** The position of the cursor. */
  readonly cursor: number | null
}

/** The name in its row while it is edited; the part before the extension is selected. A row that moves is rendered anew, and continues with the draft. */
const RenameField = ({
  row: { id, name },
  refused,
  draft,
  onEnd,
}: {
  readonly row: Entry
  readonly refused: string | undefined
  readonly draft: RefObject<Draft | undefined>
  readonly onEnd: (name: string | undefined, before: string) => void
}) => {
  const isEnded = useRef(false)
  const [begun] = useState(draft.current?.id === id ? draft.current : undefined)
  const [{ before, text: first }] = useState(begun ?? { before: name, text: refused ?? name })
  const end = (row: HTMLElement | null, text: string | undefined): void => {
    if (isEnded.current) return
    isEnded.current = true
    draft.current = undefined
    onEnd(text, before)
    row?.focus()
  }
  const mark = useCallback(
    (input: HTMLInputElement | null) => {
      if (!input) return
      input.focus()
      const dot = input.value.lastIndexOf('.')
      if (begun) input.setSelectionRange(begun.cursor, begun.cursor)
      else input.setSelectionRange(0, dot > 0 ? dot : input.value.length)
    },
    [begun],
  )
  return (
    <input
      ref={mark}
      className="input rename"
      aria-label={t('entries.newName')}
      defaultValue={first}
      maxLength={255}
      onChange={({ currentTarget }) => {
        draft.current = { id, before, text: currentTarget.value, cursor: currentTarget.selectionStart }
      }}
      onBlur={event => {
        const text = event.currentTarget.value.trim()
        end(null, text === refused ? undefined : text)
      }}
      onKeyDown={event => {
        if (event.nativeEvent.isComposing) return
        const row = event.currentTarget.closest<HTMLElement>('[role="row"]')
        if (event.key === 'Enter') {
          event.preventDefault()
          end(row, event.currentTarget.value.trim())
        } else if (event.key === 'Escape') end(row, undefined)
      }}
    />
  )
}
