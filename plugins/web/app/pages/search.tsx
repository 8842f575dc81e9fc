import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { Models } from '../api.ts'
import { Button } from '../components/controls.tsx'
import { copyText } from '../components/copy-text.tsx'
import { fileKind } from '../components/file-kind.ts'
import { Icon } from '../components/icon.tsx'
import type { IconName } from '../components/icon-names.ts'
import { late } from '../components/late.tsx'
import { Empty, Failure, Loading, PageTitle, Time } from '../components/page-parts.tsx'
import { api, urlOf } from '../lib/api.ts'
import { type Contribution, pageOfKind, useContributions } from '../lib/contributions.ts'
import { bytes, number } from '../lib/format.ts'
import { t } from '../lib/i18n.ts'
import { onLiveEvents } from '../lib/live.ts'
import { refresh } from '../lib/queries.ts'
import { useSession } from '../lib/session.ts'
import { Facets } from './search/facets.tsx'
import { type HitSelection, isSelectable, SelectAllHits, type SelectableHit, useCanSelect, withHits } from './search/hit-selection.tsx'
import { QueryBuilder } from './search/query-builder.tsx'
import { QueryError } from './search/query-error.tsx'
import { grouped } from './search/query-rows.ts'
import { SavedSearches, SaveSearch } from './search/saved-searches.tsx'
import { SearchHelp } from './search/search-help.tsx'

/** Loaded when a hit is first selected. */
const HitSelectionBar = late(async () => (await import('./search/hit-selection-bar.tsx')).HitSelectionBar)

type Result = Models['FullSearchResult']
type Hit = Models['SearchHit']

const pageSize = 50
const facets = 'type,tag,space,creator,year'

/** The state of a search in the URL. */
export interface SearchAddress {
  readonly query?: string | undefined
  readonly kind?: string | undefined
  readonly space?: string | undefined
  readonly sort?: string | undefined
}

const paramsOf = ({ query, kind, space, sort }: SearchAddress) => ({
  query,
  ...(kind === undefined ? {} : { resource_type: kind as 'file' }),
  ...(space === undefined ? {} : { spaceid: space }),
  ...(sort === undefined ? {} : { sort, order: sort === 'name' ? 'asc' : 'desc' }),
})

/** The query including the URL's filters, where only a query can be stored. */
const wholeQuery = ({ query = '', kind, space }: SearchAddress): string => {
  const added = [kind === undefined ? '' : `resource_type:${kind}`, space === undefined ? '' : `in:${space}`].filter(Boolean)
  return [added.length === 0 ? query : grouped(query), ...added].join(' ')
}

const keyOf = (address: SearchAddress) => ['search', address] as const

const useHits = (address: SearchAddress) =>
  useInfiniteQuery({
    queryKey: keyOf(address),
    enabled: (address.query ?? '') !== '',
    initialPageParam: 0,
    queryFn: async ({ pageParam, signal }) =>
      (await api('GET /api/search', {
        query: { ...paramsOf(address), from: pageParam, size: pageSize, view: 'full', ...(pageParam === 0 ? { facets } : {}) },
        signal,
      })) as Result,
    getNextPageParam: (last, pages) => (last.next === undefined ? undefined : pages.length * pageSize),
    // The facets, one of which was chosen, keep the focus meanwhile.
    placeholderData: keepPreviousData,
  })

/** Events arrive before the index has the changes that they report. */
const indexedMs = 1000

/** Reloads the hits after changes, every second while there are more changes. Hits with a second page loaded are left unchanged. */
const useFreshHits = (address: SearchAddress, { data }: ReturnType<typeof useHits>): void => {
  const isShort = data?.pages.length === 1
  useEffect(() => {
    if (!isShort) return
    let timer: ReturnType<typeof setTimeout> | undefined
    let isStale = false
    const load = (): void => {
      timer = isStale ? setTimeout(load, indexedMs) : undefined
      isStale = false
      void refresh({ queryKey: keyOf(address) }, { cancelRefetch: false })
    }
    const end = onLiveEvents(events => {
      if (events.every(({ type }) => type.startsWith('extraction.'))) return
      if (timer === undefined) timer = setTimeout(load, indexedMs)
      else isStale = true
    })
    return () => {
      clearTimeout(timer)
      end()
    }
  }, [isShort, address])
}

