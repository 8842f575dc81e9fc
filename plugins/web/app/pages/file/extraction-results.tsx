import { useQuery } from '@tanstack/react-query'
import type { Models } from '../../api.ts'
import { Loading, Time } from '../../components/page-parts.tsx'
import { Sanitized } from '../../components/sanitized.tsx'
import { urlOf } from '../../lib/api.ts'
import { number } from '../../lib/format.ts'
import { t } from '../../lib/i18n.ts'
import { type Run, useMetadata, usePreviews, useRuns } from './file-data.ts'

type Metadata = Models['Metadata']

/** What each extractor found, and what people said: it appears while extractors work. */
export const ExtractionResults = ({ file }: { readonly file: string }) => {
  const { data: metadata = [] } = useMetadata(file)
  const { data: previews = [] } = usePreviews(file)
  const runs = useRuns(file)
  const documents = previews.filter(({ contentType }) => contentType.startsWith('text/html'))
  if (metadata.length === 0 && runs.length === 0 && documents.length === 0) return null
  return (
    <>
      {documents.map(preview => (
        <DocumentPreview key={preview.id} id={preview.id} />
      ))}
      <section aria-labelledby="found">
        <h2 id="found" className="section-title">
          {t('file.found')}
        </h2>
        <ul className="results">
          {metadata.map(one => (
            <li key={one.id} className="sheet">
              <header>
                <b>{sayer(one)}</b> <span className="help">{timeOf(one)}</span>
              </header>
              <Value value={one.content} depth={0} />
            </li>
          ))}
          {runs
            .filter(run => run.state !== 'done')
            .map(run => (
              <RunState key={run.id} run={run} />
            ))}
        </ul>
      </section>
    </>
  )
}

const RunState = ({ run: { extractor, state, message, start } }: { readonly run: Run }) => (
  <li className="sheet">
    <header>
      <b>{extractor}</b> <span className={state === 'failed' ? 'failed' : 'at-work'}>{t(`file.run.${state}`)}</span>{' '}
      <span className="help">
        <Time of={start} />
      </span>
    </header>
    <p className="help" dir="auto">
      {message}
    </p>
  </li>
)

const sayer = ({ agent }: Metadata): string => agent.name || agent.extractor_id || t('file.somebody')

const timeOf = ({ created_at }: Metadata) =>
  Number.isNaN(Date.parse(created_at)) ? null : <Time of={new Date(created_at).toISOString()} />

const maxDepth = 6
const maxMembers = 200

/** JSON as names and values; what is deep or long is cut, never the page. */
const Value = ({ value, depth }: { readonly value: unknown; readonly depth: number }) => {
  if (value === null || value === undefined) return <span className="faded">–</span>
  if (typeof value === 'number') return <span>{Number.isInteger(value) ? number(value) : String(value)}</span>
  if (typeof value !== 'object') return <Text text={String(value)} />
  if (depth >= maxDepth) return <code>{JSON.stringify(value).slice(0, 500)}</code>
  if (Array.isArray(value)) {
    if (value.every(one => typeof one !== 'object' || one === null))
      return <Text text={value.slice(0, maxMembers).map(String).join(', ')} />
    return (
      <ol className="values">
        {value.slice(0, maxMembers).map((one, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: members of JSON have no identity
          <li key={at}>
            <Value value={one} depth={depth + 1} />
          </li>
        ))}
      </ol>
    )
  }
  return (
    <dl className="values">
      {Object.entries(value)
        .filter(([name]) => name !== '@context')
        .slice(0, maxMembers)
        .map(([name, one]) => (
          <div key={name}>
            <dt dir="auto">{name}</dt>
            <dd>
              <Value value={one} depth={depth + 1} />
            </dd>
          </div>
        ))}
    </dl>
  )
}

const maxText = 2000

const Text = ({ text }: { readonly text: string }) => <span dir="auto">{text.length > maxText ? `${text.slice(0, maxText)} …` : text}</span>

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
