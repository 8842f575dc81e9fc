import { useMemo } from 'react'
import { type Viewable, Viewer } from '../../components/viewer.tsx'
import { urlOf } from '../../lib/api.ts'
import { t } from '../../lib/i18n.ts'
import type { ViewedThing } from '../../viewers/host.ts'
import { type FullFile, usePreviews } from './file-data.ts'

/** The file by what plugins have for it, and the previews that extractors made of it. */
export const FileViewer = ({ file, slot = '' }: { readonly file: FullFile; readonly slot?: '' | '2' }) => {
  const { data: previews, isPending } = usePreviews(file.id)
  const things = useMemo(() => [...itself(file), ...(previews ?? []).map(preview => previewOf(file, preview))], [file, previews])
  return <Viewer things={things} isLoading={isPending} empty={<Thumbnail file={file} />} slot={slot} />
}

const placeOf = ({ places, rights }: FullFile): Pick<ViewedThing, 'datasetId' | 'folderId' | 'rights'> => {
  const [place] = places
  return {
    ...(place ? { datasetId: place.dataset.id, ...(place.folder === null ? {} : { folderId: place.folder }) } : {}),
    rights: rights as ViewedThing['rights'],
  }
}

/** The file, as parts are told of it. */
export const thingOf = (file: FullFile): ViewedThing => {
  const { id, name, contentType, sizeBytes } = file
  return { kind: 'file', id, name, contentType, sizeBytes, ...placeOf(file) }
}

const itself = (file: FullFile): readonly Viewable[] => {
  const { id, mayDownload } = file
  if (!mayDownload) return []
  return [{ thing: thingOf(file), url: urlOf(`/api/files/${id}`, { tracking: false }), download: urlOf(`/api/files/${id}`) }]
}

type Preview = NonNullable<ReturnType<typeof usePreviews>['data']>[number]

const previewOf = (file: FullFile, { id, filename, contentType, sizeBytes }: Preview): Viewable => {
  const url = urlOf(`/api/previews/${id}`)
  return { thing: { kind: 'preview', id, name: filename, contentType, sizeBytes, ...placeOf(file) }, url, download: url }
}

/** Where there is no viewer: the picture of it in lists, if there is one. */
const Thumbnail = ({ file: { name, thumbnail } }: { readonly file: FullFile }) =>
  thumbnail === null ? (
    <p className="empty">{t('file.noViewer')}</p>
  ) : (
    <figure className="sheet file-thumbnail">
      <img src={urlOf(`/api/thumbnails/${thumbnail}`)} alt={t('file.previewOf', { name })} decoding="async" />
    </figure>
  )
