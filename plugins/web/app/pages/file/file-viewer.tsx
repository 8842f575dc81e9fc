import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Button } from '../../components/controls.tsx'
import { Loading } from '../../components/page-parts.tsx'
import { Sanitized } from '../../components/sanitized.tsx'
import { ApiError, urlOf } from '../../lib/api.ts'
import { bytes } from '../../lib/format.ts'
import { t } from '../../lib/i18n.ts'
import { type FullFile, usePreviews } from './file-data.ts'

const pictures = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/
const texts =
  /^(?:text\/|application\/(?:json|xml|x-yaml|yaml|javascript|toml|x-sh|sql|ld\+json|geo\+json|x-ndjson)(?:;|$))|\+(?:json|xml)$/
/** A browser would take seconds, and memory without end, for larger ones. */
const maxPictureBytes = 40_000_000
const firstBytes = 200_000
const maxTextBytes = 5_000_000

/** Shows the bytes where a browser can by its own means, else the pictures that extractors made of them. */
export const FileViewer = ({ file }: { readonly file: FullFile }) => {
  const { id, name, contentType, sizeBytes, mayDownload } = file
  const url = urlOf(`/api/files/${id}`, { tracking: false })
  if (!mayDownload) return <PreviewPicture file={file} />
  if (pictures.test(contentType) && sizeBytes <= maxPictureBytes)
    return <Picture url={url} name={name} fallback={<PreviewPicture file={file} />} />
  if (contentType.startsWith('audio/')) return <Sound url={url} name={name} />
  if (contentType.startsWith('video/')) return <Film url={url} name={name} />
  if (texts.test(contentType)) return <TextOrTable file={file} url={url} />
  return <PreviewPicture file={file} />
}

const Picture = ({ url, name, fallback }: { readonly url: string; readonly name: string; readonly fallback: ReactNode }) => {
  const [isBroken, setBroken] = useState(false)
  if (isBroken)
    return (
      <>
        <p className="help">{t('file.cannotShow')}</p>
        {fallback}
      </>
    )
  return (
    <figure className="sheet file-picture">
      <img src={url} alt={name} decoding="async" onError={() => setBroken(true)} />
    </figure>
  )
}

const Sound = ({ url, name }: { readonly url: string; readonly name: string }) => {
  const [isBroken, setBroken] = useState(false)
  return isBroken ? (
    <p className="help">{t('file.cannotPlay')}</p>
  ) : (
    <figure className="sheet file-sound">
      {/* biome-ignore lint/a11y/useMediaCaption: recordings that people upload have none */}
      <audio controls preload="metadata" src={url} aria-label={name} onError={() => setBroken(true)} />
    </figure>
  )
}

const Film = ({ url, name }: { readonly url: string; readonly name: string }) => {
  const [isBroken, setBroken] = useState(false)
  return isBroken ? (
    <p className="help">{t('file.cannotPlay')}</p>
  ) : (
    <figure className="sheet file-picture">
      {/* biome-ignore lint/a11y/useMediaCaption: films that people upload have none */}
      <video controls preload="metadata" src={url} aria-label={name} onError={() => setBroken(true)} />
    </figure>
  )
}

/** A table that an extractor made, with the text it is made of behind a button; else the text. */
const TextOrTable = ({ file, url }: { readonly file: FullFile; readonly url: string }) => {
  const { data = [] } = usePreviews(file.id)
  const [isPlain, setPlain] = useState(false)
  const table = isMarkdown(file) ? undefined : data.find(({ contentType }) => contentType.startsWith('text/html'))
  if (!table) return <TextView file={file} url={url} />
  return (
    <section className="file-text">
      <div className="actions">
        <Button look="quiet" onPress={() => setPlain(!isPlain)}>
          {t(isPlain ? 'file.showTable' : 'file.showSource')}
        </Button>
      </div>
      {isPlain ? <TextView file={file} url={url} /> : <DocumentPreview id={table.id} />}
    </section>
  )
}

const isMarkdown = ({ contentType, name }: FullFile): boolean => /markdown/.test(contentType) || name.toLowerCase().endsWith('.md')

