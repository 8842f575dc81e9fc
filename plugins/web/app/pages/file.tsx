import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components/Menu'
import { IconButton } from '../components/controls.tsx'
import { CopyText, copyText } from '../components/copy-text.tsx'
import { DescriptionSection } from '../components/description-section.tsx'
import { FormDialog } from '../components/dialog.tsx'
import { DownloadLink } from '../components/download-link.tsx'
import { GoneNote } from '../components/gone-note.tsx'
import { DotProgress, FactLine, Failure, Loading, PageTitle, SignInLink, Time } from '../components/page-parts.tsx'
import { ActionDialog, PartPanels, PartTabs, useParts } from '../components/part-slots.tsx'
import { TagList } from '../components/tag-list.tsx'
import { toast } from '../components/toasts.tsx'
import { TrashNote } from '../components/trash-note.tsx'
import { api, urlOf } from '../lib/api.ts'
import type { Contribution } from '../lib/contributions.ts'
import { bytes, number } from '../lib/format.ts'
import { t } from '../lib/i18n.ts'
import { isNotFound } from '../lib/messages.ts'
import { deleting, queries } from '../lib/queries.ts'
import { saveText } from '../lib/save-text.ts'
import { useSession } from '../lib/session.ts'
import { mayDiscard } from '../lib/unsaved.ts'
import { ExtractionResults } from './file/extraction-results.tsx'
import { type FullFile, placePath, useFile, useNeighbours, useRuns, useTrashedDataset, useVersions } from './file/file-data.ts'
import { FileViewer, thingOf } from './file/file-viewer.tsx'

export const FilePage = () => {
  const { id } = useParams({ strict: false }) as { readonly id: string }
  const { data, error, refetch } = useFile(id)
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />
  if (!data) return <Loading />
  const isGone = isNotFound(error)
  return <FileView key={id} file={isGone ? { ...data, rights: [] } : data} isGone={isGone} />
}

const FileView = ({ file, isGone }: { readonly file: FullFile; readonly isGone: boolean }) => {
  const { id, name, contentType, sizeBytes, author, created, license, mayDownload, statistics } = file
  const rights = new Set(file.rights)
  const canEdit = rights.has('EditFile')
  const trashed = useTrashedDataset(file)
  const edit = async (send: Promise<unknown>): Promise<void> => {
    try {
      await send
    } finally {
      void queries.invalidateQueries({ queryKey: ['file', id] })
    }
  }
  return (
    <>
      <PageTitle
        name={name}
        path={placePath(file)}
        onRename={canEdit ? (text, before) => edit(saveText({ kind: 'file', id }, 'name', before, text)) : undefined}
        actions={
          <>
            <Neighbours id={id} />
            {mayDownload && !isGone && <DownloadLink url={urlOf(`/api/files/${id}`)} name={name} isPrimary />}
            <FileMenu file={file} mayDelete={rights.has('DeleteFile')} />
          </>
        }
      >
        <FactLine
          facts={[
            <b key="size">{bytes(sizeBytes)}</b>,
            contentType,
            author.fullName,
            license.type === '' || license.type === 'license1' ? license.text : license.type,
            <span key="created">
              {t('file.added')} <Time of={created} />
            </span>,
            statistics.downloads > 0 && t('file.downloads', { count: statistics.downloads, number: number(statistics.downloads) }),
          ]}
        />
      </PageTitle>
      {trashed && <TrashNote of="file" trashed={{ ...trashed, kind: 'dataset' }} />}
      {isGone ? <GoneNote /> : <Warnings file={file} />}
      <div className="with-margin">
        <div className="file-content">
          <PartTabs
            thing={thingOf(file)}
            own={[
              {
                key: 'content',
                label: t('file.content'),
                content: (
                  <>
                    <FileViewer file={file} />
                    <ExtractionResults file={id} />
                  </>
                ),
              },
            ]}
          />
        </div>
        <FileMargin file={file} onEdit={edit} />
      </div>
    </>
  )
}

