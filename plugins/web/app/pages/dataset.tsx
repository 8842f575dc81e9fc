import { usePrefetchQuery, useQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { useEffect, useMemo, useState } from 'react'
import { addFiles } from '../components/add-files.ts'
import { Button } from '../components/controls.tsx'
import { Dialog } from '../components/dialog.tsx'
import { GoneNote } from '../components/gone-note.tsx'
import { late } from '../components/late.tsx'
import { FactLine, FailurePage, Loading, PageTitle, Time } from '../components/page-parts.tsx'
import { PartTabs } from '../components/part-slots.tsx'
import { TrashNote } from '../components/trash-note.tsx'
import { urlOf } from '../lib/api.ts'
import { startDownload } from '../lib/downloads.ts'
import { bytes, number } from '../lib/format.ts'
import { t } from '../lib/i18n.ts'
import { isNotFound } from '../lib/messages.ts'
import { queries } from '../lib/queries.ts'
import { saveText, type TextMember } from '../lib/save-text.ts'
import { useSession } from '../lib/session.ts'
import { chosenInTransfer } from '../lib/uploads/chosen-files.ts'
import type { ViewedThing } from '../viewers/host.ts'
import { DatasetActions } from './dataset/dataset-actions.tsx'
import { type Dataset, useDataset, useDatasetTotals } from './dataset/dataset-data.ts'
import { DatasetMargin } from './dataset/dataset-margin.tsx'
import { pageQuery } from './dataset/entries.ts'
import { useEntryQuery } from './dataset/entry-address.ts'
import { FileBrowser } from './dataset/file-browser.tsx'
import { Readme } from './dataset/readme.tsx'

export const DatasetPage = () => {
  const { id } = useParams({ strict: false }) as { readonly id: string }
  const { data, error, refetch } = useDataset(id)
  // Loaded together with the dataset, not after it.
  usePrefetchQuery(pageQuery(useEntryQuery(id), 0))
  if (error && !data) return <FailurePage error={error} retry={() => void refetch()} />
  if (!data) return <Loading />
  const isGone = isNotFound(error)
  return <DatasetView key={id} dataset={isGone ? { ...data, rights: [] } : data} isGone={isGone} />
}

const DatasetView = ({ dataset, isGone }: { readonly dataset: Dataset; readonly isGone: boolean }) => {
  const { id, name, spaces, author, modified, license } = dataset
  const search = useSearch({ strict: false }) as { readonly folder?: string }
  const folder = search.folder === '' ? undefined : search.folder
  const rights = useMemo<ReadonlySet<string>>(() => new Set(dataset.rights), [dataset.rights])
  const { total, totalBytes } = useDatasetTotals(id)
  const session = useSession()
  const user = session?.user?.id
  const [isDownloading, setDownloading] = useState(false)
  const isOver = useFileDrop(id, name, folder, rights.has('AddResourceToDataset'))
  const edit = (member: TextMember) => (text: string, before: string) => editDataset(dataset, member, before, text)
  const [place] = spaces
  const hasViews = useHasViews(id)
  const thing: ViewedThing = {
    ...{ kind: 'dataset', id, name, contentType: '', sizeBytes: 0, datasetId: id },
    ...(folder === undefined ? {} : { folderId: folder }),
    rights: [...rights] as unknown as ViewedThing['rights'],
  }
  return (
    <div className={isOver ? 'dataset-page is-drop-target' : 'dataset-page'}>
      <PageTitle
        name={name}
        path={place ? [{ name: place.name, to: `/spaces/${place.id}` }] : []}
        onRename={rights.has('EditDataset') ? edit('name') : undefined}
        actions={<DatasetActions dataset={dataset} rights={rights} canFollow={user !== undefined && !isGone} thing={thing} />}
      >
        <FactLine
          facts={[
            total !== null && <Counted key="count" text={t('dataset.items', { count: total, number: number(total) })} />,
            totalBytes !== null && <b key="size">{bytes(totalBytes)}</b>,
            accessText(dataset, user, session?.capabilities.private ?? true),
            author.fullName,
            license.text,
            <span key="changed">
              {t('dataset.changed')} <Time of={modified} />
            </span>,
          ]}
        />
      </PageTitle>
      {isGone && <GoneNote />}
      {!isGone && dataset.trashedAt !== null && <TrashNote of="dataset" trashed={{ ...dataset, kind: 'dataset' }} />}
      <div className="with-margin">
        <div className="dataset-files">
          <PartTabs
            thing={thing}
            own={[
              {
                key: 'files',
                label: t('dataset.files'),
                content: (
                  <>
                    <FileBrowser dataset={dataset} rights={rights} onDownload={() => setDownloading(true)} />
                    {rights.has('DownloadFiles') && <Readme dataset={id} folder={folder} />}
                  </>
                ),
              },
              ...(hasViews ? [{ key: 'views', label: t('views.title'), content: <Views dataset={id} fallback={<Loading />} /> }] : []),
            ]}
          />
        </div>
        <DatasetMargin dataset={dataset} rights={rights} thing={thing} onDescribe={edit('description')} />
      </div>
      {isDownloading && <DownloadDialog id={id} total={total} totalBytes={totalBytes} onClose={() => setDownloading(false)} />}
    </div>
  )
}

const Views = late(async () => (await import('./dataset/views.tsx')).Views)

/** Whether there are thumbnails of files: in a list that is loaded anyway, or possibly in folders. Once true it stays, whatever is listed next. */
const useHasViews = (id: string): boolean => {
  const { tab, folder } = useSearch({ strict: false }) as { readonly tab?: string; readonly folder?: string }
  const { data } = useQuery(pageQuery(useEntryQuery(id), 0))
  const [hasViews, setHasViews] = useState(false)
  const isFound =
    tab === 'views' || folder !== undefined || data?.entries.some(({ kind, thumbnail }) => kind === 'folder' || thumbnail !== null)
  if (isFound && !hasViews) setHasViews(true)
  return hasViews || isFound === true
}

/** Who can view the dataset, in words. Public servers show all datasets to everyone. */
const accessText = ({ isPublic, spaces, author }: Dataset, user: string | undefined, isPrivateServer: boolean): string => {
  if (isPublic || !isPrivateServer) return t('dataset.access.public')
  const [space] = spaces
  if (!space) return author.id === user ? t('dataset.access.private') : t('dataset.access.privateOf', { name: author.fullName })
  return spaces.length === 1
    ? t('dataset.access.space', { name: space.name })
    : t('dataset.access.spaces', { count: spaces.length, number: number(spaces.length) })
}

/** A number and its noun, the number in bold. */
const Counted = ({ text }: { readonly text: string }) => {
  const at = text.lastIndexOf(' ')
  const [digits, rest] = [text.slice(0, at), text.slice(at)]
  return (
    <>
      <b>{digits}</b>
      {rest}
    </>
  )
}

/** Changes a text at once, and reverts it when the server rejects it. */
const editDataset = async (dataset: Dataset, member: TextMember, before: string, text: string): Promise<void> => {
  const { id } = dataset
  const key = ['dataset', id]
  queries.setQueryData(key, { ...dataset, [member]: text })
  try {
    await saveText({ kind: 'dataset', id }, member, before, text)
  } catch (error) {
    queries.setQueryData(key, dataset)
    throw error
  } finally {
    void queries.invalidateQueries({ queryKey: key, exact: true })
  }
}

/** Shows the size of the ZIP before it is requested. */
const DownloadDialog = ({
  id,
  total,
  totalBytes,
  onClose,
}: {
  readonly id: string
  readonly total: number | null
  readonly totalBytes: number | null
  readonly onClose: () => void
}) => (
  <Dialog title={t('dataset.download.title')} isOpen onClose={onClose}>
    <p>
      {total === null || totalBytes === null
        ? t('dataset.download.text')
        : t('dataset.download.everything', { count: total, number: number(total), size: bytes(totalBytes) })}
    </p>
    <div className="actions end">
      <Button onPress={onClose}>{t('cancel')}</Button>
      <Button
        look="filled"
        icon="download"
        onPress={() => {
          startDownload(urlOf(`/api/datasets/${id}/download`))
          onClose()
        }}
      >
        {t('dataset.download.action')}
      </Button>
    </div>
  </Dialog>
)

/** Files and folders dropped anywhere in the window are added. */
const useFileDrop = (dataset: string, datasetName: string, folder: string | undefined, isAllowed: boolean): boolean => {
  const [isOver, setOver] = useState(false)
  useEffect(() => {
    if (!isAllowed) return undefined
    const listening = new AbortController()
    const listen = (type: 'dragenter' | 'dragover' | 'dragleave' | 'drop', act: (event: DragEvent, files: DataTransfer) => void): void =>
      document.addEventListener(
        type,
        event => {
          if (event.dataTransfer?.types.includes('Files')) act(event, event.dataTransfer)
        },
        { signal: listening.signal },
      )
    let depth = 0
    const end = (): void => {
      depth = 0
      setOver(false)
    }
    listen('dragenter', () => {
      depth++
      setOver(true)
    })
    listen('dragover', event => event.preventDefault())
    listen('dragleave', () => {
      if (--depth <= 0) end()
    })
    listen('drop', (event, files) => {
      end()
      event.preventDefault()
      void chosenInTransfer(files).then(chosen => addFiles({ dataset, datasetName, folder }, chosen))
    })
    window.addEventListener('dragend', end, { signal: listening.signal })
    return () => {
      listening.abort()
      setOver(false)
    }
  }, [dataset, datasetName, folder, isAllowed])
  return isOver
}
