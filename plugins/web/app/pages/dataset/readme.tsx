import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { Loading } from '../../components/page-parts.tsx'
import { ApiError, api, urlOf } from '../../lib/api.ts'
import { t } from '../../lib/i18n.ts'
import { onDemand } from '../../lib/on-demand.ts'
import { queries } from '../../lib/queries.ts'
import { type Entry, isLastPage, listingOf, pageQuery } from './entries.ts'

/** A longer README is truncated to this size. */
const maxBytes = 1_000_000

/** The README of a dataset or folder: `README.md` before `README.txt` and `README`. */
const useReadme = (dataset: string, folder: string | undefined): Entry | undefined =>
  useQuery({
    queryKey: ['dataset', dataset, 'entries', 'readme', folder ?? 'root'],
    queryFn: async ({ signal }) => {
      const first = await queries.fetchQuery(pageQuery(listingOf(dataset, folder), 0))
      if (isLastPage(first, 0)) return first.entries
      const query = { folder, filter: 'readme', limit: 100 }
      return (await api('GET /api/datasets/{id}/entries', { path: { id: dataset }, query, signal })).entries
    },
    select: entries =>
      ['readme.md', 'readme.txt', 'readme'].flatMap(name =>
        entries.filter(one => one.kind === 'file' && one.name.toLowerCase() === name),
      )[0],
  }).data

/** The README below the files, if one exists. */
export const Readme = ({ dataset, folder }: { readonly dataset: string; readonly folder: string | undefined }) => {
  const file = useReadme(dataset, folder)
  return file ? <ReadmeText key={file.id} file={file} dataset={dataset} folder={folder} /> : null
}

const ReadmeText = ({ file, dataset, folder }: { readonly file: Entry; readonly dataset: string; readonly folder: string | undefined }) => {
  const isMarkdown = file.name.toLowerCase().endsWith('.md')
  const { data, isPending } = useQuery({
    queryKey: ['file', file.id, 'readme'],
    queryFn: async ({ signal }) => {
      const text = await readText(file.id, signal)
      if (!isMarkdown) return { text }
      const { htmlOf, linkRelatives, scrollToAnchor } = await onDemand(() => import('../../lib/markdown.ts'))
      try {
        return { html: htmlOf(text), scrollToAnchor, linkRelatives }
      } catch {
        // Nested too deeply.
        return { text }
      }
    },
    retry: false,
    staleTime: 600_000,
  })
  const box = useRef<HTMLDivElement>(null)
  const isPlaced = useRef(false)
  useEffect(() => {
    // Once: not when another version of the text is loaded.
    if (!box.current || isPlaced.current) return
    isPlaced.current = true
    data?.scrollToAnchor?.(box.current)
  }, [data])
  const navigate = useNavigate()
  const latest = useRef(navigate)
  latest.current = navigate
  useEffect(() => {
    if (!box.current || !data?.linkRelatives) return undefined
    const leaving = new AbortController()
    const api = async (path: string): Promise<unknown> => {
      const response = await fetch(urlOf(path), { signal: leaving.signal })
      if (!response.ok) throw new ApiError(response.status, {})
      return response.json()
    }
    const place = {
      ...{ file: file.id, name: file.name, dataset, folder, api },
      navigate: (to: string) => void latest.current({ to } as never),
    }
    // They stay text.
    data.linkRelatives(box.current, place, leaving.signal).catch(() => undefined)
    return () => leaving.abort()
  }, [data, file.id, file.name, dataset, folder])
  if (isPending) return <Loading />
  if (!data) return null
  return (
    <section aria-labelledby="readme" className="readme">
      <h2 id="readme" className="section-title">
        {file.name}
      </h2>
      {'html' in data ? (
        // biome-ignore lint/security/noDangerouslySetInnerHtml: sanitised by DOMPurify
        <div ref={box} className="sheet prose" dangerouslySetInnerHTML={{ __html: data.html }} />
      ) : (
        <pre className="sheet prose">{data.text}</pre>
      )}
      {(file.size ?? 0) > maxBytes && <p className="help">{t('dataset.readmeCut')}</p>}
    </section>
  )
}

const readText = async (id: string, signal: AbortSignal): Promise<string> => {
  const response = await fetch(urlOf(`/api/files/${id}`, { tracking: false }), {
    headers: { range: `bytes=0-${maxBytes - 1}` },
    signal,
  })
  if (!response.ok) throw new ApiError(response.status, {})
  return response.text()
}
