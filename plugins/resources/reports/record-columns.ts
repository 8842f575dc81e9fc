import type { LineCell, Lines } from 'pounce/sdk'

type Columns = Lines['columns']
type Named = { readonly name: string }

/** The collections that rows point at. */
export interface Pointed {
  readonly users: Named
  readonly datasets: Named
}

const always = (name: string, is: string | number | null) => ({ name, cell: { is } })
const text = (name: string, at: string) => ({ name, cell: { at, as: 'text' as const } })
const bare = (name: string, at: string) => ({ name, cell: { at, as: 'bare' as const } })
const list = (name: string, cell: LineCell) => ({ name, cell })

/** Who made it: name and id. */
const owner = ({ users }: Pointed): Columns => [
  { name: 'owner', cell: { of: 'author', in: users, words: ['firstName', 'lastName'] } },
  text('owner_id', 'author'),
]

/** Columns of FileMetrics, and of AllMetrics with the other name for the time (Clowder 1.x, Reporting). */
export const fileColumns = (pointed: Pointed, time = 'uploaded'): Columns => [
  ...[always('type', 'file'), text('id', 'id'), text('name', 'name'), ...owner(pointed)],
  { name: 'size_kb', cell: { at: 'sizeBytes', as: 'thousands' } },
  ...[bare(time, 'created'), bare('views', 'statistics.views'), bare('downloads', 'statistics.downloads')],
  ...[bare('last_viewed', 'statistics.lastViewed'), bare('last_downloaded', 'statistics.lastDownloaded'), text('location', 'blob')],
  list('parent_datasets', { each: 'places.dataset' }),
  list('parent_collections', { of: 'places.dataset', in: pointed.datasets, each: 'collections' }),
  list('parent_spaces', { of: 'places.dataset', in: pointed.datasets, each: 'spaces' }),
  text('status', 'status'),
]

/** Columns of DatasetMetrics. */
export const datasetColumns = (pointed: Pointed): Columns => [
  ...[always('type', 'dataset'), text('id', 'id'), text('name', 'name'), ...owner(pointed), bare('created', 'created')],
  ...[bare('views', 'statistics.views'), bare('downloads', 'statistics.downloads')],
  ...[bare('last_viewed', 'statistics.lastViewed'), bare('last_downloaded', 'statistics.lastDownloaded')],
  ...[list('parent_collections', { each: 'collections' }), list('parent_spaces', { each: 'spaces' })],
]

/** Columns of CollectionMetrics. How often collections are looked at is not counted. */
export const collectionColumns = (pointed: Pointed): Columns => [
  ...[always('type', 'collection'), text('id', 'id'), text('name', 'name'), ...owner(pointed), bare('created', 'created')],
  ...[always('views', 0), always('last_viewed', null)],
  ...[list('parent_collections', { each: 'parents' }), list('parent_spaces', { each: 'spaces' })],
]

/** Columns as the file's names and order have them; what the others lack is empty. */
export const alignedTo = (names: readonly string[], columns: Columns): Columns =>
  names.map(name => {
    const column = columns.find(each => each.name === (name === 'uploaded/created' ? 'created' : name))
    return column ? { ...column, name } : always(name, null)
  })