const nothing: HitSelection = new Map()

/** The selected hits of a search, without those that are deleted. Another search begins with none. */
const useSelection = (address: SearchAddress) => {
  const key = JSON.stringify(address)
  const [chosen, setChosen] = useState({ key, selection: nothing })
  const [wasUsed, setUsed] = useState(false)
  useEffect(
    () =>
      onLiveEvents(events => {
        const removed = new Set(events.flatMap(({ type, subject }) => (/\.(?:deleted|trashed)$/.test(type) ? subject.split('/')[1] : [])))
        setChosen(now => {
          const selection = new Map([...now.selection].filter(([id]) => !removed.has(id)))
          return selection.size === now.selection.size ? now : { ...now, selection }
        })
      }),
    [],
  )
  const select = (selection: HitSelection): void => {
    setUsed(true)
    setChosen({ key, selection })
  }
  return { selection: chosen.key === key ? chosen.selection : nothing, select, wasUsed }
}

export const SearchPage = () => {
  const address = useSearch({ strict: false }) as SearchAddress
  const navigate = useNavigate()
  const found = useHits(address)
  useFreshHits(address, found)
  const { data, error, isPending, isPlaceholderData, hasNextPage, fetchNextPage, isFetchingNextPage } = found
  const [isHelping, setHelping] = useState(false)
  const [isBuilding, setBuilding] = useState(false)
  const user = useSession()?.user
  const maySave = user != null && !user.isLimited
  const [first] = data?.pages ?? []
  const hits = data?.pages.flatMap(page => page.results) ?? []
  const { selection, select, wasUsed } = useSelection(address)
  const canSelect = useCanSelect()
  const selectable = canSelect ? hits.filter(isSelectable) : []
  const go = (change: SearchAddress): void => void navigate({ to: '/search', search: { ...address, ...change } } as never)
  const query = address.query ?? ''
  return (
    <>
      <PageTitle name={query === '' ? t('search.title') : t('search.titleOf', { query })} />
      <div className="actions search-actions">
        <Button look="quiet" aria-expanded={isHelping} onPress={() => setHelping(!isHelping)}>
          {t('search.help')}
        </Button>
        <Button look="quiet" aria-expanded={isBuilding} onPress={() => setBuilding(!isBuilding)}>
          {t('search.builder.title')}
        </Button>
        {query !== '' && maySave && !error && <SaveSearch query={wholeQuery(address)} />}
        {query !== '' && (
          <Button
            look="quiet"
            icon="copy"
            onPress={() => void copyText(new URL(urlOf('/api/search', paramsOf(address)), location.href).href, t('copied'))}
          >
            {t('search.copyCall')}
          </Button>
        )}
      </div>
      {isHelping && <SearchHelp />}
      {isBuilding && <QueryBuilder query={query} onSearch={text => go({ query: text })} />}
      {query === '' ? (
        <>
          <Empty title={t('search.empty.title')}>
            <p>{t('search.empty.text')}</p>
          </Empty>
          {maySave && <SavedSearches />}
        </>
      ) : error && !data ? (
        <QueryError error={error} query={query} retry={() => void found.refetch()} />
      ) : isPending ? (
        <Loading />
      ) : (
        <div className="with-margin">
          <section aria-label={t('search.hits')}>
            <p className="help" role="status">
              {first && !isPlaceholderData && t('search.count', { count: first.total_size, number: number(first.total_size) })}
            </p>
            {isPlaceholderData ? (
              <Loading />
            ) : hits.length === 0 ? (
              <Empty title={t('search.none.title')}>
                <p>{t('search.none.text')}</p>
              </Empty>
            ) : (
              <>
                {selectable.length > 0 && <SelectAllHits hits={selectable} selection={selection} onSelect={select} />}
                <ol className="hits">
                  {hits.map(hit => (
                    <HitView
                      key={`${hit.kind}/${hit.id}`}
                      hit={hit}
                      canSelect={canSelect}
                      isChosen={selection.has(hit.id)}
                      onChoose={(chosen, isChosen) => select(withHits(selection, [chosen], isChosen))}
                    />
                  ))}
                </ol>
              </>
            )}
            {wasUsed && (
              <HitSelectionBar
                chosen={[...selection.values()]}
                onClear={() => select(nothing)}
                onChanged={() => setTimeout(() => void refresh({ queryKey: keyOf(address) }), indexedMs)}
              />
            )}
            {error && <Failure error={error} hasTitle={false} />}
            {hasNextPage && !isPlaceholderData && (
              <Button isPending={isFetchingNextPage} onPress={() => void fetchNextPage()}>
                {t('search.more')}
              </Button>
            )}
          </section>
          <Facets facets={first?.facets} address={address} onChange={go} />
        </div>
      )}
    </>
  )
}

