import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useEffect, useMemo, useRef } from 'react'
import { urlOf } from '../lib/api.ts'
import { number } from '../lib/format.ts'
import { t } from '../lib/i18n.ts'
import { type Listed, type ListQuery, pathTo, type ResourceList } from '../lib/resources.ts'
import { useLanguage } from '../lib/use-language.ts'
import type { GridAction } from './grid-menu.tsx'
import { Icon } from './icon.tsx'
import type { IconName } from './icon-names.ts'
import { Failure, Loading, Time } from './page-parts.tsx'
import { type GridColumn, type GridSort, VirtualGrid } from './virtual-grid.tsx'

const icons: Readonly<Record<Listed['kind'], IconName>> = { dataset: 'database', collection: 'library', space: 'users' }

const ThumbnailOrIcon = ({ row }: { readonly row: Listed }) =>
  row.thumbnail === null ? (
    <Icon name={icons[row.kind]} size={32} />
  ) : (
    <img src={urlOf(`/api/thumbnails/${row.thumbnail}`)} alt="" loading="lazy" decoding="async" />
  )

const countTitle = { dataset: 'list.files', collection: 'list.datasets', space: 'list.members' } as const

const unit = { dataset: 'home.files', collection: 'home.datasets', space: 'space.members' } as const

/** A number below its column header; where rows have two lines, followed by its noun. */
const Count = ({ row: { kind, count } }: { readonly row: Listed }) => (
  <>
    <span className="wide-text">{number(count)}</span>
    <span className="narrow-text">{t(unit[kind], { count, number: number(count) })}</span>
  </>
)

const columnsFor = (kind: Listed['kind'], isCompact: boolean): readonly GridColumn<Listed>[] => [
  {
    id: 'name',
    title: t('list.name'),
    width: 'minmax(10rem, 3fr)',
    isSortable: true,
    cell: row => (
      <span className="list-name">
        <Icon name={icons[row.kind]} />
        <Link to={pathTo(row.kind, row.id) as never} tabIndex={-1} data-tip="">
          {row.name}
        </Link>
      </span>
    ),
  },
  {
    id: 'description',
    title: t('list.description'),
    width: 'minmax(0, 3fr)',
    isWideOnly: true,
    cell: row => (
      <span className="cut" data-tip="">
        {row.description}
      </span>
    ),
  },
  ...(isCompact
    ? []
    : [
        {
          id: 'author',
          title: t('list.author'),
          width: '9rem',
          isWideOnly: true,
          cell: (row: Listed) => (
            <span className="cut" data-tip="">
              {row.author}
            </span>
          ),
        },
      ]),
  { id: 'count', title: t(countTitle[kind]), width: '6rem', isNumber: true, cell: row => <Count row={row} /> },
  ...(isCompact
    ? []
    : [
        {
          id: 'created',
          title: t('list.created'),
          width: '8rem',
          isSortable: true,
          isWideOnly: true,
          cell: (row: Listed) => <Time of={row.created} />,
        },
      ]),
  { id: 'modified', title: t('list.modified'), width: '8.5rem', isSortable: true, cell: row => <Time of={row.modified} /> },
]

/** The server's sort key of a column. */
export const sortQuery = (sort: GridSort | undefined): ListQuery =>
  sort ? { sort: sort.column as NonNullable<ListQuery['sort']>, order: sort.order === 'ascending' ? 'asc' : 'desc' } : {}

const sortable: ReadonlySet<string> = new Set(['name', 'created', 'modified'])

/** The sort order in the URL; undefined, the default, is newest first. */
export const useAddressSort = (): readonly [GridSort | undefined, (sort: GridSort) => void] => {
  const { sort = '', order } = useSearch({ strict: false }) as { readonly sort?: string; readonly order?: string }
  const navigate = useNavigate()
  const change = ({ column, order: next }: GridSort): void =>
    void navigate({
      to: '.',
      search: (before: object) => ({ ...before, sort: column, order: next === 'ascending' ? 'asc' : 'desc' }),
      replace: true,
    } as never)
  return [sortable.has(sort) ? { column: sort, order: order === 'desc' ? 'descending' : 'ascending' } : undefined, change]
}

interface ResourceListViewProps {
  readonly label: string
  readonly list: ResourceList
  readonly actions?: ((row: Listed) => readonly GridAction[]) | undefined
  readonly empty: ReactNode
  readonly isTiles?: boolean
  readonly restoreKey?: string
  readonly onDelete?: ((row: Listed) => void) | undefined
  readonly sort?: GridSort | undefined
  readonly onSort?: (sort: GridSort) => void
  /** Beside a sidebar there is room for fewer columns. */
  readonly isCompact?: boolean
}

/** A list of datasets, collections or spaces: as a table, or as tiles where there are thumbnails. */
export const ResourceListView = ({
  label,
  list,
  actions,
  empty,
  isTiles = false,
  restoreKey,
  onDelete,
  sort,
  onSort,
  isCompact = false,
}: ResourceListViewProps) => {
  const navigate = useNavigate()
  const kind = list.rows[0]?.kind ?? 'dataset'
  const language = useLanguage()
  // biome-ignore lint/correctness/useExhaustiveDependencies: titles and cells are in the language
  const shownColumns = useMemo(() => columnsFor(kind, isCompact), [kind, isCompact, language])
  const isSorting = useRef(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another order may be loaded already
  useEffect(() => {
    if (list.isLoading || !isSorting.current) return
    isSorting.current = false
    // The heading that had the focus was removed while the list was loading.
    if (document.activeElement === document.body) document.querySelector<HTMLElement>('[aria-sort$="ending"] > .grid-sort')?.focus()
  }, [list.isLoading, sort?.column, sort?.order])
  if (list.isLoading) return <Loading />
  const failure = list.error && <Failure error={list.error} retry={list.retry} />
  if (list.rows.length === 0) return failure ?? <>{empty}</>
  // Rows that are loaded stay when a later page, or an update, fails.
  return (
    <>
      {isTiles ? (
        <Tiles label={label} list={list} />
      ) : (
        <VirtualGrid
          label={label}
          count={list.count}
          row={list.row}
          idOf={row => row.id}
          nameOf={row => row.name}
          columns={shownColumns}
          onRange={list.onRange}
          sort={sort}
          {...(onSort
            ? {
                onSort: (next: GridSort) => {
                  isSorting.current = true
                  onSort(next)
                },
              }
            : {})}
          onOpen={row => void navigate({ to: pathTo(row.kind, row.id) as never })}
          {...(actions ? { actions } : {})}
          {...(onDelete ? { onDelete } : {})}
          {...(restoreKey === undefined ? {} : { restoreKey })}
        />
      )}
      {failure}
    </>
  )
}

const Tiles = ({ label, list }: { readonly label: string; readonly list: ResourceList }) => {
  const end = useRef<HTMLDivElement>(null)
  const { hasMore, loadMore } = list
  useEffect(() => {
    if (!hasMore || !end.current) return undefined
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && loadMore(), { rootMargin: '600px' })
    observer.observe(end.current)
    return () => observer.disconnect()
  }, [hasMore, loadMore])
  return (
    <>
      <ul className="tiles" aria-label={label}>
        {list.rows.map(row => (
          <li key={row.id}>
            <Link to={pathTo(row.kind, row.id) as never} className="tile">
              <span className="tile-picture">
                <ThumbnailOrIcon row={row} />
              </span>
              <span className="tile-name">{row.name}</span>
              <span className="faded tile-date">
                <Time of={row.created} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
      {hasMore && (
        <div ref={end}>
          <Loading />
        </div>
      )}
    </>
  )
}
