import '../../styles/archive.css'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { Button } from '../../components/controls.tsx'
import { Icon } from '../../components/icon.tsx'
import { Loading } from '../../components/page-parts.tsx'
import { type GridColumn, type GridSort, VirtualGrid } from '../../components/virtual-grid.tsx'
import { bytes, exactTime, number, when } from '../../lib/format.ts'
import { t } from '../../lib/i18n.ts'
import type { ViewerHost } from '../host.ts'
import type { ArchiveClient } from './archive-client.ts'
import type { ArchiveTotals, Member } from './archive-data.ts'
import { maxMemberBytes, typeOfMember } from './member-types.ts'
import { mountMember, NoViewer } from './member-viewer.ts'

interface ArchiveViewProps {
  readonly host: ViewerHost
  readonly client: ArchiveClient
  readonly totals: ArchiveTotals
}

/** The folders of an archive. Members are viewed or saved one at a time. */
export const ArchiveView = ({ host, client, totals }: ArchiveViewProps) => {
  const state = useMemo(() => new URLSearchParams(host.state.get() ?? ''), [host])
  const [folder, setFolder] = useState(state.get('in') ?? '')
  const [file, setFile] = useState(state.get('file') ?? undefined)
  const [sort, setSort] = useState<GridSort>({ column: 'name', order: 'ascending' })
  const [listed, setListed] = useState<{ readonly folder: string; readonly members: readonly Member[] }>()
  useEffect(() => {
    let isCurrent = true
    client.list(folder, sort).then(
      members => isCurrent && setListed({ folder, members }),
      (error: unknown) => host.toast(String(error)),
    )
    return () => {
      isCurrent = false
    }
  }, [host, client, folder, sort])
  const members = listed?.folder === folder ? listed.members : undefined
  const row = useCallback((index: number) => members?.[index], [members])
  const viewed = file === undefined ? undefined : members?.find(({ path }) => path === file)

  const note = (inFolder: string, file: string | undefined): void => {
    const next = new URLSearchParams()
    if (inFolder !== '') next.set('in', inFolder)
    if (file !== undefined) next.set('file', file)
    host.state.set(next.toString() || undefined)
  }
  const open = (member: Member): void => {
    if (member.isFolder) {
      setFolder(member.path)
      note(member.path, undefined)
    } else {
      setFile(member.path)
      note(folder, member.path)
    }
  }
  const goTo = (path: string): void => {
    setFolder(path)
    setFile(undefined)
    note(path, undefined)
  }
  const save = async (member: Member): Promise<void> => {
    try {
      saveAs(member.name, await client.unpack(member.path))
    } catch (error) {
      host.toast(messageFor(member, error))
    }
  }

  if (!members) return <Loading />
  if (viewed)
    return (
      <section className="archive" aria-label={host.thing.name}>
        <Place name={host.thing.name} folder={folder} file={viewed.name} onFolder={goTo} />
        <MemberView key={viewed.path} host={host} client={client} member={viewed} onSave={() => void save(viewed)} />
      </section>
    )
  const steps = folder.split('/').slice(0, -1)
  return (
    <section className="archive" aria-label={host.thing.name}>
      <p className="help">
        {t('viewer.archive.files', { count: totals.files, shown: number(totals.files) })} ·{' '}
        {t('viewer.archive.unpacked', { size: bytes(totals.sizeBytes) })}
      </p>
      {folder !== '' && <Place name={host.thing.name} folder={folder} file={undefined} onFolder={goTo} />}
      <VirtualGrid
        key={folder}
        label={t('viewer.archive.label', { name: folder === '' ? host.thing.name : folder })}
        count={members.length}
        row={row}
        idOf={idOf}
        nameOf={nameOf}
        columns={columns()}
        sort={sort}
        onSort={setSort}
        onOpen={open}
        {...(folder === ''
          ? {}
          : {
              onUp: () =>
                goTo(
                  steps
                    .slice(0, -1)
                    .map(step => `${step}/`)
                    .join(''),
                ),
            })}
        actions={member =>
          member.isFolder
            ? [{ id: 'open', label: t('open'), icon: 'folder', run: () => open(member) }]
            : [
                { id: 'view', label: t('viewer.archive.view'), icon: 'file', run: () => open(member) },
                { id: 'save', label: t('viewer.archive.download'), icon: 'download', run: () => void save(member) },
              ]
        }
        empty={<p className="empty">{t('viewer.archive.empty')}</p>}
      />
    </section>
  )
}