const icons: Readonly<Record<string, IconName>> = { dataset: 'database', collection: 'library', space: 'users' }
const paths: Readonly<Record<string, string>> = {
  ...{ dataset: '/datasets/', file: '/files/', collection: '/collection/', space: '/spaces/' },
}

const folderPath = (hit: Hit, at: number): string | undefined => {
  const step = hit.place[at]
  if (!step) return undefined
  const path = paths[step.kind]
  if (path !== undefined) return path + step.id
  const dataset = hit.place.slice(0, at).findLast(each => each.kind === 'dataset')
  return step.kind === 'folder' && dataset ? `/datasets/${dataset.id}?folder=${step.id}` : undefined
}

const none: readonly Contribution[] = []

const HitView = ({
  hit,
  canSelect,
  isChosen,
  onChoose,
}: {
  readonly hit: Hit
  readonly canSelect: boolean
  readonly isChosen: boolean
  readonly onChoose: (hit: SelectableHit, isChosen: boolean) => void
}) => {
  const { kind, id, name, author, created, type, size, thumbnail, matched, place, description } = hit
  const page = pageOfKind(useContributions() ?? none, kind)
  const path = paths[kind]
  const link = path !== undefined ? { to: path + id } : page && { to: `/parts/${page.id}`, search: { view: id } }
  return (
    <li className="hit">
      {canSelect && (
        <span className="hit-check">
          {isSelectable(hit) && (
            <input
              type="checkbox"
              aria-label={t('grid.choose', { name })}
              checked={isChosen}
              onChange={event => onChoose(hit, event.target.checked)}
            />
          )}
        </span>
      )}
      <span className="hit-picture">
        {thumbnail === undefined ? (
          <Icon name={icons[kind] ?? fileKind(type ?? null).icon} size={24} />
        ) : (
          <img src={urlOf(`/api/thumbnails/${thumbnail}`)} alt="" loading="lazy" decoding="async" />
        )}
      </span>
      <div className="hit-text">
        {place.length > 0 && (
          <ol className="path">
            {place.map((step, at) => {
              const to = folderPath(hit, at)
              return <li key={step.id}>{to === undefined ? step.name : <a href={urlOf(to)}>{step.name}</a>}</li>
            })}
          </ol>
        )}
        <h2 className="hit-name" dir="auto">
          {link ? <Link {...(link as { readonly to: never })}>{name}</Link> : name}
        </h2>
        {matched.length > 0 ? (
          <ul>
            {matched.slice(0, 3).map(({ field, text, marks }) => (
              <li key={field} className="matched">
                <span className="faded">{field}</span> <Marked text={text} marks={marks} />
              </li>
            ))}
          </ul>
        ) : (
          description !== '' && <p className="matched">{description.slice(0, 200)}</p>
        )}
        <p className="help">
          {t(`search.kinds.${kind as 'file'}`, { defaultValue: kind })}
          {size !== undefined && ` · ${bytes(size)}`}
          {author.name !== '' && ` · ${author.name}`} · <Time of={created} />
        </p>
      </div>
    </li>
  )
}

/** Text with highlighted matches. */
const Marked = ({
  text,
  marks,
}: {
  readonly text: string
  readonly marks: readonly { readonly start: number; readonly end: number }[]
}) => {
  const parts: { readonly at: number; readonly text: string; readonly isMarked: boolean }[] = []
  let at = 0
  for (const { start, end } of marks) {
    if (start < at) continue
    parts.push({ at, text: text.slice(at, start), isMarked: false }, { at: start, text: text.slice(start, end), isMarked: true })
    at = end
  }
  parts.push({ at, text: text.slice(at), isMarked: false })
  return (
    <span dir="auto">
      {parts.map(part => (part.isMarked ? <mark key={`m${part.at}`}>{part.text}</mark> : <span key={part.at}>{part.text}</span>))}
    </span>
  )
}