const maxDocumentBytes = 1_000_000

/** A table or formatted text that an extractor made; sanitised again here. */
const DocumentPreview = ({ id }: { readonly id: string }) => {
  const { data, isPending } = useQuery({
    queryKey: ['preview', id],
    queryFn: async ({ signal }) => {
      const response = await fetch(urlOf(`/api/previews/${id}`), { signal })
      return response.ok ? (await response.text()).slice(0, maxDocumentBytes) : ''
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  })
  if (isPending) return <Loading />
  return data ? (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reached by the keyboard
    <section className="sheet document-preview" tabIndex={0} aria-label={t('file.preview')}>
      <Sanitized html={data} />
    </section>
  ) : null
}

/** Text of any length: its beginning, and more on request. Lines that are longer than a page are cut, so that none stops the browser. */
const TextView = ({ file, url }: { readonly file: FullFile; readonly url: string }) => {
  const { id, name, sizeBytes } = file
  const [wanted, setWanted] = useState(firstBytes)
  const [isPlain, setPlain] = useState(false)
  const isFormatted = isMarkdown(file)
  const { data, error } = useQuery({
    queryKey: ['file', id, 'text', wanted],
    queryFn: async ({ signal }) => {
      const text = await readText(url, wanted, signal)
      return { text, html: isFormatted ? (await import('../../lib/markdown.ts')).htmlOf(text) : undefined }
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  })
  if (error) return <p className="help">{t('file.cannotShow')}</p>
  if (!data) return <Loading />
  const shown = Math.min(wanted, sizeBytes)
  return (
    <section className="file-text" aria-label={name}>
      {data.html !== undefined && (
        <div className="actions">
          <Button look="quiet" onPress={() => setPlain(!isPlain)}>
            {t(isPlain ? 'file.showFormatted' : 'file.showSource')}
          </Button>
        </div>
      )}
      {data.html !== undefined && !isPlain ? (
        // biome-ignore lint/security/noDangerouslySetInnerHtml: sanitised by DOMPurify
        <div className="sheet prose" dir="auto" dangerouslySetInnerHTML={{ __html: data.html }} />
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reached by the keyboard
        <pre className="sheet" tabIndex={0} dir="auto">
          {withShortLines(data.text)}
        </pre>
      )}
      {shown < sizeBytes && (
        <p className="help">
          {t('file.cut', { shown: bytes(shown), size: bytes(sizeBytes) })}{' '}
          {wanted < maxTextBytes && <Button onPress={() => setWanted(Math.min(maxTextBytes, wanted * 5))}>{t('file.showMore')}</Button>}
        </p>
      )}
    </section>
  )
}

const readText = async (url: string, length: number, signal: AbortSignal): Promise<string> => {
  const response = await fetch(url, { headers: { range: `bytes=0-${length - 1}` }, signal })
  // An empty file has no range.
  if (response.status === 416) return ''
  if (!response.ok) throw new ApiError(response.status, {})
  const buffer = (await response.arrayBuffer()).slice(0, length)
  return new TextDecoder(encodingOf(new Uint8Array(buffer.slice(0, 3)))).decode(buffer)
}

const encodingOf = ([first, second]: Uint8Array): string =>
  first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'

const maxLine = 20_000

const withShortLines = (text: string): string =>
  text.length < maxLine
    ? text
    : text
        .split('\n')
        .map(line => (line.length > maxLine ? `${line.slice(0, maxLine)} …` : line))
        .join('\n')

/** The largest picture that an extractor made of the file. */
const PreviewPicture = ({ file: { id, name, thumbnail } }: { readonly file: FullFile }) => {
  const { data = [] } = usePreviews(id)
  const picture = data.find(({ contentType }) => pictures.test(contentType))
  const url = picture ? urlOf(`/api/previews/${picture.id}`) : thumbnail === null ? undefined : urlOf(`/api/thumbnails/${thumbnail}`)
  return url === undefined ? (
    <p className="empty">{t('file.noViewer')}</p>
  ) : (
    <figure className="sheet file-picture">
      <img src={url} alt={t('file.previewOf', { name })} decoding="async" />
    </figure>
  )
}
