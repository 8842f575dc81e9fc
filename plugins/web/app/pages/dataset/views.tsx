import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../components/controls.tsx'
import { fileKind } from '../../components/file-kind.ts'
import { Icon } from '../../components/icon.tsx'
import { Empty, Failure, Loading } from '../../components/page-parts.tsx'
import { api, urlOf } from '../../lib/api.ts'
import { number } from '../../lib/format.ts'
import { t } from '../../lib/i18n.ts'
import type { Entry } from './entries.ts'

const pageSize = 48
/** The server skips at most 100,000,000 entries. */
const maxPage = 2_000_000

const usePageOf = (dataset: string, page: number) =>
  useQuery({
    queryKey: ['dataset', dataset, 'entries', 'views', page],
    queryFn: ({ signal }) =>
      api('GET /api/datasets/{id}/entries', {
        path: { id: dataset },
        query: { recursive: true, sort: 'type', limit: pageSize, skip: page === 0 ? undefined : page * pageSize },
        signal,
      }),
    placeholderData: keepPreviousData,
  })

/** All files of a dataset as tiles, including those in folders, grouped by type and paginated; two files can be compared side by side. */
export const Views = ({ dataset }: { readonly dataset: string }) => {
  const search = useSearch({ strict: false }) as Readonly<Record<string, string>>
  const page = Math.min(maxPage, Math.max(0, Math.floor(Number(search['page'] ?? 1)) - 1)) || 0
  const { data, error, refetch } = usePageOf(dataset, page)
  const [chosen, setChosen] = useState<readonly Entry[]>([])
  const navigate = useNavigate()
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />
  if (!data) return <Loading />
  const files = data.entries.filter(({ kind }) => kind === 'file')
  const pages = data.total === null ? undefined : Math.ceil(data.total / pageSize)
  const hasNext = pages === undefined ? data.entries.length === pageSize : page + 1 < pages
  const open = (to: number): void => void navigate({ search: { ...search, page: to === 0 ? undefined : to + 1 } } as never)
  const choose = (entry: Entry, isChosen: boolean): void =>
    setChosen(last => [...last.filter(({ id }) => id !== entry.id), ...(isChosen ? [entry] : [])].slice(-2))
  const compare = (): void => {
    const [left, right] = chosen
    if (left && right) void navigate({ to: '/compare', search: { left: left.id, right: right.id } } as never)
  }
  if (data.entries.length === 0 && page > 0)
    return (
      <Empty title={t('views.beyond', { page: number(page + 1) })}>
        <Button onPress={() => open(0)}>{t('views.first')}</Button>
      </Empty>
    )
  if (files.length === 0 && page === 0 && !hasNext) return <Empty title={t('views.none')} />
  return (
    <section className="views" aria-label={t('views.title')}>
      <div className="actions">
        <span className="help" aria-live="polite">
          {t('views.chosen', { count: chosen.length, number: number(chosen.length) })}
        </span>
        <Button isDisabled={chosen.length < 2} onPress={compare}>
          {t('views.compare')}
        </Button>
      </div>
      <ul className="tiles">
        {files.map(entry => (
          <Tile key={entry.id} entry={entry} dataset={dataset} isChosen={chosen.some(({ id }) => id === entry.id)} onChoose={choose} />
        ))}
      </ul>
      {(page > 0 || hasNext) && (
        <nav className="actions" aria-label={t('views.pages')}>
          <Button icon="chevron-left" isDisabled={page === 0} onPress={() => open(page - 1)}>
            {t('views.previous')}
          </Button>
          <span>
            {pages === undefined
              ? t('views.page', { page: number(page + 1) })
              : t('views.pageOf', { page: number(page + 1), pages: number(pages) })}
          </span>
          <Button icon="chevron-right" isDisabled={!hasNext} onPress={() => open(page + 1)}>
            {t('views.next')}
          </Button>
        </nav>
      )}
    </section>
  )
}

interface TileProps {
  readonly entry: Entry
  readonly dataset: string
  readonly isChosen: boolean
  readonly onChoose: (entry: Entry, isChosen: boolean) => void
}

const Tile = ({ entry, dataset, isChosen, onChoose }: TileProps) => {
  const { id, name, type, thumbnail } = entry
  return (
    <li className="tile">
      <Link
        to={`/files/${id}` as never}
        search={{ dataset, below: '1', sort: 'type' } as never}
        className="tile-picture"
        tabIndex={-1}
        aria-hidden="true"
      >
        {thumbnail === null ? (
          <Icon name={fileKind(type).icon} size={32} />
        ) : (
          <img src={urlOf(`/api/thumbnails/${thumbnail}`)} alt="" loading="lazy" decoding="async" />
        )}
      </Link>
      <span className="view-name">
        <input
          type="checkbox"
          checked={isChosen}
          aria-label={t('views.choose', { name })}
          onChange={({ target }) => onChoose(entry, target.checked)}
        />
        <Link to={`/files/${id}` as never} search={{ dataset, below: '1', sort: 'type' } as never} className="tile-name" dir="auto">
          {name}
        </Link>
      </span>
    </li>
  )
}