/** Why the bytes are unavailable to everybody, if they are. */
const unusable = ({ status, scan, damaged }: FullFile): string | undefined => {
  if (damaged !== undefined) return t('file.damaged')
  if (scan === 'infected') return t('file.infected')
  if (scan === 'pending') return t('file.scanning')
  return status === 'ARCHIVED' ? t('file.archived') : undefined
}

/** Why the bytes are unavailable, if they are. */
const Warnings = ({ file }: { readonly file: FullFile }) => {
  const session = useSession()
  const reason = unusable(file)
  if (reason === undefined && file.mayDownload) return null
  return (
    <div role="note" className="sheet page-note">
      <p>{reason ?? t('file.notDownloadable')}</p>
      {reason === undefined && session?.user === null && (
        <>
          <p>{t('file.signInToDownload')}</p>
          <SignInLink />
        </>
      )}
    </div>
  )
}

/** The view state of one file does not apply to the next one. */
const ofList = (search: Readonly<Record<string, string>>) => ({ ...search, viewer: undefined, view: undefined })
/** Other uploads with the same name, if any. */
const Versions = ({ id }: { readonly id: string }) => {
  const versions = useVersions(id)
  if (versions.length < 2) return null
  return (
    <section>
      <h2>{t('file.versions')}</h2>
      <ul>
        {versions.map(version => (
          <li key={version.id}>
            {version.id === id ? (
              <b>
                <Time of={version.created} />
              </b>
            ) : (
              <Link to="/files/$id" params={{ id: version.id }}>
                <Time of={version.created} />
              </Link>
            )}{' '}
            <span className="help">
              {bytes(version.sizeBytes)} · {version.author.fullName}
              {version.id === id && ` · ${t('file.thisVersion')}`}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The previous and next files in the list that this one was opened from; also by K and J. */
const Neighbours = ({ id }: { readonly id: string }) => {
  const search = useSearch({ strict: false }) as Readonly<Record<string, string>>
  const { previous, next } = useNeighbours(id, search)
  const navigate = useNavigate()
  useEffect(() => {
    const go = (event: KeyboardEvent): void => {
      const { target } = event
      if (event.ctrlKey || event.metaKey || event.altKey) return
      if (target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable], [role=dialog]')) return
      const to = event.key === 'j' ? next : event.key === 'k' ? previous : undefined
      if (to) void navigate({ to: '/files/$id', params: { id: to }, search: ofList(search), replace: true } as never)
    }
    window.addEventListener('keydown', go)
    return () => window.removeEventListener('keydown', go)
  }, [previous, next, navigate, search])
  if (!previous && !next) return null
  const open = (to: string | undefined) => () =>
    to && void navigate({ to: '/files/$id', params: { id: to }, search: ofList(search), replace: true } as never)
  return (
    <>
      <IconButton icon="chevron-left" label={t('file.previous')} isDisabled={!previous} onPress={open(previous)} />
      <IconButton icon="chevron-right" label={t('file.next')} isDisabled={!next} onPress={open(next)} />
    </>
  )
}

const FileMenu = ({ file, mayDelete }: { readonly file: FullFile; readonly mayDelete: boolean }) => {
  const { id, name, places, sizeBytes } = file
  const actions = useParts('action', thingOf(file))
  const [action, setAction] = useState<Contribution>()
  const navigate = useNavigate()
  const [isAsking, setAsking] = useState(false)
  const dataset = places[0]?.dataset.id
  const remove = async (): Promise<void> => {
    if (!(await mayDiscard())) return
    await deleting(id, () => api('DELETE /api/files/{id}', { path: { id } }))
    await navigate({ to: (dataset === undefined ? '/' : `/datasets/${dataset}`) as never, ignoreBlocker: true })
    queries.removeQueries({ queryKey: ['file', id] })
    if (dataset !== undefined) void queries.invalidateQueries({ queryKey: ['dataset', dataset] })
    toast(t('file.deleted', { name }))
  }
  return (
    <>
      <MenuTrigger>
        <IconButton icon="ellipsis" label={t('file.more')} />
        <Popover className="popover" placement="bottom end">
          <Menu
            onAction={what => {
              if (what === 'link') void copyText(new URL(urlOf(`/files/${id}`), location.href).href, t('copied'))
              else if (what === 'delete') setAsking(true)
              else setAction(actions.find(one => one.id === what))
            }}
          >
            <MenuItem id="link" className="menu-item">
              {t('file.copyLink')}
            </MenuItem>
            {actions.map(one => (
              <MenuItem key={one.id} id={one.id} className="menu-item">
                {one.title}
              </MenuItem>
            ))}
            {mayDelete && (
              <MenuItem id="delete" className="menu-item destroys">
                {t('file.delete.action')}
              </MenuItem>
            )}
          </Menu>
        </Popover>
      </MenuTrigger>
      {action && <ActionDialog contribution={action} thing={thingOf(file)} onClose={() => setAction(undefined)} />}
      {isAsking && (
        <FormDialog
          title={t('file.delete.title', { name })}
          action={t('file.delete.action')}
          destroys
          isOpen
          onClose={() => setAsking(false)}
          onSubmit={remove}
        >
          <p>{t('file.delete.text', { size: bytes(sizeBytes) })}</p>
        </FormDialog>
      )}
    </>
  )
}

const FileMargin = ({ file, onEdit }: { readonly file: FullFile; readonly onEdit: (send: Promise<unknown>) => Promise<void> }) => {
  const { id, description, tags, places, sha256, originalName, name } = file
  const rights = new Set(file.rights)
  const runs = useRuns(id)
  const working = runs.filter(run => run.state === 'processing')
  const failed = runs.filter(run => run.state === 'failed')
  return (
    <aside className="page-margin" aria-label={t('file.about')}>
      <DescriptionSection
        description={description}
        isEditable={rights.has('EditFile')}
        onSave={(text, before) => onEdit(saveText({ kind: 'file', id }, 'description', before, text))}
      />
      {working.length > 0 && (
        <section aria-live="polite">
          <h2>{t('file.processing')}</h2>
          <DotProgress label={t('file.processing')} />
          <p className="at-work">{working.map(run => run.extractor).join(', ')}</p>
        </section>
      )}
      {failed.length > 0 && (
        <section>
          <h2>{t('failedExtractions')}</h2>
          <p className="failed">{failed.map(run => run.extractor).join(', ')}</p>
        </section>
      )}
      {(tags.length > 0 || rights.has('AddTag')) && (
        <section>
          <h2>{t('file.tags')}</h2>
          <TagList
            tags={tags.map(tag => tag.name)}
            onAdd={
              rights.has('AddTag')
                ? added => onEdit(api('POST /api/files/{id}/tags', { path: { id }, body: { tags: added } as never }))
                : undefined
            }
            onRemove={
              rights.has('DeleteTag')
                ? one => onEdit(api('DELETE /api/files/{id}/tags', { path: { id }, body: { tags: [one] } as never }))
                : undefined
            }
          />
        </section>
      )}
      {places.length > 1 && (
        <section>
          <h2>{t('file.places')}</h2>
          <ul>
            {places.map(({ dataset, folder, path }) => (
              <li key={`${dataset.id}/${folder}`}>
                <a href={urlOf(`/datasets/${dataset.id}`, folder === null ? {} : { folder })}>{[dataset.name, ...path].join(' / ')}</a>
              </li>
            ))}
          </ul>
        </section>
      )}
      <Versions id={id} />
      {originalName !== name && (
        <section>
          <h2>{t('file.originalName')}</h2>
          <p dir="auto">{originalName}</p>
        </section>
      )}
      <PartPanels thing={thingOf(file)} />
      <section>
        <h2>{t('file.identifier')}</h2>
        <CopyText text={id} label={t('file.copyIdentifier', { id })} />
      </section>
      <section>
        <h2>SHA-256</h2>
        <CopyText text={sha256} label={t('file.copyDigest', { digest: sha256 })} />
      </section>
    </aside>
  )
}