const idOf = ({ path }: Member): string => path
const nameOf = ({ name }: Member): string => name

const columns = (): readonly GridColumn<Member>[] => [
  {
    ...{ id: 'name', title: t('viewer.archive.name'), isSortable: true },
    cell: ({ name, isFolder }) => (
      <span className="archive-name">
        <Icon name={isFolder ? 'folder' : 'file'} />
        <span data-tip="" dir="auto">
          {name}
        </span>
      </span>
    ),
  },
  {
    ...{ id: 'size', title: t('viewer.archive.size'), width: '6rem', isNumber: true, isSortable: true },
    cell: ({ isFolder, sizeBytes }) => (isFolder ? '' : bytes(sizeBytes)),
  },
  {
    ...{ id: 'packed', title: t('viewer.archive.packed'), width: '6rem', isNumber: true, isSortable: true, isWideOnly: true },
    cell: ({ isFolder, packedBytes }) => (isFolder ? '' : bytes(packedBytes)),
  },
  {
    ...{ id: 'changed', title: t('viewer.archive.changed'), width: '8rem', isSortable: true },
    cell: ({ changed }) => (changed ? <span data-tip={exactTime(changed)}>{when(changed)}</span> : ''),
  },
]

const Place = ({
  name,
  folder,
  file,
  onFolder,
}: {
  readonly name: string
  readonly folder: string
  readonly file: string | undefined
  readonly onFolder: (path: string) => void
}) => {
  const steps = folder.split('/').slice(0, -1)
  const last = file === undefined ? steps.length - 1 : steps.length
  return (
    <nav aria-label={t('viewer.archive.place')}>
      <ol className="path">
        {[name, ...steps].map((step, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: steps are identified by position
          <li key={at}>
            {at === last + 1 && file === undefined ? (
              <span aria-current="page" dir="auto">
                {step}
              </span>
            ) : (
              <button
                type="button"
                className="path-step"
                dir="auto"
                onClick={() =>
                  onFolder(
                    steps
                      .slice(0, at)
                      .map(each => `${each}/`)
                      .join(''),
                  )
                }
              >
                {step}
              </button>
            )}
          </li>
        ))}
        {file !== undefined && (
          <li>
            <span aria-current="page" dir="auto">
              {file}
            </span>
          </li>
        )}
      </ol>
    </nav>
  )
}

interface MemberViewProps {
  readonly host: ViewerHost
  readonly client: ArchiveClient
  readonly member: Member
  readonly onSave: () => void
}

const MemberView = ({ host, client, member, onSave }: MemberViewProps) => {
  const box = useRef<HTMLDivElement>(null)
  const [problem, setProblem] = useState<string>()
  const [isReady, setReady] = useState(false)
  useEffect(() => {
    const abort = new AbortController()
    const element = document.createElement('div')
    let remove: (() => void) | undefined
    box.current?.append(element)
    const show = async (): Promise<void> => {
      const content = await client.unpack(member.path)
      if (abort.signal.aborted) return
      const removal = await mountMember(element, host, { name: member.name, bytes: content, signal: abort.signal })
      if (abort.signal.aborted) removal()
      else remove = removal
    }
    show()
      .catch((error: unknown) => setProblem(messageFor(member, error)))
      .finally(() => setReady(true))
    return () => {
      abort.abort()
      // React cannot unmount a root while it is rendering another one.
      setTimeout(() => {
        remove?.()
        element.remove()
      })
    }
  }, [host, client, member])
  return (
    <>
      <div className="actions">
        <Button icon="download" onPress={onSave}>
          {t('viewer.archive.download')}
        </Button>
      </div>
      {!isReady && <Loading />}
      {problem !== undefined && (
        <p role="alert" className="empty">
          {problem}
        </p>
      )}
      <div ref={box} />
    </>
  )
}

const messageFor = ({ name }: Member, error: unknown): string => {
  if (error instanceof NoViewer) return t('viewer.archive.noViewer')
  switch (error instanceof Error ? error.name : '') {
    case 'Encrypted':
      return t('viewer.archive.encrypted', { name })
    case 'TooLarge':
      return t('viewer.archive.tooLarge', { name, max: bytes(maxMemberBytes) })
    case 'Bomb':
      return t('viewer.archive.bomb')
    case 'Error':
      // Viewers reject with a message for the user.
      return (error as Error).message
    default:
      return t('viewer.archive.damagedMember', { name })
  }
}

const saveAs = (name: string, content: Uint8Array): void => {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([content as BlobPart], { type: typeOfMember(name) }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
